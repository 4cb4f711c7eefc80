import HTTPModel

/// Which hosts are decrypted.
package struct InterceptRules: Sendable, Hashable {
    /// `nil` for every host; only host and port of the locations count.
    private var only: [Location]?
    private var except: [Location] = []

    /// Every host is decrypted.
    package init() {}

    package func decrypts(host: String, port: Int) -> Bool {
        let url = RequestURL(scheme: "tunnel", host: host, port: port, path: "")
        return (only?.contains { $0.matches(url) } ?? true) && !except.contains { $0.matches(url) }
    }

    /// `decrypted: HOSTS except HOSTS`; `nil` where every host is decrypted.
    package var text: String? {
        let decrypted = only.map { $0.isEmpty ? "no host" : $0.map(\.description).joined(separator: ", ") }
        let without = except.isEmpty ? "" : " except \(except.map(\.description).joined(separator: ", "))"
        return decrypted == nil && without.isEmpty ? nil : "decrypted: \(decrypted ?? "every host")\(without)"
    }

    /// Whether certainly no host that a location matches is decrypted.
    func neverDecrypts(_ location: Location) -> Bool {
        if except.contains(where: { $0.pattern.port.isEmpty && $0.coversHost(of: location) }) { return true }
        if case .exact(let host) = location.hostKey {
            let ports = Int(location.pattern.port).map { [$0] } ?? [443]
            return !ports.contains { decrypts(host: host, port: $0) }
        }
        return only.map { $0.allSatisfy { $0.hasDisjointHost(from: location) } } ?? false
    }
}

extension InterceptRules {
    static let keys: [GrammarKey] = [
        GrammarKey("only", .locations, example: "[ \"*.example.com\", \"localhost:8443\" ]", fallback: "every host")
            .means("The hosts that are decrypted: host and port, nothing else is known before."),
        GrammarKey("except", .locations, example: "[ \"*.bank.example\" ]", fallback: "none")
            .means("Hosts that are passed through unread."),
    ]

    /// Adds what one file says: both lists are gathered over the files of a profile.
    ///
    /// Before anything is decrypted only host and port are known.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "intercept", keys: InterceptRules.keys) else { return }
        if let node = fields["only"] { only = (only ?? []) + reader.hosts(node, "intercept") }
        if let node = fields["except"] { except += reader.hosts(node, "intercept") }
    }
}
