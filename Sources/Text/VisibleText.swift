/// Text from traffic, files and arguments, made safe for a terminal: no control characters, nothing invisible.
package enum VisibleText {
    /// The text on one line; invisible characters become visible: control characters as `^[`, others as `<U+202E>`.
    package static func of(_ text: String) -> String { visible(text) { _ in false } }

    /// Like ``of(_:)``, but keeps line feeds and tabs.
    package static func lines(_ text: String) -> String { visible(text) { $0 == "\n" || $0 == "\t" } }

    /// Replaces the invisible characters of valid JSON (RFC 8259) by `\u` escapes, which mean the same.
    package static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isHidden($0) && $0.value >= 0x20 }) else { return text }
        // Control characters need no escape: in valid JSON only line feeds and tabs occur, and only outside strings.
        return text.replacing { isHidden($0) && $0.value >= 0x20 ? jsonEscape($0) : nil }
    }

    /// The JSON escape of a character (RFC 8259 §7): `\u202e`; a surrogate pair for characters above U+FFFF.
    package static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { $0.map { "\\u" + $0.padded(to: 4, radix: 16) }.joined() } ?? ""
    }

    /// Whether a character moves the cursor, changes the direction of text, or has no width. Joiners and variation
    /// selectors are hidden too; ``of(_:)`` keeps them if they belong to the characters next to them.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case 0..<0xA0, 0xAD, 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F: true
        case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFE00...0xFE0F, 0xFEFF, 0xFFA0: true
        case 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF: true
        default: false
        }
    }

    private static func visible(_ text: String, isKept: (Unicode.Scalar) -> Bool) -> String {
        if text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F }) { return text }
        guard text.unicodeScalars.contains(where: { isHidden($0) && !isKept($0) }) else { return text }
        var visible = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        var previous: Unicode.Scalar?
        while let scalar = rest.popFirst() {
            if !isHidden(scalar) || isKept(scalar) || belongs(scalar, after: previous, before: rest.first) {
                visible.append(scalar)
                previous = scalar
                continue
            }
            previous = nil
            if scalar.value < 0x20 {
                visible.append("^")
                visible.append(Unicode.Scalar(UInt8(scalar.value + 0x40)))
            } else if scalar.value == 0x7F {
                visible.append(contentsOf: "^?".unicodeScalars)
            } else {
                let digits = scalar.value.padded(to: 4, radix: 16, uppercase: true)
                visible.append(contentsOf: "<U+\(digits)>".unicodeScalars)
            }
        }
        return String(visible)
    }

    /// Whether this is a joiner within a word or an emoji, or a variation selector after a character it can change.
    private static func belongs(
        _ scalar: Unicode.Scalar,
        after previous: Unicode.Scalar?,
        before next: Unicode.Scalar?
    ) -> Bool {
        guard let previous, isJoining(previous) else { return false }
        return switch scalar.value {
        case 0xFE0E, 0xFE0F: previous.value != scalar.value
        case 0x200C, 0x200D: next.map(isJoining) ?? false
        default: false
        }
    }

    /// Whether a character belongs to a script that uses joiners, from Arabic to Burmese, or to an emoji.
    private static func isJoining(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0620..<0x10A0, 0x2190..<0x2C00, 0xFE0E...0xFE0F, 0x1F000..<0x1FB00: true
        default: false
        }
    }
}

extension VisibleText {
    /// The text on one line like ``of(_:)``, but a tab becomes spaces up to the next multiple of four columns.
    package static func expandingTabs(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(0x09) else { return of(String(text)) }
        var expanded = ""
        var column = 0
        for (index, piece) in text.split(separator: "\t", omittingEmptySubsequences: false).enumerated() {
            if index > 0 {
                let count = 4 - column % 4
                expanded += String(repeating: " ", count: count)
                column += count
            }
            let visible = of(String(piece))
            expanded += visible
            column += visible.columns
        }
        return expanded
    }
}
