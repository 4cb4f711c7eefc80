import Content
import Text

/// JSON laid out with one member or element a line, in colours and with folds. Nothing is read into values: numbers
/// keep their digits, strings their escapes, members their order and duplicates.
struct JSONLayout {
    private struct Open {
        var line: Int
        var isObject: Bool
        var count = 0
    }

    private let bytes: [UInt8]
    /// Whether the text is but the beginning of one.
    private let isCut: Bool
    private var open: [Open] = []

    init(_ bytes: [UInt8], isCut: Bool = false) {
        self.bytes = bytes
        self.isCut = isCut
    }

    /// Adds the lines. Throws `JSONSyntaxError` where the bytes are not JSON; lines before the fault were added.
    mutating func write(into writer: inout DetailWriter) throws(JSONSyntaxError) {
        var reader = JSONTokenReader(bytes)
        var name: [Span] = []
        do throws(JSONSyntaxError) {
            while let token = try reader.next(), writer.takesMore() {
                switch token.kind {
                case .name: name = [Span(bytes.text(token.range), .key), Span(": ", .punctuation)]
                case .objectBegin, .arrayBegin:
                    begin(token, &reader, name, &writer)
                    name = []
                case .objectEnd, .arrayEnd: end(token, &writer)
                case .string, .number, .literal:
                    count()
                    scalar(token, name, &writer)
                    name = []
                }
            }
        } catch {
            // A cut may go through a word or an escape, at which the error then stands.
            guard isCut, error.offset + 8 >= bytes.count else { throw error }
            writer.add(name + [Span(writer.sign("…", "..."), .warning)], indent: open.count * 2)
        }
        for unclosed in open { writer.fold(from: unclosed.line, summary(unclosed) + " and more") }
    }

    private mutating func count() {
        if !open.isEmpty { open[open.count - 1].count += 1 }
    }

    private mutating func begin(
        _ token: JSONToken,
        _ reader: inout JSONTokenReader,
        _ name: [Span],
        _ writer: inout DetailWriter
    ) {
        count()
        let isObject = token.kind == .objectBegin
        var next = token.range.upperBound
        while next < bytes.count, JSONLayout.isSpace(bytes[next]) { next += 1 }
        if next < bytes.count, bytes[next] == UInt8(ascii: isObject ? "}" : "]") {
            let text = (isObject ? "{}" : "[]") + comma(after: next + 1)
            writer.add(name + [Span(text, .punctuation)], indent: open.count * 2)
            // Its end has just been shown.
            _ = try? reader.next()
            return
        }
        writer.add(name + [Span(isObject ? "{" : "[", .punctuation)], indent: open.count * 2)
        open.append(Open(line: writer.place - 1, isObject: isObject))
    }

    private mutating func end(_ token: JSONToken, _ writer: inout DetailWriter) {
        guard let closed = open.popLast() else { return }
        let bracket = closed.isObject ? "}" : "]"
        writer.add(
            [Span(bracket + comma(after: token.range.upperBound), .punctuation)],
            indent: open.count * 2,
            wraps: false
        )
        writer.fold(from: closed.line, summary(closed))
    }

    private func scalar(_ token: JSONToken, _ name: [Span], _ writer: inout DetailWriter) {
        var spans = name
        let role: Role =
            switch token.kind {
            case .number: .number
            case .literal: .literal
            default: isLink(token.range) ? .link : .string
            }
        spans.append(Span(bytes.text(token.range), role))
        let comma = comma(after: token.range.upperBound)
        if !comma.isEmpty { spans.append(Span(comma, .punctuation)) }
        writer.add(spans, indent: open.count * 2)
    }

    private func summary(_ block: Open) -> String {
        block.isObject ? "{ \(block.count.of("member")) }" : "[ \(block.count.of("element")) ]"
    }

    /// `,` where one comes next.
    private func comma(after end: Int) -> String {
        var next = end
        while next < bytes.count, JSONLayout.isSpace(bytes[next]) { next += 1 }
        return next < bytes.count && bytes[next] == UInt8(ascii: ",") ? "," : ""
    }

    private func isLink(_ range: Range<Int>) -> Bool {
        guard range.count > 10, bytes[range.lowerBound + 1] == UInt8(ascii: "h") else { return false }
        let inner = bytes[(range.lowerBound + 1)..<range.upperBound]
        return inner.starts(with: "https://".utf8) || inner.starts(with: "http://".utf8)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}

extension DetailWriter {
    /// Adds JSON laid out; where the bytes are none it adds nothing and returns what is wrong.
    @discardableResult
    mutating func json(_ bytes: [UInt8], isCut: Bool = false) -> JSONSyntaxError? {
        let start = place
        var layout = JSONLayout(bytes, isCut: isCut)
        do {
            try layout.write(into: &self)
            return nil
        } catch {
            drop(from: start)
            return error
        }
    }
}
