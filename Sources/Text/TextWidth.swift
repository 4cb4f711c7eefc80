/// The width of text in terminal columns (``Glyph``): one column for a control character, four for a tab.
package enum TextWidth {
    package static func columns(_ text: some StringProtocol) -> Int {
        // Printable ASCII, the usual text, has one column per byte.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 &- 0x20 < 0x5F } }
        return isPlain == true ? text.utf8.count : columns(Glyph.substring(text), upTo: .max)
    }

    /// Stops at the glyph that exceeds the limit.
    private static func columns(_ text: Substring, upTo limit: Int) -> Int {
        var count = 0
        Glyph.each(in: text) { glyph, _ in
            count += glyph.columns
            return count <= limit
        }
        return count
    }

    package static func columns(_ character: Character) -> Int { Glyph.drawing(of: character).columns }

    /// Calls `body` with the width of each character and the UTF-8 offset after it, until it returns `false`.
    package static func each(in text: some StringProtocol, _ body: (_ columns: Int, _ end: Int) -> Bool) {
        var columns = 0
        var start = 0
        Glyph.each(in: text) { glyph, end in
            columns += glyph.columns
            guard end > start else { return true }
            defer { (columns, start) = (0, end) }
            return body(columns, end)
        }
    }

    /// The text, or its beginning and the ellipsis, in at most this many columns.
    package static func cut(_ text: some StringProtocol, to columns: Int, ellipsis: String = "…") -> String {
        let text = Glyph.substring(text)
        guard !fits(text, in: columns) else { return String(text) }
        let mark = prefix(ellipsis[...], columns: columns)
        return prefix(text, columns: columns - TextWidth.columns(mark)) + mark
    }

    /// The text, or its beginning, the ellipsis and its end, in at most this many columns.
    package static func cutMiddle(_ text: some StringProtocol, to columns: Int, ellipsis: String = "…") -> String {
        let text = Glyph.substring(text)
        guard !fits(text, in: columns) else { return String(text) }
        let mark = prefix(ellipsis[...], columns: columns)
        let room = max(columns - TextWidth.columns(mark), 0)
        var start = text.endIndex
        var used = 0
        while start > text.startIndex {
            let before = text.index(before: start)
            let width = TextWidth.columns(text[before])
            guard used + width <= room / 2 else { break }
            used += width
            start = before
        }
        return prefix(text, columns: room - used) + mark + text[start...]
    }

    /// The text in exactly this many columns: cut, or padded on the left with spaces.
    package static func paddedLeft(_ text: some StringProtocol, to columns: Int) -> String {
        cut(text, to: columns).aligned(to: columns)
    }

    /// Breaks text into at least one line of at most this many columns: at line feeds, after spaces (which are left
    /// out), or within a word that is too long. A character wider than the limit has its own line.
    package static func wrap(_ text: some StringProtocol, to columns: Int) -> [Substring] {
        var lines: [Substring] = []
        for paragraph in Glyph.substring(text).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            wrapParagraph(paragraph, to: max(columns, 1), into: &lines)
        }
        return lines
    }

    private static func wrapParagraph(_ text: Substring, to columns: Int, into lines: inout [Substring]) {
        var start = text.startIndex
        var used = 0
        var lastBreak: Substring.Index?
        var hasWord = false
        var index = start
        while index < text.endIndex {
            let character = text[index]
            let width = TextWidth.columns(character)
            if used + width > columns, index > start {
                let end = character == " " ? index : lastBreak ?? index
                var line = text[start..<end]
                while line.last == " " { line.removeLast() }
                lines.append(line)
                start = text[end...].drop { $0 == " " }.startIndex
                index = start
                used = 0
                lastBreak = nil
                hasWord = false
                continue
            }
            used += width
            index = text.index(after: index)
            if character != " " { hasWord = true }
            if character == " ", hasWord { lastBreak = index }
        }
        lines.append(text[start...])
    }

    private static func fits(_ text: Substring, in columns: Int) -> Bool {
        TextWidth.columns(text, upTo: columns) <= columns
    }

    /// The longest prefix of complete characters that fits.
    private static func prefix(_ text: Substring, columns: Int) -> String {
        var used = 0
        var length = 0
        Glyph.each(in: text) { glyph, end in
            used += glyph.columns
            guard used <= columns else { return false }
            length = end
            return true
        }
        return String(decoding: text.utf8.prefix(length), as: UTF8.self)
    }
}
