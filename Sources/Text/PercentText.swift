extension VisibleText {
    /// Decodes percent-encoded UTF-8 in a path or a query, for display only. Delimiters of a URL, hidden characters, a
    /// space at an end, and bytes that are not UTF-8 stay encoded.
    package static func percentDecoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let source = Array(text.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(source.count)
        var place = 0
        while place < source.count {
            let run = escapes(source[place...])
            var index = 0
            while index < run.count {
                let next = index + 1 < run.count ? run[index + 1] : source[(place + 3 * run.count)...].first
                let length = readable(run[index...], before: next)
                shown += length > 0 ? run[index..<index + length] : source[place + 3 * index..<place + 3 * index + 3]
                index += max(1, length)
            }
            place += 3 * run.count
            guard run.isEmpty else { continue }
            shown.append(source[place])
            place += 1
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The decoded bytes of the percent escapes at the beginning of a text.
    private static func escapes(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while rest.count >= 3, rest.first == UInt8(ascii: "%"),
            let high = Character(Unicode.Scalar(rest[rest.startIndex + 1])).hexDigitValue,
            let low = Character(Unicode.Scalar(rest[rest.startIndex + 2])).hexDigitValue
        {
            bytes.append(UInt8(high * 16 + low))
            rest = rest.dropFirst(3)
        }
        return bytes
    }

    /// The length of the first character in bytes; 0 if it must stay encoded.
    private static func readable(_ bytes: ArraySlice<UInt8>, before next: UInt8?) -> Int {
        guard let first = bytes.first else { return 0 }
        guard first >= 0x80 else {
            if first == 0x20 { return next.map { !" /?&=#".utf8.contains($0) } ?? false ? 1 : 0 }
            return (0x21..<0x7F).contains(first) && !"/?#%&=+;".utf8.contains(first) ? 1 : 0
        }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard let character = String(validating: bytes.prefix(length), as: UTF8.self),
            let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1, !isHidden(scalar)
        else { return 0 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            return 0
        default: return length
        }
    }
}
