import Content
package import NIOCore
import Text

/// A body that is written to a terminal piece by piece, as ``VisibleText`` has it; what is not UTF-8 becomes U+FFFD.
package struct VisiblePieces {
    package private(set) var hasChanged = false
    /// The end of what came, whose last character may not be whole.
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
