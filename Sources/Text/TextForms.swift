extension StringProtocol {
    package var columns: Int { TextWidth.columns(self) }

    /// The text, padded on the right with spaces to this many columns; a longer text is not cut.
    package func filled(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - columns)) }

    /// The text, padded on the left with spaces to this many columns; a longer text is not cut.
    package func aligned(to width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - columns)) + self
    }

    /// The text, or its beginning and an ellipsis, in at most this many characters.
    package func shortened(to limit: Int) -> String {
        guard utf8.count > limit, count > limit else { return String(self) }
        return prefix(Swift.max(0, limit - 1)) + "…"
    }

    /// The parts between separators; separators within quotation marks do not count.
    package func split(atUnquoted separator: Character) -> [SubSequence] {
        var isQuoted = false
        return split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }
}

extension BinaryInteger {
    /// With commas: `12,345`.
    package var grouped: String {
        let digits = String(magnitude)
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    package func padded(to width: Int, radix: Int = 10, uppercase: Bool = false) -> String {
        let digits = radix == 10 ? "\(self)" : String(self, radix: radix, uppercase: uppercase)
        let missing = width - digits.utf8.count
        return missing > 0 ? String(repeating: "0", count: missing) + digits : digits
    }

    /// The number with a noun, which gets an `s` if the number is not 1: `3 fields`.
    package func of(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}

extension String {
    /// The text escaped for HTML and XML between tags. Quotes are not escaped, so it is not for attributes.
    package var markupEscaped: String {
        replacing { $0 == "&" ? "&amp;" : $0 == "<" ? "&lt;" : $0 == ">" ? "&gt;" : nil }
    }

    /// Replaces scalars, not characters: `<` with a combining mark is a different `Character`, but still opens a tag.
    package func replacing(_ replacements: [Unicode.Scalar: String]) -> String { replacing { replacements[$0] } }

    func replacing(_ replacement: (Unicode.Scalar) -> String?) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if let replacement = replacement(scalar) {
                text += replacement
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
