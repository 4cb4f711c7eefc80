import Terminal

/// The lines of a document, from where the reader is.
enum DocumentView {
    static func draw(
        _ document: DetailDocument,
        _ reading: ReadingState,
        sought: String,
        hasCursor: Bool,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let found = sought.isEmpty ? [] : Set(document.matches(of: sought))
        let visible = document.folded(reading.folds)
        let width = rect.width - 1
        var y = rect.y
        for index in first(visible, document, reading, in: rect)..<visible.count {
            guard y < rect.maxY else { break }
            let number = visible[index]
            let line = document.lines[number]
            let isCursor = hasCursor && index == reading.cursor
            let sign: Character =
                line.fold == nil
                ? (found.contains(number) ? "»" : isCursor ? ">" : " ")
                : reading.folds.contains(number) ? "▸" : "▾"
            screen[rect.x, y] = Cell(sign, style: isCursor ? theme.key : theme.faint)
            let rows = rows(of: line, isFolded: reading.folds.contains(number), width: width, most: rect.height)
            for (row, pieces) in rows.enumerated() where y + row < rect.maxY {
                for piece in pieces {
                    let x = rect.x + 1 + piece.column
                    let style = style(piece, isCursor, theme)
                    screen.write(piece.text, x: x, y: y + row, style: style, limit: rect.maxX - x)
                }
            }
            y += rows.count
        }
    }

    /// The line that a row of the screen shows, among the visible ones; `nil` below the last.
    static func line(at row: Int, of document: DetailDocument, _ reading: ReadingState, in rect: Rect) -> Int? {
        let visible = document.folded(reading.folds)
        var left = row
        for index in first(visible, document, reading, in: rect)..<visible.count {
            left -= height(visible[index], document, reading, rect)
            if left < 0 { return index }
        }
        return nil
    }

    /// The first line that is shown: the reader's, or a later one where lines that take several rows would push the one with
    /// the cursor off the screen.
    private static func first(
        _ visible: [Int],
        _ document: DetailDocument,
        _ reading: ReadingState,
        in rect: Rect
    ) -> Int {
        let top = min(max(0, reading.top), visible.count)
        guard visible.indices.contains(reading.cursor), reading.cursor >= top,
            reading.cursor - top < rect.height
        else { return top }
        var first = reading.cursor
        var rows = height(visible[first], document, reading, rect)
        while first > top {
            rows += height(visible[first - 1], document, reading, rect)
            guard rows <= rect.height else { break }
            first -= 1
        }
        return first
    }

    private static func height(_ number: Int, _ document: DetailDocument, _ reading: ReadingState, _ rect: Rect) -> Int
    {
        let isFolded = reading.folds.contains(number)
        return rows(of: document.lines[number], isFolded: isFolded, width: rect.width - 1, most: rect.height).count
    }

    private static func style(_ piece: Piece, _ isCursor: Bool, _ theme: Theme) -> Style {
        let style = piece.span.pixels.map { Style(.palette($0.0), on: .palette($0.1)) } ?? theme.style(piece.span.role)
        return isCursor ? style.with(.bold) : style
    }

    // MARK: - Wrapping

    /// A part of a span that stands in one row.
    private struct Piece {
        var span: Span
        var text: Substring
        var column: Int
    }

    /// How far back a space is looked for, so that a row does not end within a word.
    private static let longestWord = 24

    /// The rows that one line takes, at least one and of a long one the first `most`; a line that does not wrap has one, which
    /// is cut where it is drawn.
    private static func rows(of line: DetailLine, isFolded: Bool, width: Int, most: Int) -> [[Piece]] {
        let spans = isFolded ? line.foldedSpans : line.spans
        let indent = min(line.indent, max(0, width / 2))
        var rows: [[Piece]] = [[]]
        var column = indent
        func turn() {
            rows.append([])
            column = indent
        }
        for span in spans {
            var rest = Substring(span.text)
            while !rest.isEmpty {
                let fitting = TextWidth.cut(rest, to: max(0, width - column), ellipsis: "")
                if !line.wraps || width <= 0 || fitting.utf8.count == rest.utf8.count {
                    rows[rows.count - 1].append(Piece(span: span, text: rest, column: column))
                    column += TextWidth.columns(rest)
                    break
                }
                guard rows.count <= most else { return Array(rows.prefix(max(1, most))) }
                let head = rest.prefix(fitting.count)
                let part = wordEnd(head, before: rest.dropFirst(head.count), isAtStart: column == indent)
                if part.isEmpty {
                    if column > indent {
                        turn()
                        continue
                    }
                    // Not even one character has room.
                    rest = rest.dropFirst()
                    continue
                }
                rows[rows.count - 1].append(Piece(span: span, text: part, column: column))
                rest = rest.dropFirst(part.count)
                // The space at which the row ends is not the next one's beginning.
                if rest.first == " " { rest = rest.dropFirst() }
                if !rest.isEmpty { turn() } else { column = width }
            }
        }
        return rows
    }

    /// What fits in a row, without the beginning of a word that goes on in the next one, where that word is short.
    private static func wordEnd(_ head: Substring, before rest: Substring, isAtStart: Bool) -> Substring {
        guard rest.first != " " else { return head }
        guard let space = head.lastIndex(of: " ") else {
            let word = head.count + rest.prefix(longestWord + 1).prefix { $0 != " " }.count
            return isAtStart || word > longestWord ? head : head.prefix(0)
        }
        let tail = head[head.index(after: space)...]
        guard tail.count <= longestWord, head[..<space].contains(where: { $0 != " " }) else { return head }
        return head[...space]
    }
}
