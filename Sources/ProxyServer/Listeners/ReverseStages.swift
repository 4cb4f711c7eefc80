import ExchangeCore
import HTTPModel

/// The stages of a reverse listener. Before the tools, `Host` gets the server's name; after the tools, redirects to the
/// server are changed to lead to the listener.
enum ReverseStages {
    struct Place: Hashable {
        let target: ReverseTarget
        /// `http` or `https`.
        let clientScheme: String
    }

    static func chain(
        around rules: StageChain,
        at place: Place,
        _ options: ProxyConfiguration.ReverseOptions
    ) -> StageChain {
        rules.between(
            options.keepsHost ? nil : ServerName(target: place.target),
            options.keepsRedirects ? nil : LocalRedirects(place: place)
        )
    }

    private struct ServerName: Stage {
        let id = StageID("sluice", order: .min)
        let target: ReverseTarget

        func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
            let authority = target.authority
            let isNamed = opening.head.fields.withValue(of: .host) { $0.elementsEqual(authority.utf8) } ?? false
            if isNamed { return nil }
            return RequestHeadHandler { head, exchange in
                let named = head.fields.value(of: .host) ?? ""
                head.fields.set("Host", authority)
                exchange.note("Host \(named) changed to the server's \(authority) (--reverse-keep-host keeps it)")
                return .forward
            }
        }
    }

    /// Changes redirects to the server, so that they lead to the listener under the client's name for it.
    private struct LocalRedirects: Stage {
        let id = StageID("sluice", order: .max)
        let place: Place

        func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
            let host = opening.head.fields.value(of: .host) ?? ""
            return Handler(redirects: ReverseRedirects(place: place, clientAuthority: host))
        }

        private final class Handler: StageHandler {
            private let redirects: ReverseRedirects

            init(redirects: ReverseRedirects) { self.redirects = redirects }

            func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
                guard let location = head.fields.value(of: ReverseRedirects.location) else { return .forward }
                switch redirects.outcome(of: location) {
                case .kept: break
                case .rewritten(let local):
                    head.fields.set("Location", local)
                    exchange.note("Location \(location) changed to \(local) (--reverse-keep-redirects keeps it)")
                case .otherScheme(let mode):
                    exchange.note("Location \(location) leads past this listener; for that server use --mode \(mode)")
                }
                return .forward
            }
        }
    }
}

/// Which redirects of a server are changed to lead to its reverse listener, and how.
struct ReverseRedirects {
    static let location: FieldName = "location"

    enum Outcome: Hashable {
        /// The redirect leads elsewhere, or already to the listener.
        case kept
        case rewritten(String)
        /// The redirect leads to the same host with the other scheme; the text is the mode that would serve it.
        case otherScheme(String)
    }

    let place: ReverseStages.Place
    let clientAuthority: String

    /// The result for a `Location` (RFC 9110 §10.2.2).
    func outcome(of location: String) -> Outcome {
        let target = place.target
        // A location that begins with // has no scheme, and gets that of the server (RFC 3986 §4.2).
        let isNetworkPath = location.hasPrefix("//")
        guard let url = RequestURL(isNetworkPath ? "\(target.scheme):\(location)" : location),
            url.host == target.host
        else { return .kept }
        guard url.scheme == target.scheme, url.port == target.port else {
            let isDefault = url.port == RequestURL.defaultPort(of: url.scheme)
            guard url.scheme != target.scheme, isDefault, let transport = ReverseTarget.Transport(rawValue: url.scheme)
            else { return .kept }
            return .otherScheme("reverse:\(ReverseTarget(transport, host: url.host, port: url.port))")
        }
        // The path is unchanged, with any fragment.
        let start = location.firstRange(of: "//")?.upperBound ?? location.startIndex
        let rest = location[start...].firstIndex { "/?#".contains($0) }.map { String(location[$0...]) } ?? ""
        let path = rest.hasPrefix("/") ? rest : "/\(rest)"
        // If the client uses the server's own name for the listener, an absolute URL could lead anywhere.
        guard !clientAuthority.isEmpty, clientAuthority.lowercased() != target.authority else {
            return path.hasPrefix("//") ? .kept : .rewritten(path)
        }
        return .rewritten("\(place.clientScheme)://\(clientAuthority)\(path)")
    }
}
