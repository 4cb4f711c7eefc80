import NIOCore

/// Bytes in hexadecimal: offset, sixteen bytes, and what of them is ASCII.
struct HexLayout {
    let bytes: ByteBuffer

    func write(into writer: inout DetailWriter) {
        // The offset takes 10 columns, each byte 3 and 1 more as text, the gaps between them 1, and 1 amid sixteen.
        let room = writer.options.width - writer.margin
        let perLine = room >= 76 ? 16 : room >= 43 ? 8 : 4
        let view = bytes.readableBytesView
        var offset = 0
        while offset < view.count, writer.takesMore() {
            let line = view[(view.startIndex + offset)..<min(view.endIndex, view.startIndex + offset + perLine)]
            var digits: [UInt8] = []
            digits.reserveCapacity(perLine * 3 + 2)
            var text: [UInt8] = []
            for (index, byte) in line.enumerated() {
                if index == 8 { digits.append(0x20) }
                digits.append(HexLayout.digit(byte >> 4))
                digits.append(HexLayout.digit(byte & 0xF))
                digits.append(0x20)
                text.append((0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "."))
            }
            let width = perLine * 3 + (perLine == 16 ? 1 : 0)
            digits.append(contentsOf: repeatElement(0x20, count: width - digits.count + 1))
            writer.add(
                [
                    Span(HexLayout.offset(offset), .faint), Span(String(decoding: digits, as: UTF8.self), .number),
                    Span(String(decoding: text, as: UTF8.self), .string),
                ],
                wraps: false
            )
            offset += perLine
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x57 }

    private static func offset(_ value: Int) -> String {
        var digits = (0..<8).map { digit(UInt8(truncatingIfNeeded: value >> (28 - $0 * 4) & 0xF)) }
        digits += [0x20, 0x20]
        return String(decoding: digits, as: UTF8.self)
    }
}
