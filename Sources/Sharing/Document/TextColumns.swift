import HTTPModel
import Terminal

extension VisibleText {
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
