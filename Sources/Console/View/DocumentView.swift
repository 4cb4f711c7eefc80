import Sharing
import Terminal
import Text

/// The rows of a document, from the reader's place. Left of them are two columns: one for the cursor, a match or a row
/// that goes on from the one above; one for a block that can be folded.
struct DocumentView {
    static let margin = 2

    let document: DetailDocument
    let found: FoundPlaces?
    let wraps: Bool
    let hasCursor: Bool
    let look: Look

    /// The rows of a document that is drawn in a rectangle.
    static func rows(_ document: DetailDocument, _ folds: Set<Int>, wraps: Bool, in rect: Rect) -> DocumentRows {
        DocumentRows(document, folds, width: rect.width - margin, wraps: wraps)
    }

    func draw(_ reading: ReadingState, in rect: Rect, on screen: inout CellBuffer) {
        let rows = DocumentView.rows(document, reading.folds, wraps: wraps, in: rect)
        // A change since may have taken room away.
        var reading = reading
        reading.reveal(in: rows, height: rect.height)
        var place = reading.top
        var y = rect.y
        while y < rect.maxY, place.line < rows.visible.count {
            let number = rows.visible[place.line]
            let marks = marks(number, rows, current: reading.match)
            for part in rows.rows(place.line)[place.row...].prefix(rect.maxY - y) {
                let isCursor = hasCursor && place == reading.cursor
                let next = rows.extent(place)
                let isFound = marks.contains { next.contains($0.range.lowerBound) }
                drawSigns(rows, place, isFound: isFound, isCursor: isCursor, x: rect.x, y: y, on: &screen)
                let line = Line(spans: rows.spans(place.line), marks: marks, indent: rows.indent(place.line))
                draw(part, of: line, isCursor: isCursor, left: wraps ? 0 : reading.left, in: rect, y: y, on: &screen)
                place.row += 1
                y += 1
            }
            place = ReadingPlace(line: place.line + 1, row: 0)
        }
    }

    /// A visible line.
    private struct Line {
        var spans: [Span]
        var marks: [Mark]
        var indent: Int
    }

    private struct Mark {
        var range: Range<TextMark>
        var isCurrent: Bool
    }

    /// The matches in a line; of a folded one only those before its summary.
    private func marks(_ number: Int, _ rows: DocumentRows, current: FoundPlace?) -> [Mark] {
        guard let found else { return [] }
        let end = TextMark(span: max(0, document.lines[number].spans.count - 1), offset: 0)
        let isFolded = rows.folds.contains(number)
        return found.places(in: number).filter { !isFolded || $0.range.upperBound < end || end.span == 0 }
            .map { Mark(range: $0.range, isCurrent: $0 == current) }
    }

    private func drawSigns(
        _ rows: DocumentRows,
        _ place: ReadingPlace,
        isFound: Bool,
        isCursor: Bool,
        x: Int,
        y: Int,
        on screen: inout CellBuffer
    ) {
        let theme = look.theme
        let goesOn: Character = look.isUnicode ? "↳" : "\\"
        let sign: Character = isFound ? (look.isUnicode ? "»" : "*") : isCursor ? ">" : place.row > 0 ? goesOn : " "
        screen[x, y] = Cell(sign, style: isCursor || isFound ? theme.key : theme.faint)
        let number = rows.visible[place.line]
        guard place.row == 0, document.lines[number].fold != nil else { return }
        let isFolded = rows.folds.contains(number)
        let fold: Character = look.isUnicode ? (isFolded ? "▸" : "▾") : isFolded ? "+" : "-"
        screen[x + 1, y] = Cell(fold, style: isCursor ? theme.key : theme.faint)
    }

    /// Draws a row of a line. What is cut has a sign: `…` in a line that never wraps, else one at each edge.
    private func draw(
        _ part: Range<TextMark>,
        of line: Line,
        isCursor: Bool,
        left: Int,
        in rect: Rect,
        y: Int,
        on screen: inout CellBuffer
    ) {
        let first = rect.x + DocumentView.margin
        var x = first + line.indent - left
        let clip = screen.clip
        defer { screen.clip = clip }
        screen.clip = clip.intersection(Rect(x: first, y: y, width: max(0, rect.maxX - first), height: 1))
        for piece in pieces(part, of: line) {
            let style = isCursor ? piece.style.with(.bold) : piece.style
            guard x < rect.maxX else {
                let sign = wraps ? "…" : look.isUnicode ? "›" : ">"
                screen.write(sign, x: rect.maxX - 1, y: y, style: wraps ? style : look.theme.key)
                break
            }
            screen.write(piece.text, x: x, y: y, style: style, ellipsis: wraps)
            // A long text need not be measured to its end.
            let isLong = piece.text.utf8.count > 16 * (left + rect.width)
            x += isLong ? rect.width + left : TextWidth.columns(piece.text)
        }
        guard !wraps else { return }
        if x > rect.maxX { screen[rect.maxX - 1, y] = Cell(look.isUnicode ? "›" : ">", style: look.theme.key) }
        if left > line.indent, !line.spans.isEmpty {
            screen[first, y] = Cell(look.isUnicode ? "‹" : "<", style: look.theme.key)
        }
    }

    /// The texts of a row with their styles, broken where a match begins or ends.
    private func pieces(_ part: Range<TextMark>, of line: Line) -> [(text: Substring, style: Style)] {
        var pieces: [(text: Substring, style: Style)] = []
        for number in part.lowerBound.span..<min(line.spans.count, part.upperBound.span + 1) {
            let span = line.spans[number]
            let text = span.text.utf8
            let start = number == part.lowerBound.span ? part.lowerBound.offset : 0
            let end = number == part.upperBound.span ? part.upperBound.offset : text.count
            let usual = look.theme.style(span)
            func add(_ from: Int, _ to: Int, _ style: Style) {
                guard from < to else { return }
                let begin = text.index(text.startIndex, offsetBy: from)
                pieces.append((Substring(text[begin..<text.index(begin, offsetBy: to - from)]), style))
            }
            var from = start
            for mark in line.marks {
                let (lower, upper) = (mark.range.lowerBound, mark.range.upperBound)
                guard lower.span <= number, upper.span >= number else { continue }
                let begin = min(end, max(from, lower.span < number ? 0 : lower.offset))
                let over = min(end, max(begin, upper.span > number ? text.count : upper.offset))
                add(from, begin, usual)
                add(begin, over, look.theme.found(isCurrent: mark.isCurrent))
                from = over
            }
            add(from, end, usual)
        }
        return pieces
    }
}

extension Theme {
    /// What a search found; the match that was gone to last has a style of its own.
    func found(isCurrent: Bool) -> Style {
        guard self != .plain else { return Style.plain.with(isCurrent ? [.reverse, .bold] : .underline) }
        return isCurrent ? Style(.palette(16), on: .palette(208), [.bold, .underline]) : style(.match)
    }
}
