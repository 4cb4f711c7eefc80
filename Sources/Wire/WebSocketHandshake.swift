import COpenSSL

/// The key of a WebSocket's opening handshake and its answer (RFC 6455 §4).
package enum WebSocketHandshake {
    /// For `Sec-WebSocket-Key`.
    package static func makeKey() -> String { base64(randomBytes(16)) }

    package static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = SHA1(text, text.count, &digest)
        return base64(digest)
    }
}
