package import NIOCore

/// A request's or response's head: its start line, whose parts lie in the buffer of the fields, and the fields.
package protocol MessageHead: Sendable {
    var fields: FieldSection { get set }

    /// Writes the head in the form of HTTP/1, with the version that it has, final empty line included.
    func write(into output: inout ByteBuffer)
}

extension MessageHead {
    /// The number of edits since the head was received.
    package var revision: UInt32 { fields.revision }

    package var isChanged: Bool { fields.isChanged }

    /// The head's bytes as received; `nil` for one that was composed.
    package var received: ByteBuffer? { fields.received }

    /// The received bytes where nothing was changed and they may be sent on as they are.
    package var unchanged: ByteBuffer? { fields.unchanged }

    /// The head in HTTP/1.1 form: the received bytes where they may be sent on as they are.
    package func serialized() -> ByteBuffer {
        if let unchanged { return unchanged }
        var output = ByteBuffer()
        output.reserveCapacity(fields.buffer.readableBytes + 64)
        write(into: &output)
        return output
    }
}
