import NIOCore
import Text

/// Escapes text for a page, so that nothing from traffic can end or begin an element.
enum PageText {
    /// Writes JSON for a `script` element: escapes `<`, `>` and `&`, which JSON has only in strings.
    static func write(json: ByteBuffer, into output: inout ByteBuffer) {
        json.withUnsafeReadableBytes { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() where byte == 0x3C || byte == 0x3E || byte == 0x26 {
                output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                output.writeString(byte == 0x3C ? "\\u003c" : byte == 0x3E ? "\\u003e" : "\\u0026")
                start = index + 1
            }
            output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    static func escaped(_ text: String) -> String { VisibleText.of(text).markupEscaped }
}
