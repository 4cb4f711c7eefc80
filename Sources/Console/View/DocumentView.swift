import Sharing
import Terminal
import Text

/// The rows of a document, from where the reader is.
enum DocumentView {
    /// The rows of a document that is drawn in a rectangle: the first column is for signs.
    static func rows(_ document: DetailDocument, _ folds: Set<Int>, in rect: Rect) -> DocumentRows {
        DocumentRows(document, folds, width: rect.width - 1)
    }

    static func draw(
        _ document: DetailDocument,
        _ reading: ReadingState,
        sought: String,
        hasCursor: Bool,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let rows = rows(document, reading.folds, in: rect)
        let sought = SoughtText(sought)
        // What has changed since may have taken room away.
        var reading = reading
        reading.reveal(in: rows, height: rect.height)
        var place = reading.top
        var y = rect.y
        while y < rect.maxY, place.line < rows.visible.count {
            let spans = rows.spans(place.line)
            for part in rows.rows(place.line)[place.row...].prefix(rect.maxY - y) {
                let isCursor = hasCursor && place == reading.cursor
                let isFound = sought?.begins(in: rows.extent(place), of: spans) ?? false
                let sign = sign(rows, place, isFound: isFound, isCursor: isCursor)
                if let sign { screen[rect.x, y] = Cell(sign, style: isCursor ? theme.key : theme.faint) }
                draw(part, of: spans, indent: rows.indent(place.line), isCursor, theme, in: rect, y: y, on: &screen)
                place.row += 1
                y += 1
            }
            place = ReadingPlace(line: place.line + 1, row: 0)
        }
    }

    private static func sign(_ rows: DocumentRows, _ place: ReadingPlace, isFound: Bool, isCursor: Bool) -> Character? {
        let number = rows.visible[place.line]
        if place.row == 0, rows.document.lines[number].fold != nil { return rows.folds.contains(number) ? "▸" : "▾" }
        return isFound ? "»" : isCursor ? ">" : place.row == 0 ? " " : nil
    }

    /// Draws what a row has of a line's text; what has no room, which is only where lines are not broken, ends with a sign.
    private static func draw(
        _ part: Range<TextMark>,
        of spans: [Span],
        indent: Int,
        _ isCursor: Bool,
        _ theme: Theme,
        in rect: Rect,
        y: Int,
        on screen: inout CellBuffer
    ) {
        var x = rect.x + 1 + indent
        for number in part.lowerBound.span..<min(spans.count, part.upperBound.span + 1) {
            let span = spans[number]
            let start = number == part.lowerBound.span ? part.lowerBound.offset : 0
            let end = number == part.upperBound.span ? part.upperBound.offset : span.text.utf8.count
            guard start < end else { continue }
            let style = span.pixels.map { Style(.palette($0.x), on: .palette($0.y)) } ?? theme.style(span.role)
            let text = span.text.utf8
            let piece = Substring(
                text[text.index(text.startIndex, offsetBy: start)..<text.index(text.startIndex, offsetBy: end)]
            )
            let cursorStyle = isCursor ? style.with(.bold) : style
            guard x < rect.maxX else {
                screen.write("…", x: rect.maxX - 1, y: y, style: cursorStyle)
                return
            }
            screen.write(piece, x: x, y: y, style: cursorStyle, limit: rect.maxX - x)
            x += TextWidth.columns(piece)
        }
    }
}
