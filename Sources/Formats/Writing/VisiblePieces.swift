import Content
package import NIOCore
import Text

/// Makes a body visible for a terminal, piece by piece, with ``VisibleText``; bytes that are not UTF-8 become U+FFFD.
package struct VisiblePieces {
    package private(set) var hasChanged = false
    /// The end of the bytes so far, whose last character may be incomplete.
    private var rest = ByteBuffer()

    package init() {}

    package mutating func add(_ piece: ByteBuffer) -> ByteBuffer {
        rest.writeImmutableBuffer(piece)
        defer { rest.discardReadBytes() }
        return visible(rest.readWholeCharacters())
    }

    package mutating func finish() -> ByteBuffer { visible(rest.readSlice(length: rest.readableBytes) ?? ByteBuffer()) }

    private mutating func visible(_ bytes: ByteBuffer) -> ByteBuffer {
        let visible = ByteBuffer(string: VisibleText.lines(String(buffer: bytes)))
        if visible != bytes { hasChanged = true }
        return visible
    }
}
