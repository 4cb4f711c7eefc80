import Sharing

/// A row of a document: one of the rows of a visible line.
package struct ReadingPlace: Sendable, Hashable, Comparable {
    package var line = 0
    package var row = 0

    package static func < (left: ReadingPlace, right: ReadingPlace) -> Bool {
        (left.line, left.row) < (right.line, right.row)
    }
}

/// The rows of a document on a screen: its lines without those in folded blocks, long ones broken.
struct DocumentRows {
    let document: DetailDocument
    let folds: Set<Int>
    /// In columns.
    let width: Int
    /// The visible lines, by their index in the document.
    let visible: [Int]

    init(_ document: DetailDocument, _ folds: Set<Int>, width: Int) {
        self.document = document
        self.folds = folds
        self.width = width
        visible = document.folded(folds)
    }

    var last: ReadingPlace {
        visible.isEmpty ? ReadingPlace() : ReadingPlace(line: visible.count - 1, row: count(visible.count - 1) - 1)
    }

    func spans(_ line: Int) -> [Span] {
        let number = visible[line]
        return folds.contains(number) ? document.lines[number].foldedSpans : document.lines[number].spans
    }

    /// The empty columns before each row of a line.
    func indent(_ line: Int) -> Int { min(document.lines[visible[line]].indent, max(0, width / 2)) }

    /// The part of a visible line in each of its rows.
    func rows(_ line: Int) -> [Range<TextMark>] {
        let spans = spans(line)
        guard !isOneRow(line, spans) else {
            return [TextMark(span: 0, offset: 0)..<TextMark(span: spans.count, offset: 0)]
        }
        let number = visible[line]
        return document.breaks.rows(number, isFolded: folds.contains(number), width) {
            LineBreaks.rows(of: spans, indent: indent(line), width: width)
        }
    }

    func count(_ line: Int) -> Int { isOneRow(line, spans(line)) ? 1 : rows(line).count }

    /// Whether a line fits in one row, or is cut.
    private func isOneRow(_ line: Int, _ spans: [Span]) -> Bool {
        guard document.lines[visible[line]].wraps, width > 0 else { return true }
        // Only a tab takes more columns than bytes.
        var left = width - indent(line)
        for span in spans {
            left -= span.text.utf8.count
            guard left >= 0, !span.text.utf8.contains(0x09) else { return false }
        }
        return true
    }

    /// The nearest existing row.
    func clamped(_ place: ReadingPlace) -> ReadingPlace {
        guard place.line < visible.count else { return last }
        guard place.line >= 0 else { return ReadingPlace() }
        return ReadingPlace(line: place.line, row: min(max(0, place.row), count(place.line) - 1))
    }

    /// The row a number of rows below another, or above it where that is negative; at most the last or the first.
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

    /// The rows between a row and one below it, at most `most`.
    func distance(from top: ReadingPlace, to place: ReadingPlace, most: Int) -> Int {
        var rows = -top.row
        for line in top.line..<max(top.line, place.line) where rows < most { rows += count(line) }
        return min(rows + place.row, most)
    }

    /// The text from the beginning of a row to that of the next one.
    func extent(_ place: ReadingPlace) -> Range<TextMark> {
        let rows = rows(place.line)
        let next = place.row + 1 < rows.count ? rows[place.row + 1].lowerBound : rows[place.row].upperBound
        return rows[place.row].lowerBound..<next
    }

    /// The row that contains a place of a line's text.
    func place(of mark: TextMark, line: Int) -> ReadingPlace {
        let next = rows(line).firstIndex { $0.lowerBound > mark }
        return ReadingPlace(line: line, row: (next ?? count(line)) - 1)
    }
}

extension ReadingState {
    /// Moves the cursor, and scrolls to it.
    mutating func move(_ by: Int, in rows: DocumentRows, height: Int) {
        cursor = rows.moved(cursor, by: by)
        reveal(in: rows, height: height)
    }

    mutating func moveToEdge(first: Bool, in rows: DocumentRows, height: Int) {
        cursor = first ? ReadingPlace() : rows.last
        reveal(in: rows, height: height)
    }

    /// Scrolls; the cursor moves as far where it `follows`, and stays on the screen in any case.
    mutating func scroll(_ by: Int, in rows: DocumentRows, height: Int, follows: Bool) {
        top = min(rows.moved(top, by: by), lowestTop(rows, height))
        if follows { cursor = rows.moved(cursor, by: by) }
        cursor = min(max(rows.clamped(cursor), top), rows.moved(top, by: max(0, height - 1)))
    }

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

    /// Folds or unfolds the block that the cursor's line opens, else the innermost around it.
    mutating func toggleFold(in rows: DocumentRows, height: Int) {
        guard rows.visible.indices.contains(cursor.line) else { return }
        let line = rows.visible[cursor.line]
        let opens = rows.document.lines[line].fold != nil
        guard let target = opens ? line : rows.document.enclosing(line).last else { return }
        if folds.remove(target) == nil { folds.insert(target) }
        let now = DocumentRows(rows.document, folds, width: rows.width)
        cursor = ReadingPlace(line: now.visible.firstIndex(of: target) ?? 0, row: 0)
        reveal(in: now, height: height)
    }

    /// Goes to the next match below the cursor's row, after the last to the first, and unfolds its blocks.
    ///
    /// - Returns: its number among the matches; `nil` where there is none.
    mutating func find(_ sought: SoughtText, in rows: DocumentRows, height: Int) -> (number: Int, count: Int)? {
        let places = rows.document.places(of: sought)
        guard !places.isEmpty else { return nil }
        let place = rows.clamped(cursor)
        let line = rows.visible[place.line]
        let end = rows.extent(place).upperBound
        let index = places.firstIndex { $0.line > line || $0.line == line && $0.mark >= end } ?? 0
        for fold in rows.document.enclosing(places[index].line) { folds.remove(fold) }
        let now = DocumentRows(rows.document, folds, width: rows.width)
        let shown = now.visible.firstIndex(of: places[index].line) ?? 0
        cursor = now.place(of: places[index].mark, line: shown)
        reveal(in: now, height: height)
        return (index + 1, places.count)
    }

    private func lowestTop(_ rows: DocumentRows, _ height: Int) -> ReadingPlace {
        rows.moved(rows.last, by: 1 - max(1, height))
    }
}
