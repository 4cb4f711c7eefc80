import Description
import Terminal
import Text

enum DetailView {
    static let besideFrom = 160

    /// The areas of the focused page and of the page beside it, if there is one; the request is at the left.
    static func halves(_ model: ConsoleModel, in body: Rect) -> (own: Rect, other: Rect?) {
        guard body.width >= besideFrom, let other = model.detail.beside?.shown?.page,
            other == model.detail.page.counterpart
        else { return (body, nil) }
        let (left, rest) = body.splitLeft((body.width - 1) / 2)
        let right = rest.splitLeft(1).1
        return other == .request ? (right, left) : (left, right)
    }

    typealias Tab = (page: DetailPage, text: String, range: Range<Int>)

    /// The page names with their columns: in full, shortened, or only numbers, depending on the width.
    static func tabs(_ model: ConsoleModel, width: Int) -> [Tab] {
        let namings: [(DetailPage) -> String] = [
            { " \($0.rawValue)" }, { $0 == model.detail.page ? " \($0.rawValue)" : " \($0.short)" },
            { " \($0.short)" }, { _ in "" },
        ]
        let rows = namings.lazy.map { tabs(model, naming: $0) }
        return rows.first { ($0.last?.range.upperBound ?? 0) <= width } ?? []
    }

    private static func tabs(_ model: ConsoleModel, naming: (DetailPage) -> String) -> [Tab] {
        var x = 0
        return model.detail.pages.enumerated().map { index, page in
            let name = "\(index + 1)\(naming(page))"
            let text = page == model.detail.page ? "[\(name)]" : " \(name) "
            defer { x += text.count }
            return (page, text, x..<x + text.count)
        }
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        let (top, body) = rect.splitTop(1)
        let hasKeys = model.context == .detail
        // Below the list, the page names are in the line between list and page.
        if top.y > 0, Layout(model).isBelow { screen.fill(top, with: "─", style: theme.frame) }
        let (own, other) = halves(model, in: body)
        let tabs = tabs(model, width: rect.width)
        for tab in tabs {
            let selection = hasKeys ? theme.selection : theme.dimSelection
            let isBeside = other != nil && tab.page == model.detail.page.counterpart
            let style =
                tab.page == model.detail.page
                ? selection.with(.bold) : isBeside ? theme.dimSelection : theme.style(.label)
            screen.write(tab.text, x: top.x + tab.range.lowerBound, y: top.y, style: style, limit: tab.range.count)
        }
        let used = tabs.last?.range.upperBound ?? 0
        let number = model.detail.id.map { "#\($0)" } ?? ""
        if let right = [" \(version(model))\(number)", " \(number)"].first(where: { rect.width - used > $0.count }) {
            screen.write(right, x: top.maxX - right.count, y: top.y, style: theme.faint)
        }
        guard model.detail.text.document != nil else {
            screen.write("reading …", x: body.x, y: body.y, style: theme.faint)
            return
        }
        DocumentView(model.detail.text, wraps: model.wraps, hasCursor: hasKeys, model.look, in: own)?.draw(on: &screen)
        guard let other, let beside = model.detail.beside, beside.document != nil else { return }
        let between = Rect(x: min(own.maxX, other.maxX), y: body.y, width: 1, height: body.height)
        screen.fill(between, with: "│", style: theme.frame)
        DocumentView(beside, wraps: model.wraps, hasCursor: false, model.look, in: other)?.draw(on: &screen)
    }

    private static func version(_ model: ConsoleModel) -> String {
        var words: [String] = []
        if let form = model.detail.text.document?.bodyForm, form != .pretty { words.append(form.rawValue) }
        if [.request, .response].contains(model.detail.page) {
            words.append("as \(model.detail.options.version.rawValue)")
        }
        let text = model.detail.text
        if text.reading.follows, text.document?.isUnfinished == true { words.append("following") }
        return words.isEmpty ? "" : words.joined(separator: ", ") + " "
    }
}

extension DetailPage {
    var short: String {
        switch self {
        case .overview: "over"
        case .request: "req"
        case .response: "resp"
        case .messages: "msgs"
        case .difference: "diff"
        }
    }
}

/// The rows of a document. Two columns at the left show the cursor, a match or a wrapped line, and folds.
struct DocumentView {
    static let margin = 2

    private let rows: DocumentRows
    private let reading: ReadingState
    private let found: FoundPlaces?
    private let hasCursor: Bool
    private let look: Look
    private let rect: Rect

    static func rows(_ document: DetailDocument, _ folds: Set<Int>, wraps: Bool, in rect: Rect) -> DocumentRows {
        DocumentRows(document, folds, width: rect.width - margin, wraps: wraps)
    }

    init?(_ text: OpenText, wraps: Bool, hasCursor: Bool, _ look: Look, in rect: Rect) {
        guard let document = text.document else { return nil }
        rows = DocumentView.rows(document, text.reading.folds, wraps: wraps, in: rect)
        // The text or its area may have shrunk since the last frame.
        var reading = text.reading
        reading.reveal(in: rows, height: rect.height)
        (self.reading, self.hasCursor, self.look, self.rect) = (reading, hasCursor, look, rect)
        found = text.found
    }

    func draw(on screen: inout CellBuffer) {
        var place = reading.top
        var y = rect.y
        while y < rect.maxY, place.line < rows.visible.count {
            let marks = marks(rows.visible[place.line])
            let line = Line(spans: rows.spans(place.line), marks: marks, indent: rows.indent(place.line))
            for part in rows.rows(place.line)[place.row...].prefix(rect.maxY - y) {
                let isCursor = hasCursor && place == reading.cursor
                let next = rows.extent(place)
                let isFound = marks.contains { next.contains($0.range.lowerBound) }
                drawSigns(place, isFound: isFound, isCursor: isCursor, y: y, on: &screen)
                draw(part, of: line, isCursor: isCursor, y: y, on: &screen)
                place.row += 1
                y += 1
            }
            place = ReadingPlace(line: place.line + 1, row: 0)
        }
    }

    private struct Line {
        var spans: [Span]
        var marks: [FoundPlace]
        var indent: Int
    }

    /// The matches in a line; in a folded line, only the matches before its summary.
    private func marks(_ number: Int) -> [FoundPlace] {
        guard let found else { return [] }
        let end = TextMark(span: max(0, rows.document.lines[number].spans.count - 1), offset: 0)
        let isFolded = rows.folds.contains(number)
        return found.places(in: number).filter { !isFolded || $0.range.upperBound < end || end.span == 0 }
    }

    private func drawSigns(_ place: ReadingPlace, isFound: Bool, isCursor: Bool, y: Int, on screen: inout CellBuffer) {
        let theme = look.theme
        let goesOn: Character = look.isUnicode ? "↳" : "\\"
        let sign: Character = isFound ? (look.isUnicode ? "»" : "*") : isCursor ? ">" : place.row > 0 ? goesOn : " "
        screen[rect.x, y] = Cell(sign, style: isCursor || isFound ? theme.key : theme.faint)
        let number = rows.visible[place.line]
        guard place.row == 0, rows.document.lines[number].fold != nil else { return }
        let isFolded = rows.folds.contains(number)
        let fold: Character = look.isUnicode ? (isFolded ? "▸" : "▾") : isFolded ? "+" : "-"
        screen[rect.x + 1, y] = Cell(fold, style: isCursor ? theme.key : theme.faint)
    }

    /// Draws a row of a line. Cut text is marked: with `…` in a line that never wraps, otherwise at both edges.
    private func draw(_ part: Range<TextMark>, of line: Line, isCursor: Bool, y: Int, on screen: inout CellBuffer) {
        let (wraps, left) = (rows.wraps, rows.wraps ? 0 : reading.left)
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
            // A very long text exceeds the width in any case, so it is not measured to its end.
            let isLong = piece.text.utf8.count > 16 * (left + rect.width)
            x += isLong ? rect.width + left : TextWidth.columns(piece.text)
        }
        guard !wraps else { return }
        if x > rect.maxX { screen[rect.maxX - 1, y] = Cell(look.isUnicode ? "›" : ">", style: look.theme.key) }
        if left > line.indent, !line.spans.isEmpty {
            screen[first, y] = Cell(look.isUnicode ? "‹" : "<", style: look.theme.key)
        }
    }

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
                add(begin, over, look.theme.found(isCurrent: mark == reading.match))
                from = over
            }
            add(from, end, usual)
        }
        return pieces
    }
}

extension Theme {
    func found(isCurrent: Bool) -> Style {
        guard self != .plain else { return Style.plain.with(isCurrent ? [.reverse, .bold] : .underline) }
        return isCurrent ? Style(.palette(16), on: .palette(208), [.bold, .underline]) : style(.match)
    }
}
