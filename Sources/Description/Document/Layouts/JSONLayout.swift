import Content
import HTTPModel
import Text

/// Formats JSON with one member or element per line. Numbers keep their digits, members their order and duplicates.
struct JSONLayout {
    private struct Open {
        var line: Int
        var isObject: Bool
        var count = 0
    }

    private let bytes: [UInt8]
    /// Whether the bytes are only the beginning of a text.
    private let isCut: Bool
    private var open: [Open] = []
    /// The text that contains the bytes; they begin at `start`.
    private let whole: [UInt8]
    private let start: Int
    private let place: Place?
    /// The member name to write before the next value.
    private var name: [Span] = []

    init(_ bytes: [UInt8], isCut: Bool = false, at place: Place? = nil) {
        self.bytes = bytes
        self.isCut = isCut
        (whole, start, self.place) = (bytes, 0, place)
    }

    /// Formats one value of a text, after its name.
    init(_ whole: [UInt8], value: Range<Int>, name: [Span], at place: Place) {
        bytes = Array(whole[value])
        isCut = false
        (self.whole, start, self.name, self.place) = (whole, value.lowerBound, name, place)
    }

    /// Adds the lines. Throws `JSONSyntaxError` if the bytes are not JSON, after adding the lines before the error.
    mutating func write(into writer: inout DetailWriter) throws(JSONSyntaxError) {
        var reader = JSONTokenReader(bytes)
        do throws(JSONSyntaxError) {
            while let token = try reader.next(), writer.takesMore() {
                switch token.kind {
                case .name: name = [Span(shown(token.range), .key), Span(": ", .punctuation)]
                case .objectBegin, .arrayBegin:
                    begin(token, &reader, &writer)
                    name = []
                case .objectEnd, .arrayEnd: end(token, &writer)
                case .string, .number, .literal:
                    count()
                    scalar(token, &writer)
                    name = []
                }
            }
        } catch {
            // The cut may be inside a word or an escape; the error is then at the beginning of that word or escape.
            guard isCut, error.offset + 8 >= bytes.count else { throw error }
            writer.add(name + [Span(writer.sign("…", "..."), .warning)], indent: open.count * 2)
        }
        for unclosed in open { writer.fold(from: unclosed.line, summary(unclosed) + " and more") }
    }

    private mutating func count() {
        if !open.isEmpty { open[open.count - 1].count += 1 }
    }

    private mutating func begin(_ token: JSONToken, _ reader: inout JSONTokenReader, _ writer: inout DetailWriter) {
        count()
        let isObject = token.kind == .objectBegin
        if let next = next(after: token.range.upperBound), bytes[next] == UInt8(ascii: isObject ? "}" : "]") {
            let text = (isObject ? "{}" : "[]") + comma(after: next + 1)
            add(name + [Span(text, .punctuation)], token, &writer)
            // Skips the end of the value, which was just written.
            _ = try? reader.next()
            return
        }
        add(name + [Span(isObject ? "{" : "[", .punctuation)], token, &writer)
        open.append(Open(line: writer.place - 1, isObject: isObject))
    }

    private mutating func end(_ token: JSONToken, _ writer: inout DetailWriter) {
        guard let closed = open.popLast() else { return }
        let text = (closed.isObject ? "}" : "]") + comma(after: token.range.upperBound)
        writer.add(text, .punctuation, indent: open.count * 2, wraps: false)
        writer.fold(from: closed.line, summary(closed))
    }

    private func scalar(_ token: JSONToken, _ writer: inout DetailWriter) {
        var spans = name
        let role: Role =
            switch token.kind {
            case .number: .number
            case .literal: .literal
            default: isLink(token.range) ? .link : .string
            }
        spans.append(Span(shown(token.range), role))
        let comma = comma(after: token.range.upperBound)
        if !comma.isEmpty { spans.append(Span(comma, .punctuation)) }
        if token.kind == .number, let date = writer.date(bytes.text(token.range)) { spans.append(date) }
        let before = writer.place
        add(spans, token, &writer)
        // Shorter strings do not mean anything else: encoded values have three characters or more.
        guard token.kind == .string, token.range.count > 4, writer.place > before else { return }
        guard writer.options.decodesValues || bytes[token.range.lowerBound + 1] == UInt8(ascii: "e") else { return }
        writer.indented(open.count * 2) { $0.explain(JSONTree.unescaped(bytes[token.range])) }
    }

    private func add(_ spans: [Span], _ token: JSONToken, _ writer: inout DetailWriter) {
        let before = writer.place
        writer.add(spans, indent: open.count * 2)
        guard writer.place > before else { return }
        writer.mark(.json(JSONPlace(whole, start + token.range.lowerBound, in: place)))
    }

    /// A string as written, but with visible characters instead of their `\u` escapes.
    private func shown(_ range: Range<Int>) -> String {
        let text = bytes.text(range)
        guard text.utf8.contains(UInt8(ascii: "\\")), text.contains("\\u") else { return text }
        var shown = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let escape = rest.popFirst() else {
                shown.append(scalar)
                continue
            }
            let units = escape == "u" ? JSONLayout.units(rest) : []
            let decoded = String(decoding: units, as: UTF16.self).unicodeScalars
            if let one = decoded.first, decoded.count == 1, one != "\u{FFFD}", one != "\"", one != "\\",
                !VisibleText.isHidden(one)
            {
                shown.append(one)
                rest = rest.dropFirst(units.count * 6 - 2)
            } else {
                shown.append(scalar)
                shown.append(escape)
            }
        }
        return String(shown)
    }

    /// The UTF-16 unit of the next four digits; with the unit after it if the first is a high surrogate.
    private static func units(_ rest: Substring.UnicodeScalarView) -> [UInt16] {
        guard let first = UInt16(String(rest.prefix(4)), radix: 16) else { return [] }
        guard (0xD800..<0xDC00).contains(first) else { return [first] }
        let after = rest.dropFirst(4)
        guard after.starts(with: "\\u".unicodeScalars),
            let second = UInt16(String(after.dropFirst(2).prefix(4)), radix: 16)
        else { return [first] }
        return [first, second]
    }

    private func summary(_ block: Open) -> String {
        block.isObject ? "{ \(block.count.of("member")) }" : "[ \(block.count.of("element")) ]"
    }

    /// `,` if a comma comes next; empty if not.
    private func comma(after end: Int) -> String {
        next(after: end).map { bytes[$0] == UInt8(ascii: ",") } ?? false ? "," : ""
    }

    private func next(after end: Int) -> Int? { bytes[end...].firstIndex { !JSONLayout.isSpace($0) } }

    private func isLink(_ range: Range<Int>) -> Bool {
        guard range.count > 10, bytes[range.lowerBound + 1] == UInt8(ascii: "h") else { return false }
        let inner = bytes[(range.lowerBound + 1)..<range.upperBound]
        return inner.starts(with: "https://".utf8) || inner.starts(with: "http://".utf8)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}

extension DetailWriter {
    /// Adds formatted JSON; if the bytes are not JSON, adds nothing and returns the error. `whole` is the text's place.
    @discardableResult
    mutating func json(_ bytes: [UInt8], isCut: Bool = false, at whole: Place? = nil) -> JSONSyntaxError? {
        let start = place
        var layout = JSONLayout(bytes, isCut: isCut, at: whole)
        do {
            try layout.write(into: &self)
            return nil
        } catch {
            drop(from: start)
            return error
        }
    }
}
