import NIOCore
import Text

/// Bytes in hexadecimal: offset, up to sixteen bytes, and the same bytes as ASCII.
struct HexLayout {
    let bytes: ByteBuffer

    func write(into writer: inout DetailWriter) {
        // Columns: 10 for the offset, 3 per byte, 1 per byte as text, 1 between them, 1 in the middle of 16 bytes.
        let room = writer.options.width - writer.margin
        let perLine = room >= 76 ? 16 : room >= 43 ? 8 : 4
        let view = bytes.readableBytesView
        var offset = 0
        while offset < view.count, writer.takesMore() {
            let line = view[(view.startIndex + offset)..<min(view.endIndex, view.startIndex + offset + perLine)]
            var digits: [UInt8] = []
            digits.reserveCapacity(perLine * 3 + 2)
            for (index, byte) in line.enumerated() {
                if index == 8 { digits.append(0x20) }
                digits += [HexLayout.digit(byte >> 4), HexLayout.digit(byte & 0xF), 0x20]
            }
            let width = perLine * 3 + (perLine == 16 ? 1 : 0)
            digits += repeatElement(0x20, count: width - digits.count + 1)
            let text = line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
            let spans = [
                Span(offset.padded(to: 8, radix: 16) + "  ", .faint), Span(digits.text(digits.indices), .number),
                Span(text.text(text.indices), .string),
            ]
            writer.add(spans, wraps: false)
            offset += perLine
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x57 }
}
