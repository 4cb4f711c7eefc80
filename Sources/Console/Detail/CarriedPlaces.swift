import Sharing

extension ReadingState {
    /// The same place and folds in a newer document of the same page. Lines are found again by the names above them, so
    /// that it does not matter what came before or between; what is new is folded as it begins.
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
    /// The lines that have a name; of one name the first.
    var names: [String: Int] {
        Dictionary(lines.indices.compactMap { line in lines[line].name.map { ($0, line) } }) { first, _ in first }
    }

    /// How much of the body is before a place, from 0 to 1; `nil` where the place is above the body.
    ///
    /// It is counted in bytes that are no white space, of which laying a text out adds and takes few.
    func bodyShare(before line: Int, _ mark: TextMark) -> Double? {
        guard let start = names["Body"], line > start else { return nil }
        let before = (start + 1..<line).reduce(0) { $0 + weight(lines[$1].spans) }
        let part = lines[line].spans.prefix(mark.span + 1).enumerated().map { number, span in
            number < mark.span ? span : Span(String(Substring(span.text.utf8.prefix(mark.offset))))
        }
        let all = (start + 1..<lines.count).reduce(0) { $0 + weight(lines[$1].spans) }
        return all > 0 ? Double(before + weight(part)) / Double(all) : 0
    }

    /// The line, and the place in it, before which there is such a share of the body.
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

    /// In bytes of text; a line in hexadecimal stands for as many bytes as any other.
    private func weight(_ spans: some Sequence<Span>) -> Int {
        spans.reduce(0) { $0 + $1.text.utf8.reduce(0) { $1 > 0x20 ? $0 + 1 : $0 } }
    }
}
