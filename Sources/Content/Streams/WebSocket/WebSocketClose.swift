/// What a close frame says (RFC 6455 §5.5.1).
package struct WebSocketClose: Sendable, Hashable {
    /// The status code.
    package var code: UInt16
    /// The reason; empty where there is none.
    package var reason: String

    /// Describes a close frame.
    package init(code: UInt16, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// What the code means, for example `going away`; `nil` for a code nobody has registered.
    package var meaning: String? {
        switch code {
        case 1000: "normal closure"
        case 1001: "going away"
        case 1002: "protocol error"
        case 1003: "unsupported data"
        case 1005: "no status code, must not be sent"
        case 1006: "abnormal closure, must not be sent"
        case 1007: "invalid payload data"
        case 1008: "policy violation"
        case 1009: "message too big"
        case 1010: "an extension is missing"
        case 1011: "internal error"
        case 1012: "service restart"
        case 1013: "try again later"
        case 1014: "bad gateway"
        case 1015: "TLS handshake failed, must not be sent"
        case 3000: "unauthorized"
        case 3003: "forbidden"
        case 3008: "timeout"
        case 4000...4999: "private use"
        default: nil
        }
    }
}
