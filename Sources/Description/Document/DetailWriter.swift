import HTTPModel
import Text

/// Collects the lines of a document, within limits. All text from traffic passes here, so it has no hidden characters.
package struct DetailWriter {
    /// The most bytes of a line in a formatted body; the raw form shows all bytes.
    static let longestLaidOut = 10_000
    static let mostLines = 60_000
    /// The deepest indentation, in columns.
    static let deepestIndent = 60
    static let labelWidth = 15

    let options: DetailOptions
    let budget: DetailBudget
    package private(set) var lines: [DetailLine] = []
    /// What was left out, in sentences.
    private(set) var omissions: [String] = []
    /// The most bytes of a line; initially as many as a page shows of a body.
    var longestLine = 1 << 20
    var margin = 0
    /// The time that other times are compared with, in microseconds since 1970.
    let now: Int64
    /// Whether numbers in JSON that may be times are also shown as dates.
    private(set) var showsDates: Bool
    var messages: MessageWindow?

    package init(_ options: DetailOptions, _ budget: DetailBudget = DetailBudget(), now: Int64 = 0) {
        self.options = options
        self.budget = budget
        self.now = now
        showsDates = options.decodesValues
    }

    mutating func indented(_ columns: Int, _ body: (inout DetailWriter) throws -> Void) rethrows {
        margin += columns
        defer { margin -= columns }
        try body(&self)
    }

    /// Adds JSON with a title; numbers that may be times are also shown as dates.
    mutating func dated(_ title: String, _ bytes: [UInt8]) {
        add(title, .label)
        let showed = showsDates
        showsDates = true
        indented(2) { $0.json(bytes) }
        showsDates = showed
    }

    mutating func mark(_ copyable: Copyable) {
        if !lines.isEmpty, !isFull { lines[lines.count - 1].copyable = copyable }
    }

    mutating func replace(_ line: Int, _ spans: [Span]) {
        if lines.indices.contains(line) { lines[line].spans = spans.map { Span(VisibleText.of($0.text), $0.role) } }
    }

    /// The document, which ends with sentences about what was left out.
    package func document() -> DetailDocument {
        var lines = lines
        for omission in omissions { lines.append(DetailLine([Span(omission, .warning)])) }
        var document = DetailDocument(lines: lines, isWhole: omissions.isEmpty)
        (document.page, document.messages) = (options.page, messages)
        if [.request, .response].contains(options.page) { document.bodyForm = options.bodyForm }
        return document
    }

    var place: Int { lines.count }
    var isFull: Bool { lines.count >= DetailWriter.mostLines || isLate }
    /// Whether the budget is spent; checked every 64 lines.
    private var isLate: Bool { lines.count % 64 == 63 && budget.isSpent }

    /// Adds a line: without empty spans, with hidden characters made visible, and cut if it is too long.
    mutating func add(_ spans: [Span], indent: Int = 0, wraps: Bool = true) {
        guard !isFull else { return noteFull() }
        var length = 0
        var isPlain = true
        for span in spans {
            var text = span.text
            length += text.utf8.count
            isPlain = isPlain && !text.isEmpty && text.withUTF8 { $0.allSatisfy { $0 &- 0x20 < 0x5F } }
        }
        let kept = isPlain && length <= longestLine ? spans : bounded(spans)
        lines.append(DetailLine(kept, indent: min(margin + indent, DetailWriter.deepestIndent), wraps: wraps))
    }

    mutating func add(_ text: String, _ role: Role = .text, indent: Int = 0, wraps: Bool = true) {
        add([Span(text, role)], indent: indent, wraps: wraps)
    }

    mutating func gap() {
        guard !options.isShort else { return }
        if lines.last?.spans.isEmpty == false, takesMore() { lines.append(DetailLine([])) }
    }

    /// Makes a line the foldable head of the block that ends at the last line.
    mutating func fold(from line: Int, _ summary: String, startsFolded: Bool = false) {
        guard lines.indices.contains(line), lines.count > line + 1 else { return }
        lines[line].fold = Fold(end: lines.count, summary: summary, startsFolded: startsFolded)
    }

    /// Makes a line the foldable head of the block that ends at the last line; the summary is the number of lines.
    mutating func foldLines(from line: Int, startsFolded: Bool = false) {
        fold(from: line, "(\((lines.count - line - 1).of("line")))", startsFolded: startsFolded)
    }

    /// Names the last line, so that a reader's position can be found again.
    mutating func nameLine(_ name: String) {
        if !lines.isEmpty { lines[lines.count - 1].name = name }
    }

    mutating func drop(from line: Int) { lines.removeSubrange(min(line, lines.count)...) }

    mutating func append(_ span: Span) {
        guard !lines.isEmpty, !isFull else { return }
        lines[lines.count - 1].spans.append(Span(VisibleText.of(span.text), span.role))
    }

    mutating func leaveOut(_ sentence: String) {
        if !omissions.contains(sentence) { omissions.append(sentence) }
    }

    /// Whether there is room for another line; if not, the document says at its end that there is more.
    mutating func takesMore() -> Bool {
        guard isFull else { return true }
        noteFull()
        return false
    }

    private mutating func noteFull() {
        let isLong = lines.count >= DetailWriter.mostLines
        let shown = "Only the first \(DetailWriter.mostLines.grouped) lines are shown"
        let way =
            options.isPrinted
            ? "--body request or --body response prints the body" : "the command save-body writes it whole"
        leaveOut("\(isLong ? shown : "Not all is shown, as it takes too long"); \(way).")
    }

    private func bounded(_ spans: [Span]) -> [Span] {
        var kept: [Span] = []
        kept.reserveCapacity(spans.count)
        var room = longestLine
        for span in spans where !span.text.isEmpty {
            var span = span
            if span.text.utf8.count > room {
                let rest = span.text.utf8.count - room
                var end = span.text.utf8.index(span.text.startIndex, offsetBy: room)
                while end.samePosition(in: span.text.unicodeScalars) == nil { span.text.utf8.formIndex(before: &end) }
                span.text = VisibleText.of(String(span.text[..<end]))
                kept.append(span)
                let way = longestLine == DetailWriter.longestLaidOut ? ", which the raw form shows" : ""
                kept.append(Span(" … and \(rest.grouped) more bytes in this line\(way)", .warning))
                return kept
            }
            room -= span.text.utf8.count
            span.text = VisibleText.of(span.text)
            kept.append(span)
        }
        return kept
    }

    /// Adds a titled, foldable section unless `body` adds nothing. Folded it shows `summary` or its number of lines.
    mutating func section(
        _ title: String,
        notes: [String] = [],
        summary: String? = nil,
        startsFolded: Bool = false,
        _ body: (inout DetailWriter) -> Void
    ) {
        let before = lines.count
        gap()
        let start = lines.count
        var spans = [Span(title, .heading)]
        if !notes.isEmpty { spans.append(Span("  " + notes.joined(separator: "; "), .faint)) }
        add(spans)
        nameLine(title)
        let first = lines.count
        indented(2, body)
        if lines.count == first, notes.isEmpty, !isFull {
            drop(from: before)
        } else {
            let count = "(\((lines.count - start - 1).of("line")))"
            let room = max(20, options.width - (spans.reduce(3) { $0 + $1.text.columns }))
            let short = summary.map { TextWidth.cut(VisibleText.of($0), to: room, ellipsis: sign("…", "...")) }
            fold(from: start, short.map { " " + $0 } ?? count, startsFolded: startsFolded)
        }
    }

    func inOneLine(_ parts: [String]) -> String { parts.joined(separator: sign(" · ", " | ")) }

    mutating func fact(_ label: String, _ value: [Span]) { add([DetailWriter.label(label)] + value) }

    private static func label(_ text: String) -> Span { Span(text.filled(to: labelWidth) + " ", .label) }

    /// Puts the label of a fact before a line that is there already.
    mutating func label(_ label: String, of line: Int) {
        if lines.indices.contains(line) { lines[line].spans.insert(DetailWriter.label(label), at: 0) }
    }

    mutating func fact(_ label: String, _ value: String, _ role: Role = .text) { fact(label, [Span(value, role)]) }

    /// Adds nothing if the value is `nil` or empty.
    mutating func fact(_ label: String, _ value: String?, _ role: Role = .text) {
        if let value, !value.isEmpty { fact(label, [Span(value, role)]) }
    }

    /// Adds names and values in two columns. `names` are the real names, if the rows show other names; `part` is the
    /// place that has them.
    mutating func table(
        _ rows: [(name: Span, value: [Span])],
        of part: Place? = nil,
        marks: [Span]? = nil,
        names: [String]? = nil,
        explains: Bool = true
    ) {
        let most = max(12, (options.width - margin) / 3)
        let width = rows.reduce(0) { max($0, min(most, $1.name.text.columns)) }
        for (index, row) in rows.enumerated() {
            var spans: [Span] = []
            if let marks { spans.append(marks[index]) }
            spans.append(Span(row.name.text.filled(to: width) + "  ", row.name.role))
            let before = place
            add(spans + row.value)
            guard place > before else { return }
            let value = row.value.first { $0.role != .faint }?.text ?? ""
            let name = names?[index] ?? row.name.text
            mark(.field(name: name, value: value, place: part?.member(name)))
            if explains { explain(value, field: name) }
        }
    }

    mutating func table(_ fields: FieldSection, of part: Place? = nil) {
        table(fields.map { (Span($0.name, .key), [Span($0.value)]) }, of: part)
    }

    /// A Unicode character if the terminal can show it; if not, its ASCII replacement.
    func sign(_ sign: String, _ plain: String) -> String { options.isUnicode ? sign : plain }

    /// The mark of removed values: `−`, or `-`.
    var minus: String { sign("−", "-") }
    /// The arrow between old and new values: `→`, or `->`.
    var arrow: String { sign("→", "->") }
}
