extension CellBuffer {
    /// The text of a row, without the blanks at its end.
    package func row(_ y: Int) -> String {
        guard y >= 0, y < size.height else { return "" }
        var bytes: [UInt8] = []
        for x in 0..<size.width { bytes += self[x, y].glyphBytes }
        while bytes.last == 0x20 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All rows, each ended by a line feed.
    package var text: String {
        (0..<size.height).map { row($0) + "\n" }.joined()
    }

    /// All rows with their styles in words, for snapshots: `‹bold red›text‹/›`.
    ///
    /// Blanks at the end of a row are left out if they are plain. The cursor, if it shows, is a last line.
    package var styledText: String {
        var result = ""
        for y in 0..<size.height {
            var end = size.width
            while end > 0, self[end - 1, y] == .blank { end -= 1 }
            var style = Style.plain
            for x in 0..<end {
                let cell = self[x, y]
                if cell.style != style {
                    if style != .plain { result += "‹/›" }
                    if cell.style != .plain { result += "‹\(cell.style)›" }
                    style = cell.style
                }
                result += cell.text
            }
            result += style == .plain ? "\n" : "‹/›\n"
        }
        if let cursor { result += "cursor at \(cursor.x),\(cursor.y)\n" }
        return result
    }
}
