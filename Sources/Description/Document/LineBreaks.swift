import Text

/// A position in the text of a line: a span, and an offset in bytes in it.
package struct TextMark: Sendable, Hashable, Comparable {
    package var span: Int
    package var offset: Int

    package init(span: Int, offset: Int) {
        self.span = span
        self.offset = offset
    }

    package static func < (left: TextMark, right: TextMark) -> Bool {
        (left.span, left.offset) < (right.span, right.offset)
    }
}

/// Breaks the text of a line into rows, in one pass.
package struct LineBreaks {
    /// How many characters back a space is searched, so that a row does not end within a word.
    private static let longestWord = 24

    private let longestWord: Int
    private let indent: Int
    private let width: Int
    private var rows: [Range<TextMark>] = []
    /// Where the current row begins; `nil` before its first character.
    private var start: TextMark?
    private var column: Int
    private var piece: Piece

    /// The part of the current span that is in the current row.
    private struct Piece {
        /// Where the part begins, in bytes of the span and in columns.
        var offset = 0
        var column: Int
        var characters = 0
        var hasWord = false
        /// The position after the part's last space, if a word precedes this space.
        var space: (offset: Int, column: Int)?
        /// How many characters follow the part's last space; `nil` if it has no space.
        var tail: Int?

        mutating func append(_ isSpace: Bool, end: Int, _ column: Int) {
            characters += 1
            tail = isSpace ? 0 : tail.map { $0 + 1 }
            if isSpace, hasWord { space = (end, column) }
            hasWord = hasWord || !isSpace
        }
    }

    /// Breaks a text into at least one row of `width` columns, `indent` of which stay empty. A space at the end of a
    /// row is in no row. A word of more than 24 characters is broken at the end of the row; with `keepsWords`, only a
    /// word that is wider than a row is broken.
    package static func rows(of spans: [Span], indent: Int, width: Int, keepsWords: Bool = false) -> [Range<TextMark>] {
        let longest = keepsWords ? max(longestWord, width - indent) : longestWord
        var breaks = LineBreaks(indent: indent, width: width, longestWord: longest)
        for (number, span) in spans.enumerated() { breaks.take(span.text, number) }
        let end = TextMark(span: spans.count, offset: 0)
        if breaks.start != nil || breaks.rows.isEmpty {
            breaks.rows.append((breaks.start ?? TextMark(span: 0, offset: 0))..<end)
        }
        return breaks.rows
    }

    private init(indent: Int, width: Int, longestWord: Int) {
        self.longestWord = longestWord
        self.indent = indent
        self.width = width
        column = indent
        piece = Piece(column: indent)
    }

    private mutating func take(_ text: String, _ span: Int) {
        let bytes = Array(text.utf8)
        var from = 0
        piece = Piece(column: column)
        TextWidth.each(in: text) { columns, end in
            take(TextMark(span: span, offset: from), end, columns, bytes)
            from = end
            return true
        }
    }

    private mutating func take(_ place: TextMark, _ end: Int, _ columns: Int, _ bytes: [UInt8]) {
        let isSpace = bytes[place.offset] == 0x20 && end == place.offset + 1
        while let start, column + columns > width, place > start {
            guard !isSpace || place.offset == piece.offset else {
                // The space at the end of a row does not begin the next row.
                rows.append(start..<place)
                self.start = nil
                return
            }
            let isAtStart = start == TextMark(span: place.span, offset: piece.offset)
            let (offset, column, characters) = cut(place.offset, isAtStart: isAtStart, bytes)
            let mark = TextMark(span: place.span, offset: offset)
            rows.append(start..<mark)
            self.start = mark
            self.column += indent - column
            piece = Piece(offset: offset, column: indent, characters: characters, hasWord: characters > 0)
        }
        if start == nil {
            start = place
            column = indent
            piece = Piece(offset: place.offset, column: indent)
        }
        column += columns
        piece.append(isSpace, end: end, column)
    }

    /// Where a row without room for the character at `place` ends, and how many characters move to the next row.
    private func cut(_ place: Int, isAtStart: Bool, _ bytes: [UInt8]) -> (offset: Int, column: Int, characters: Int) {
        guard let tail = piece.tail else {
            var word = piece.characters
            for byte in bytes[place...] where byte & 0xC0 != 0x80 {
                if byte == 0x20 || word > longestWord { break }
                word += 1
            }
            let isBroken = isAtStart || word > longestWord
            return isBroken ? (place, column, 0) : (piece.offset, piece.column, piece.characters)
        }
        guard tail <= longestWord, let space = piece.space else { return (place, column, 0) }
        return (space.offset, space.column, tail)
    }
}
