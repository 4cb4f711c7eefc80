package import HTTPModel

/// Which hosts are decrypted.
package struct InterceptRules: Sendable, Hashable {
    private var only: [Location]?
    private var except: [Location]

    /// Every host is decrypted.
    package init() {
        only = nil
        except = []
    }

    /// Decrypts hosts that match `only` (`nil`: every host) and not `except`; just host and port of locations count.
    package init(only: [Location]?, except: [Location]) {
        self.only = only
        self.except = except
    }

    package func decrypts(host: String, port: Int) -> Bool {
        let url = RequestURL(scheme: "tunnel", host: host, port: port, path: "")
        return (only?.contains { $0.matches(url) } ?? true) && !except.contains { $0.matches(url) }
    }

    /// In words; `nil` where every host is decrypted.
    package var text: String? {
        let decrypted = only.map { $0.isEmpty ? "no host" : $0.map(\.description).joined(separator: ", ") }
        let without = except.isEmpty ? "" : " except \(except.map(\.description).joined(separator: ", "))"
        return decrypted == nil && without.isEmpty ? nil : "decrypted: \(decrypted ?? "every host")\(without)"
    }

    /// Whether it is certain that no host a location means is decrypted.
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
    /// What a profile may say.
    package static let keys: [GrammarKey] = [
        GrammarKey(
            "only",
            .locations,
            "The hosts that are decrypted: host and port, nothing else is known before.",
            example: "only: [ \"*.example.com\", \"localhost:8443\" ]",
            fallback: "every host"
        ),
        GrammarKey(
            "except",
            .locations,
            "Hosts that are passed through unread.",
            example: "except: [ \"*.bank.example\" ]",
            fallback: "none"
        ),
    ]

    /// Adds what one file says: hosts to decrypt and hosts not to are both gathered over the files of a profile.
    package mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "intercept", keys: InterceptRules.keys) else { return }
        if let node = fields["only"] { only = (only ?? []) + InterceptRules.hosts(node, &reader) }
        if let node = fields["except"] { except += InterceptRules.hosts(node, &reader) }
    }

    /// Before anything is decrypted nothing but host and port is known.
    private static func hosts(_ node: Node, _ reader: inout ProfileReader) -> [Location] {
        let locations = reader.locations(node)
        for location in locations {
            let pattern = location.pattern
            if !pattern.path.isEmpty || !pattern.query.isEmpty || !pattern.protocol.isEmpty {
                reader.error("intercept takes a host and a port; '\(location)' has more", at: node)
            }
        }
        return locations
    }
}
