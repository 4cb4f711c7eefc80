public import HTTPModel
import Yams

/// Which hosts are decrypted.
public struct InterceptRules: Sendable, Hashable {
    private let only: [Location]?
    private let except: [Location]

    /// Every host is decrypted.
    public init() {
        only = nil
        except = []
    }

    /// Decrypts hosts that match `only` (`nil`: every host) and not `except`; just host and port of locations count.
    public init(only: [Location]?, except: [Location]) {
        self.only = only
        self.except = except
    }

    /// Whether TLS to this host is to be decrypted.
    public func decrypts(host: String, port: Int) -> Bool {
        let url = RequestURL(scheme: "tunnel", host: host, port: port, path: "")
        return (only?.contains { $0.matches(url) } ?? true) && !except.contains { $0.matches(url) }
    }
}

extension InterceptRules {
    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.rule(node, "intercept", keys: ["only", "except"]), fields.isEnabled else {
            return nil
        }
        only = fields["only"].map { InterceptRules.hosts($0, &reader) }
        except = fields["except"].map { InterceptRules.hosts($0, &reader) } ?? []
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
