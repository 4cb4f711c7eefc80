import Text

/// The extensions that a WebSocket's handshake agreed on (RFC 6455 §9.1).
package struct WebSocketExtensions: Sendable, Hashable {
    /// The parameters of permessage-deflate (RFC 7692 §7.1); `nil` if it was not agreed on.
    package var deflate: PerMessageDeflate?
    package var others: [String] = []

    package init() {}

    /// Reads the `Sec-WebSocket-Extensions` value of the response; `nil` or empty means no extensions.
    package init(_ value: String?) {
        for member in WebSocketExtensions.split(value ?? "", at: ",") {
            let pieces = WebSocketExtensions.split(member, at: ";")
            guard let name = pieces.first, !name.isEmpty else { continue }
            if name.lowercased() == "permessage-deflate", deflate == nil {
                deflate = PerMessageDeflate(pieces.dropFirst())
            } else {
                others.append(name)
            }
        }
    }

    private static func split(_ text: String, at separator: Character) -> [String] {
        text.split(atUnquoted: separator).map { String($0.trimmingASCIIWhitespace) }
    }
}

/// The parameters of permessage-deflate that a response agreed on (RFC 7692 §7.1).
package struct PerMessageDeflate: Sendable, Hashable {
    /// Whether the server begins each message with an empty window.
    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false

    package init() {}

    /// Reads parameters; unknown ones are ignored.
    init(_ parameters: some Sequence<String>) {
        for parameter in parameters {
            switch parameter.prefix(while: { $0 != "=" }).trimmingASCIIWhitespace.lowercased() {
            case "server_no_context_takeover": serverNoContextTakeover = true
            case "client_no_context_takeover": clientNoContextTakeover = true
            default: break
            }
        }
    }

    /// Whether each message of a direction is compressed separately, with an empty window.
    package func resetsContext(_ direction: StreamedMessage.Direction) -> Bool {
        direction == .fromClient ? clientNoContextTakeover : serverNoContextTakeover
    }
}
