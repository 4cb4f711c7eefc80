package import Terminal

extension CellBuffer {
    /// The text of a row, without the blanks at its end.
    package func row(_ y: Int) -> String {
        guard y >= 0, y < size.height else { return "" }
        var bytes: [UInt8] = []
        for x in 0..<size.width { bytes += self[x, y].text.utf8 }
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
                    if cell.style != .plain { result += "‹\(cell.style.words)›" }
                    style = cell.style
                }
                result += cell.text
            }
            result += style == .plain ? "\n" : "‹/›\n"
        }
        if let cursor { result += "cursor at \(cursor.x),\(cursor.y)\n" }
        return result
    }

    /// Changes the style of each character that begins in a rectangle.
    package mutating func restyle(_ rect: Rect, _ change: (Style) -> Style) {
        let area = rect.intersection(bounds)
        for y in area.y..<area.maxY {
            for x in area.x..<area.maxX where !self[x, y].isContinuation {
                write(self[x, y].text, x: x, y: y, style: change(self[x, y].style))
            }
        }
    }
}

extension Style {
    /// The style in words, `bold red on blue` or `plain`.
    fileprivate var words: String {
        var words: [String] = []
        let names: [(Attributes, String)] = [
            (.bold, "bold"), (.dim, "dim"), (.underline, "underline"), (.reverse, "reverse"),
        ]
        for (attribute, name) in names where attributes.contains(attribute) {
            words.append(name)
        }
        if foreground != .standard { words.append(foreground.word) }
        if background != .standard { words.append("on \(background.word)") }
        return words.isEmpty ? "plain" : words.joined(separator: " ")
    }
}

extension Color {
    /// The colour in a word, `red`, `bright-blue`, `p208` or `standard`.
    fileprivate var word: String {
        let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
        return switch self {
        case .standard: "standard"
        case .ansi(let number) where number < 8: names[Int(number)]
        case .ansi(let number) where number < 16: "bright-" + names[Int(number) - 8]
        case .ansi(let number): "ansi\(number)"
        case .palette(let number): "p\(number)"
        }
    }
}
