package import NIOCore

/// A start line, stored in the buffer of the fields, and the fields.
package protocol MessageHead: Sendable {
    var fields: FieldSection { get set }

    /// In HTTP/1 form, with the final empty line.
    func write(into output: inout ByteBuffer)
}

extension MessageHead {
    package var revision: UInt32 { fields.revision }

    package var isChanged: Bool { fields.isChanged }

    /// `nil` for a composed head.
    package var received: ByteBuffer? { fields.received }

    /// The received bytes if they may be forwarded as they are.
    package var unchanged: ByteBuffer? { fields.unchanged }

    /// The received bytes if possible, else a composed head.
    package func serialized() -> ByteBuffer {
        if let unchanged { return unchanged }
        var output = ByteBuffer()
        output.reserveCapacity(fields.buffer.readableBytes + 64)
        write(into: &output)
        return output
    }
}
