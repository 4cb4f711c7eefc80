package import HTTPModel
package import NIOCore

/// Writes heads, and bodies in the framing that their head announces. A large part is three buffers without a copy
/// (`partPrefix`, the part, `partSuffix`); a small one is copied (`writePart`).
package enum HTTP1Encoder {
    /// Writes a head, unchanged ones as received.
    package static func writeHead(_ head: some MessageHead, into output: inout ByteBuffer) {
        if let unchanged = head.unchanged { output.writeImmutableBuffer(unchanged) } else { head.write(into: &output) }
    }

    /// Writes a copy of a part; nothing for an empty one, which would end a chunked body.
    package static func writePart(_ part: ByteBuffer, framing: BodyFraming, into output: inout ByteBuffer) {
        guard part.readableBytes > 0 else { return }
        writePartPrefix(count: part.readableBytes, framing: framing, into: &output)
        output.writeImmutableBuffer(part)
        if framing == .chunked { output.writeImmutableBuffer(lineBreak) }
    }

    /// `count` must not be zero.
    package static func writePartPrefix(count: Int, framing: BodyFraming, into output: inout ByteBuffer) {
        guard framing == .chunked else { return }
        var shift = max(0, (Int.bitWidth - count.leadingZeroBitCount + 3) / 4 * 4 - 4)
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: count >> shift & 0xF)
            output.writeInteger(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            shift -= 4
        }
        output.writeImmutableBuffer(lineBreak)
    }

    /// Precedes a part of `count` bytes, which must not be zero; `nil` if the framing has nothing there.
    package static func partPrefix(count: Int, framing: BodyFraming) -> ByteBuffer? {
        guard framing == .chunked else { return nil }
        var prefix = ByteBuffer()
        prefix.reserveCapacity(18)
        writePartPrefix(count: count, framing: framing, into: &prefix)
        return prefix
    }

    /// Follows a part; `nil` if the framing has nothing there.
    package static func partSuffix(framing: BodyFraming) -> ByteBuffer? { framing == .chunked ? lineBreak : nil }

    /// Writes the end of a body; only a chunked one can have trailers (RFC 9112 §7.1.2).
    package static func writeEnd(framing: BodyFraming, trailers: FieldSection? = nil, into output: inout ByteBuffer) {
        guard framing == .chunked else { return }
        output.writeStaticString("0\r\n")
        trailers?.write(into: &output)
        output.writeStaticString("\r\n")
    }

    /// The end of a body as a buffer of its own; `nil` if the framing has nothing there.
    package static func end(framing: BodyFraming, trailers: FieldSection? = nil) -> ByteBuffer? {
        guard framing == .chunked else { return nil }
        guard let trailers, !trailers.isEmpty else { return lastChunk }
        var end = ByteBuffer()
        writeEnd(framing: framing, trailers: trailers, into: &end)
        return end
    }

    private static let lineBreak = ByteBuffer(staticString: "\r\n")
    private static let lastChunk = ByteBuffer(staticString: "0\r\n\r\n")
}
