/// The content of one cell or two: at most eight bytes of UTF-8 that a terminal draws and does not execute.
package struct Glyph {
    /// UTF-8, first byte lowest.
    package let bytes: UInt64
    package let columns: Int

    static let space = Glyph(bytes: 0x20, columns: 1)
    package static let ellipsis = Glyph(bytes: packed("…"), columns: 1)
    /// Replaces a character that shows nothing by itself, such as U+200B or U+202E.
    private static let invisible = Glyph(bytes: packed("·"), columns: 1)
    private static let unknown = Glyph(bytes: packed("\u{FFFD}"), columns: 1)

    static let tabColumns = 4

    /// The glyphs of one character, usually one.
    package struct Drawing {
        package let first: Glyph
        var others: [Glyph] = []

        var columns: Int { others.reduce(first.columns) { $0 + $1.columns } }
    }

    private static let tab = Drawing(first: .space, others: Array(repeating: .space, count: tabColumns - 1))

    static func drawing(ofASCII byte: UInt8) -> Drawing {
        switch byte {
        case 0x20..<0x7F: Drawing(first: Glyph(bytes: UInt64(byte), columns: 1))
        case 0x09: tab
        default: Drawing(first: picture(ofControl: UInt32(byte)))
        }
    }

    package static func drawing(of character: Character) -> Drawing {
        if character == "\r\n" { return Drawing(first: picture(ofControl: 13), others: [picture(ofControl: 10)]) }
        let scalars = String(character).unicodeScalars
        guard let base = scalars.first else { return Drawing(first: .space) }
        if base.value < 0x20 || (0x7F..<0xA0).contains(base.value) {
            return base.value == 0x09 ? tab : Drawing(first: picture(ofControl: base.value))
        }
        // A conjunct of Indic letters is one `Character`, but has the width of all its letters.
        if let second = scalars.indices.dropFirst().first(where: { scalars[$0].isLetterOfItsOwn }) {
            let rest = drawing(of: Character(String(scalars[second...])))
            return Drawing(first: cluster(base, scalars[..<second]), others: [rest.first] + rest.others)
        }
        return Drawing(first: cluster(base, scalars[...]))
    }

    /// Calls `body` with each glyph and the UTF-8 offset after the last complete character, until it returns `false`.
    package static func each(in text: some StringProtocol, _ body: (_ glyph: Glyph, _ end: Int) -> Bool) {
        var text = substring(text)
        text.makeContiguousUTF8()
        let whole = text
        text.withUTF8 { walk($0, whole, body) }
    }

    static func substring(_ text: some StringProtocol) -> Substring {
        if let whole = text as? String { return whole[...] }
        return text as? Substring ?? Substring(String(text))
    }

    private static func walk(_ bytes: UnsafeBufferPointer<UInt8>, _ text: Substring, _ body: (Glyph, Int) -> Bool) {
        var offset = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            let drawing: Drawing
            let end: Int
            // Only a byte outside ASCII can continue a character that begins with ASCII.
            if byte < 0x80, offset + 1 == bytes.count || bytes[offset + 1] < 0x80 {
                if byte >= 0x20, byte < 0x7F {
                    offset += 1
                    if !body(Glyph(bytes: UInt64(byte), columns: 1), offset) { return }
                    continue
                }
                drawing = Glyph.drawing(ofASCII: byte)
                end = offset + 1
            } else {
                let character = text[text.utf8.index(text.startIndex, offsetBy: offset)]
                drawing = Glyph.drawing(of: character)
                end = offset + character.utf8.count
            }
            if !body(drawing.first, drawing.others.isEmpty ? end : offset) { return }
            for (index, glyph) in drawing.others.enumerated() {
                if !body(glyph, index + 1 == drawing.others.count ? end : offset) { return }
            }
            offset = end
        }
    }

    /// The base with as many further scalars as eight bytes hold.
    private static func cluster(_ base: Unicode.Scalar, _ scalars: Substring.UnicodeScalarView) -> Glyph {
        var columns = Unicode.Scalar.columns(base)
        var bytes: UInt64 = 0
        var length = 0
        if columns == 0 {
            guard base.properties.generalCategory != .format, !base.isSeparator else { return invisible }
            // A combining mark without a base is drawn on a dotted circle.
            append("\u{25CC}", to: &bytes, &length)
            columns = 1
        }
        append(base, to: &bytes, &length)
        var trimmed = bytes
        for scalar in scalars.dropFirst() {
            if scalar.value == 0xFE0F || scalar.isRegionalIndicator && base.isRegionalIndicator { columns = 2 }
            guard append(scalar, to: &bytes, &length) else { break }
            // A joiner at the end would join the next cell.
            if scalar.value != 0x200D { trimmed = bytes }
        }
        return trimmed == 0 ? unknown : Glyph(bytes: trimmed, columns: columns)
    }

    @discardableResult
    private static func append(_ scalar: Unicode.Scalar, to bytes: inout UInt64, _ length: inout Int) -> Bool {
        guard let encoded = UTF8.encode(scalar), length + encoded.count <= 8 else { return false }
        for byte in encoded {
            bytes |= UInt64(byte) << UInt64(8 * length)
            length += 1
        }
        return true
    }

    /// A control picture of U+2400; for a C1 control, which has no picture, the replacement character.
    private static func picture(ofControl value: UInt32) -> Glyph {
        let scalar = Unicode.Scalar(value == 0x7F ? 0x2421 : 0x2400 + value)
        guard value < 0x80, let scalar else { return unknown }
        return Glyph(bytes: packed(scalar), columns: 1)
    }

    private static func packed(_ scalar: Unicode.Scalar) -> UInt64 {
        var bytes: UInt64 = 0
        var length = 0
        append(scalar, to: &bytes, &length)
        return bytes
    }
}
