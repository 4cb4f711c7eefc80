package struct FilterError: Error, Sendable, Hashable {
    package var expression: String
    /// In characters from 1; one past the end if something is missing there.
    package var column: Int
    package var message: String
    package var suggestion: String?
}

extension FilterError: CustomStringConvertible {
    package var description: String { "column \(column): \(message)" + (suggestion.map { ", \($0)" } ?? "") }

    /// The expression with a caret below the column; of a long expression, only the part around the column.
    package var pointing: String {
        let (width, before) = (100, 60)
        let characters = expression.prefix(Filter.maximumLength).map { $0.isSingleColumn ? $0 : " " }
        let column = min(max(column, 1), characters.count + 1)
        let start = characters.count <= width ? 0 : max(0, column - 1 - before)
        let end = min(characters.count, start + width)
        let lead = start > 0 ? "…" : ""
        let tail = end < characters.count ? "…" : ""
        let caret = String(repeating: " ", count: lead.count + column - 1 - start) + "^"
        return lead + String(characters[start..<end]) + tail + "\n" + caret
    }
}

extension Character {
    /// Whether it is neither a control character nor a line break.
    fileprivate var isSingleColumn: Bool {
        !isNewline && self != "\t" && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
