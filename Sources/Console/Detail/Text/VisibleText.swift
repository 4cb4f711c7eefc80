import Terminal

/// Text from traffic made fit for a screen: nothing in it can drive a terminal or hide.
enum VisibleText {
    /// The text with what cannot be seen made visible: control characters as `^[`, others as `<U+202E>`.
    static func of(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F }) { return text }
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if !isHidden(scalar) {
                visible.append(scalar)
            } else if scalar.value < 0x20 {
                visible.append("^")
                visible.append(Unicode.Scalar(UInt8(scalar.value + 0x40)))
            } else if scalar.value == 0x7F {
                visible.append(contentsOf: "^?".unicodeScalars)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                let zeros = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
                visible.append(contentsOf: "<U+\(zeros)\(digits)>".unicodeScalars)
            }
        }
        return String(visible)
    }

    /// The text with tabs as spaces up to the next multiple of four columns, and the rest as ``of(_:)`` has it.
    static func expandingTabs(_ text: some StringProtocol) -> String {
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

    /// Whether a character moves the cursor, changes the direction of text, or takes no place without belonging to
    /// another.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE007F: true
        default: false
        }
    }
}

extension StringProtocol {
    /// How many columns the text takes on a screen.
    var columns: Int { TextWidth.columns(self) }

    /// The text with spaces after it, up to so many columns.
    func filled(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - columns))
    }

    /// The text with spaces before it, up to so many columns.
    func aligned(to width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - columns)) + self
    }

    /// The text cut to so many characters, with a sign that says so.
    func shortened(to limit: Int) -> String {
        guard utf8.count > limit, count > limit else { return String(self) }
        return prefix(Swift.max(0, limit - 1)) + "…"
    }
}

extension Int {
    /// The number with its thousands apart: `12,345`.
    var grouped: String {
        let digits = String(magnitude)
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}

extension Int {
    /// The number with a noun, which gets an `s` where the number is not 1: `3 fields`.
    func of(_ noun: String) -> String {
        "\(grouped) \(noun)\(self == 1 ? "" : "s")"
    }
}
