import HTTPModel

package struct InterceptRules: Sendable, Hashable {
    /// Only host and port matter.
    private var hosts = LocationChoice()

    package init() {}

    /// Whether TLS to a host is decrypted. If the client requested an address and TLS names the host, both are checked
    /// with `only` and `except`. Without a host, whether TLS to a host named later may be decrypted.
    package func decrypts(host: String?, port: Int, address: String? = nil) -> Bool {
        let urls = [host, address].compactMap(\.self).map {
            RequestURL(scheme: "tunnel", host: $0, port: port, path: "")
        }
        return (host == nil || urls.contains(where: hosts.includes)) && !urls.contains(where: hosts.excludes)
    }

    package var text: String? { hosts.text("decrypted", nothing: "no host", everything: "every host") }

    /// Whether no host that the location matches is decrypted.
    func neverDecrypts(_ location: Location) -> Bool {
        let isExcepted = hosts.except.contains { entry in
            entry.location.pattern.port.isEmpty && entry.location.coversHost(of: location)
        }
        if isExcepted { return true }
        if case .exact(let host) = location.hostKey {
            let ports = Int(location.pattern.port).map { [$0] } ?? [443]
            return !ports.contains { decrypts(host: host, port: $0) }
        }
        return hosts.only.map { $0.allSatisfy { $0.location.hasDisjointHost(from: location) } } ?? false
    }
}

extension InterceptRules {
    static let keys: [GrammarKey] = [
        GrammarKey("only", .locations, example: "[ \"*.example.com\", \"localhost:8443\" ]", fallback: "every host")
            .means("The hosts to decrypt, as host and port."),
        GrammarKey("except", .locations, example: "[ \"*.bank.example\" ]", fallback: "none")
            .means("Hosts whose TLS is passed through unread, in every mode."),
    ]

    /// Adds the rules of one file to those of earlier files. Before decryption only host and port are known.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "intercept", keys: InterceptRules.keys) else { return }
        hosts.add(fields, &reader) { $0.hosts($1, "intercept") }
    }
}
