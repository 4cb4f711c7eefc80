import COpenSSL

/// The two values by which a WebSocket's opening handshake in HTTP/1.1 is known (RFC 6455 §4).
package enum WebSocketHandshake {
    /// A new value for `Sec-WebSocket-Key`: 16 random bytes in base64.
    package static func makeKey() -> String {
        var generator = SystemRandomNumberGenerator()
        return base64((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    package static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = SHA1(text, text.count, &digest)
        return base64(digest)
    }
}
