import Description
import Terminal
import Text

/// The position of a screen row in a document: the visible line, and the row within the wrapped line.
package struct ReadingPlace: Sendable, Hashable, Comparable {
    package var line = 0
    package var row = 0

    package static func < (left: ReadingPlace, right: ReadingPlace) -> Bool {
        (left.line, left.row) < (right.line, right.row)
    }
}

/// The rows of a document on a screen: its lines without folded blocks, with long lines wrapped.
struct DocumentRows {
    let document: DetailDocument
    let folds: Set<Int>
    let width: Int
    let wraps: Bool
    /// The indices of the visible lines in the document.
    let visible: [Int]

    init(_ document: DetailDocument, _ folds: Set<Int>, width: Int, wraps: Bool = true) {
        self.document = document
        self.folds = folds
        self.width = width
        self.wraps = wraps
        visible = document.folded(folds)
    }

    var last: ReadingPlace {
        visible.isEmpty ? ReadingPlace() : ReadingPlace(line: visible.count - 1, row: count(visible.count - 1) - 1)
    }

    func spans(_ line: Int) -> [Span] {
        let number = visible[line]
        return folds.contains(number) ? document.lines[number].foldedSpans : document.lines[number].spans
    }

    func indent(_ line: Int) -> Int { min(document.lines[visible[line]].indent, max(0, width / 2)) }

    func rows(_ line: Int) -> [Range<TextMark>] {
        let spans = spans(line)
        guard !isOneRow(line, spans) else {
            return [TextMark(span: 0, offset: 0)..<TextMark(span: spans.count, offset: 0)]
        }
        let number = visible[line]
        return document.breaks.rows(number, isFolded: folds.contains(number), width) {
            let keepsWords = document.lines[number].keepsWords
            return LineBreaks.rows(of: spans, indent: indent(line), width: width, keepsWords: keepsWords)
        }
    }

    func count(_ line: Int) -> Int { isOneRow(line, spans(line)) ? 1 : rows(line).count }

    private func isOneRow(_ line: Int, _ spans: [Span]) -> Bool {
        guard wraps, document.lines[visible[line]].wraps, width > 0 else { return true }
        // Except for tabs, a line has at most as many columns as bytes.
        var left = width - indent(line)
        for span in spans {
            left -= span.text.utf8.count
            guard left >= 0, !span.text.utf8.contains(0x09) else { return false }
        }
        return true
    }

    func clamped(_ place: ReadingPlace) -> ReadingPlace {
        guard place.line < visible.count else { return last }
        guard place.line >= 0 else { return ReadingPlace() }
        return ReadingPlace(line: place.line, row: min(max(0, place.row), count(place.line) - 1))
    }

    /// The row `rows` below a row, or above it if `rows` is negative; at most the last or the first row.
    func moved(_ place: ReadingPlace, by rows: Int) -> ReadingPlace {
        guard !visible.isEmpty else { return ReadingPlace() }
        var place = clamped(place)
        place.row += rows
        while place.row < 0, place.line > 0 {
            place.line -= 1
            place.row += count(place.line)
        }
        while place.row > 0, place.row >= count(place.line), place.line + 1 < visible.count {
            place.row -= count(place.line)
            place.line += 1
        }
        return clamped(place)
    }

    func distance(from top: ReadingPlace, to place: ReadingPlace, most: Int) -> Int {
        var rows = -top.row
        for line in top.line..<max(top.line, place.line) where rows < most { rows += count(line) }
        return min(rows + place.row, most)
    }

    func extent(_ place: ReadingPlace) -> Range<TextMark> {
        let rows = rows(place.line)
        let next = place.row + 1 < rows.count ? rows[place.row + 1].lowerBound : rows[place.row].upperBound
        return rows[place.row].lowerBound..<next
    }

    /// The column of a position in an unwrapped line.
    func column(of mark: TextMark, line: Int) -> Int {
        var columns = indent(line)
        for (number, span) in spans(line).enumerated() where number <= mark.span {
            let text = span.text.utf8
            columns += TextWidth.columns(number < mark.span ? span.text[...] : Substring(text.prefix(mark.offset)))
        }
        return columns
    }

    func folding(_ folds: Set<Int>) -> DocumentRows { DocumentRows(document, folds, width: width, wraps: wraps) }

    /// The visible line that shows a line of the document: the same line, or the first line of its folded block.
    func showing(_ line: Int) -> Int { max(0, visible.partitioningIndex { $0 <= line } - 1) }

    func place(of mark: TextMark, line: Int) -> ReadingPlace {
        let next = rows(line).firstIndex { $0.lowerBound > mark }
        return ReadingPlace(line: line, row: (next ?? count(line)) - 1)
    }
}

extension OpenText {
    typealias Change = (inout ReadingState, DocumentRows, _ height: Int) -> Void

    mutating func read(in body: Rect, wraps: Bool, _ change: Change) {
        guard let document else { return }
        change(&reading, DocumentView.rows(document, reading.folds, wraps: wraps, in: body), body.height)
    }
}

extension ReadingState {
    mutating func move(_ by: Int, in rows: DocumentRows, height: Int) {
        stay()
        cursor = rows.moved(cursor, by: by)
        reveal(in: rows, height: height)
    }

    /// Goes to the first row, or to the last row and keeps the end in view as the document grows.
    mutating func moveToEdge(first: Bool, in rows: DocumentRows, height: Int) {
        stay()
        follows = !first
        cursor = first ? ReadingPlace() : rows.last
        reveal(in: rows, height: height)
    }

    /// Scrolls. The cursor moves by the same number of rows if `follows`, and always stays on the screen.
    mutating func scroll(_ by: Int, in rows: DocumentRows, height: Int, follows: Bool) {
        stay()
        top = min(rows.moved(top, by: by), lowestTop(rows, height))
        if follows { cursor = rows.moved(cursor, by: by) }
        cursor = min(max(rows.clamped(cursor), top), rows.moved(top, by: max(0, height - 1)))
    }

    mutating func shift(_ by: Int, in rows: DocumentRows) {
        let longest = visibleColumns(rows)
        left = max(0, min(left + by * max(1, rows.width / 2), max(0, longest - rows.width / 2)))
    }

    /// Ends following and the current match, which last only until the reader moves.
    private mutating func stay() { (follows, match) = (false, nil) }

    /// Scrolls to the cursor, without empty rows at the end.
    mutating func reveal(in rows: DocumentRows, height: Int) {
        cursor = rows.clamped(cursor)
        top = rows.clamped(top)
        if cursor < top {
            top = cursor
        } else if rows.distance(from: top, to: cursor, most: max(1, height)) >= max(1, height) {
            top = rows.moved(cursor, by: 1 - max(1, height))
        }
        top = min(top, lowestTop(rows, height))
    }

    /// Folds or unfolds the block that begins at the cursor, or the innermost block around it; returns its first line.
    @discardableResult
    mutating func toggleFold(in rows: DocumentRows, height: Int) -> Int? {
        guard rows.visible.indices.contains(cursor.line) else { return nil }
        let line = rows.visible[cursor.line]
        let opens = rows.document.lines[line].fold != nil
        guard let target = opens ? line : rows.document.enclosing(line).last else { return nil }
        follows = false
        if folds.remove(target) == nil { folds.insert(target) }
        let now = rows.folding(folds)
        cursor = ReadingPlace(line: now.visible.firstIndex(of: target) ?? 0, row: 0)
        reveal(in: now, height: height)
        if !folds.contains(target), let end = now.document.lines[target].fold?.end {
            // Scrolls so that as much of the unfolded block as possible is visible, with its first line.
            let last = now.showing(end - 1)
            let place = ReadingPlace(line: last, row: now.count(last) - 1)
            top = max(top, min(cursor, now.moved(place, by: 1 - max(1, height))))
        }
        return target
    }

    mutating func fold(all: Bool, in rows: DocumentRows, height: Int) {
        guard rows.visible.indices.contains(cursor.line) else { return }
        let line = rows.visible[cursor.line]
        let document = rows.document
        follows = false
        folds = all ? Set(document.lines.indices.filter { document.lines[$0].fold != nil }) : []
        folds.subtract(document.enclosing(line))
        let now = rows.folding(folds)
        cursor = ReadingPlace(line: now.showing(line), row: all ? 0 : cursor.row)
        reveal(in: now, height: height)
    }

    /// Goes to the next or previous match, from the last match or the cursor, and wraps around; returns its index.
    mutating func goToMatch(forward: Bool, among places: [FoundPlace], in rows: DocumentRows, height: Int) -> Int? {
        guard !places.isEmpty, !rows.visible.isEmpty else { return nil }
        let index: Int
        if let match, let now = places.firstIndex(of: match) {
            index = (now + (forward ? 1 : places.count - 1)) % places.count
        } else {
            let place = rows.clamped(cursor)
            let line = rows.visible[place.line]
            let start = rows.extent(place).lowerBound
            let next = places.firstIndex { ($0.line, $0.range.lowerBound) >= (line, start) }
            index = forward ? next ?? 0 : ((next ?? places.count) + places.count - 1) % places.count
        }
        show(places[index], in: rows, height: height)
        return index
    }

    mutating func show(_ place: FoundPlace, in rows: DocumentRows, height: Int) {
        folds.subtract(rows.document.enclosing(place.line))
        let now = rows.folding(folds)
        cursor = now.place(of: place.range.lowerBound, line: now.showing(place.line))
        (match, follows) = (place, false)
        // If the match was not in view, some rows before it are shown too.
        if cursor < top || now.distance(from: now.clamped(top), to: cursor, most: height) >= height {
            top = now.moved(cursor, by: -height / 3)
        }
        reveal(in: now, height: height)
        guard !now.wraps else { return }
        let column = now.column(of: place.range.lowerBound, line: now.showing(place.line))
        if column < left || column >= left + now.width - 10 { left = max(0, column - now.width / 3) }
    }

    private func lowestTop(_ rows: DocumentRows, _ height: Int) -> ReadingPlace {
        rows.moved(rows.last, by: 1 - max(1, height))
    }

    /// The width of the longest line on the screen; a screen has at most 200 rows.
    private func visibleColumns(_ rows: DocumentRows) -> Int {
        let end = min(rows.visible.count, top.line + 200)
        guard top.line < end else { return 0 }
        return (top.line..<end).map { rows.column(of: TextMark(span: .max, offset: 0), line: $0) }.max() ?? 0
    }
}

extension ReadingState {
    /// The same position and folds in a newer document; lines are found by the section names above them.
    func carried(from old: DetailDocument, to new: DetailDocument) -> ReadingState {
        let names = new.names
        var lines: [Int: Int] = [:]
        var carried = self
        carried.folds = new.initialFolds
        carried.match = nil
        let visible = old.folded(folds)
        func number(_ place: ReadingPlace) -> Int? { visible.indices.contains(place.line) ? visible[place.line] : nil }
        let places = [top, cursor].compactMap(number)
        var (name, start): (String?, Int) = (nil, 0)
        for line in old.lines.indices {
            if let own = old.lines[line].name { (name, start) = (own, line) }
            let isFold = old.lines[line].fold != nil
            guard isFold || places.contains(line) else { continue }
            let now = name.map { names[$0].map { $0 + line - start } } ?? line
            guard let now, new.lines.indices.contains(now) else { continue }
            lines[line] = now
            guard isFold, new.lines[now].fold != nil else { continue }
            if folds.contains(line) { carried.folds.insert(now) } else { carried.folds.remove(now) }
        }
        let rows = DocumentRows(new, carried.folds, width: 0)
        func moved(_ place: ReadingPlace) -> ReadingPlace {
            guard let line = number(place).flatMap({ lines[$0] }) else { return place }
            return ReadingPlace(line: rows.showing(line), row: place.row)
        }
        (carried.top, carried.cursor) = (moved(top), moved(cursor))
        return carried
    }
}

extension DetailDocument {
    var names: [String: Int] {
        Dictionary(lines.indices.compactMap { line in lines[line].name.map { ($0, line) } }) { first, _ in first }
    }

    /// The share of the body before a position, from 0 to 1, in bytes other than white space; `nil` above the body.
    func bodyShare(before line: Int, _ mark: TextMark) -> Double? {
        guard let start = names["Body"], line > start else { return nil }
        let before = (start + 1..<line).reduce(0) { $0 + weight(lines[$1].spans) }
        let part = lines[line].spans.prefix(mark.span + 1).enumerated().map { number, span in
            number < mark.span ? span : Span(String(Substring(span.text.utf8.prefix(mark.offset))))
        }
        let all = (start + 1..<lines.count).reduce(0) { $0 + weight(lines[$1].spans) }
        return all > 0 ? Double(before + weight(part)) / Double(all) : 0
    }

    /// The position at a share of the body; the inverse of ``bodyShare(before:_:)``.
    func bodyPlace(at share: Double) -> (line: Int, mark: TextMark)? {
        guard let start = names["Body"], start + 1 < lines.count else { return nil }
        let all = (start + 1..<lines.count).reduce(0) { $0 + weight(lines[$1].spans) }
        var rest = Int(Double(all) * min(max(0, share), 1))
        for line in start + 1..<lines.count {
            let own = weight(lines[line].spans)
            guard rest < own else {
                rest -= own
                continue
            }
            for (number, span) in lines[line].spans.enumerated() {
                var offset = 0
                for scalar in span.text.unicodeScalars {
                    if rest <= 0 { return (line, TextMark(span: number, offset: offset)) }
                    if scalar.value > 0x20 { rest -= UTF8.width(scalar) }
                    offset += UTF8.width(scalar)
                }
            }
            return (line, TextMark(span: 0, offset: 0))
        }
        return (lines.count - 1, TextMark(span: 0, offset: 0))
    }

    /// The number of bytes other than white space; hexadecimal lines count like other lines.
    private func weight(_ spans: some Sequence<Span>) -> Int {
        spans.reduce(0) { $0 + $1.text.utf8.reduce(0) { $1 > 0x20 ? $0 + 1 : $0 } }
    }
}
