package import NIOCore

/// A message of a WebSocket as one frame, without compression (RFC 6455 §5.2).
package enum WebSocketFrame {
    /// The frame of a message. A client's frame `isMasked`, with a zero mask, which leaves the payload unchanged.
    package static func of(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, isMasked: Bool) -> ByteBuffer {
        // A control frame has at most 125 bytes of payload.
        let payload =
            opcode.isControl
            ? payload.getSlice(at: payload.readerIndex, length: min(125, payload.readableBytes)) : payload
        let count = payload?.readableBytes ?? 0
        var bytes = ByteBuffer()
        bytes.reserveCapacity(count + 14)
        bytes.writeInteger(0x80 | opcode.rawValue)
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch count {
        case ..<126: bytes.writeInteger(mask | UInt8(count))
        case ..<65_536:
            bytes.writeInteger(mask | 126)
            bytes.writeInteger(UInt16(count))
        default:
            bytes.writeInteger(mask | 127)
            bytes.writeInteger(UInt64(count))
        }
        if isMasked { bytes.writeInteger(UInt32(0)) }
        if let payload { bytes.writeImmutableBuffer(payload) }
        return bytes
    }
}
