/// The content of a close frame (RFC 6455 §5.5.1).
package struct WebSocketClose: Sendable, Hashable {
    package var code: UInt16
    package var reason = ""

    /// What the code means, for example `going away`; `nil` for a code nobody has registered.
    package var meaning: String? {
        (4000...4999).contains(code) ? "private use" : WebSocketClose.meanings[code]
    }

    private static let meanings: [UInt16: String] = [
        1000: "normal closure", 1001: "going away", 1002: "protocol error", 1003: "unsupported data",
        1005: "no status code, must not be sent", 1006: "abnormal closure, must not be sent",
        1007: "invalid payload data", 1008: "policy violation", 1009: "message too big",
        1010: "an extension is missing", 1011: "internal error", 1012: "service restart", 1013: "try again later",
        1014: "bad gateway", 1015: "TLS handshake failed, must not be sent", 3000: "unauthorized", 3003: "forbidden",
        3008: "timeout",
    ]
}
