import HTTPModel
import Text

/// Formats HTML or XML by its tags. White space around text is not kept; wrong or missing closing tags are tolerated.
struct MarkupLayout {
    private struct Open {
        var name: String
        var line: Int
    }

    /// Text up to this many bytes is written on one line with its tags.
    private static let shortText = 90
    /// How many open elements are searched for the element that a closing tag closes.
    private static let furthestOpen = 64
    private static let voidElements: Set<String> = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    ]
    /// Elements that end when another element of the same name begins.
    private static let selfEnding: Set<String> = ["li", "p", "td", "th", "tr", "dt", "dd", "option"]

    private let bytes: [UInt8]
    private let isHTML: Bool
    private var open: [Open] = []

    init(_ bytes: [UInt8], isHTML: Bool) {
        self.bytes = bytes
        self.isHTML = isHTML
    }

    mutating func write(into writer: inout DetailWriter) {
        var reader = MarkupReader(bytes, isHTML: isHTML)
        var next = reader.next()
        var ahead = reader.next()
        while let token = next, writer.takesMore() {
            next = ahead
            ahead = next == nil ? nil : reader.next()
            switch token.kind {
            case .text: text(token.range, &writer)
            case .emptyTag: writer.add(tag(token), indent: indent)
            case .openTag where isHTML && MarkupLayout.voidElements.contains(token.name):
                writer.add(tag(token), indent: indent)
            case .openTag:
                let isSelfEnding = isHTML && MarkupLayout.selfEnding.contains(token.name)
                if isSelfEnding, open.last?.name == token.name { open.removeLast() }
                if let closing = next, closing.kind == .closeTag, closing.name == token.name {
                    writer.add(tag(token) + tag(closing), indent: indent)
                    (next, ahead) = (ahead, ahead == nil ? nil : reader.next())
                } else if !keepsSpace(token.name), let inner = next, inner.kind == .text,
                    inner.range.count <= MarkupLayout.shortText,
                    let closing = ahead, closing.kind == .closeTag, closing.name == token.name
                {
                    writer.add(tag(token) + [Span(bytes.words(inner.range))] + tag(closing), indent: indent)
                    next = reader.next()
                    ahead = next == nil ? nil : reader.next()
                } else {
                    writer.add(tag(token), indent: indent)
                    open.append(Open(name: token.name, line: writer.place - 1))
                }
            case .closeTag: close(token, &writer)
            case .comment: lines(token.range, .comment, &writer)
            case .declaration: lines(token.range, .keyword, &writer)
            case .characterData: lines(token.range, .string, &writer)
            case .rawText: raw(token, &writer)
            }
        }
        for unclosed in open { fold(unclosed, &writer) }
    }

    private var indent: Int { open.count * 2 }

    private mutating func close(_ token: MarkupReader.Token, _ writer: inout DetailWriter) {
        let searched = open.suffix(MarkupLayout.furthestOpen)
        guard let place = searched.lastIndex(where: { $0.name == token.name }) else {
            return writer.add(tag(token), indent: indent)
        }
        let closed = open[place...]
        open.removeSubrange(place...)
        writer.add(tag(token), indent: indent)
        for element in closed { fold(element, &writer) }
    }

    private func fold(_ element: Open, _ writer: inout DetailWriter) {
        writer.fold(from: element.line, "\((writer.place - element.line - 1).of("line"))")
    }

    private func text(_ range: Range<Int>, _ writer: inout DetailWriter) {
        if open.suffix(MarkupLayout.furthestOpen).contains(where: { keepsSpace($0.name) }) {
            return kept(range, &writer)
        }
        let words = bytes.words(range)
        if !words.isEmpty { writer.add(words, indent: indent) }
    }

    /// Whether white space within an element is kept.
    private func keepsSpace(_ name: String) -> Bool { isHTML && (name == "pre" || name == "textarea") }

    /// Adds the lines of a text with their spaces, without the line feed right after the tag (HTML §13.1.2.5).
    private func kept(_ range: Range<Int>, _ writer: inout DetailWriter) {
        var lines = bytes.lines(range)
        if lines.first?.isEmpty == true { lines.removeFirst() }
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines { writer.add(line, indent: indent) }
    }

    private func lines(_ range: Range<Int>, _ role: Role, _ writer: inout DetailWriter) {
        for line in bytes.lines(range) where !line.allSatisfy({ $0 == " " }) { writer.add(line, role, indent: indent) }
    }

    private func raw(_ token: MarkupReader.Token, _ writer: inout DetailWriter) {
        let content = Array(bytes[token.range])
        guard content.contains(where: { $0 > 0x20 }) else { return }
        writer.indented(indent) { writer in
            if token.name == "style" {
                StyleSheetLayout(content).write(into: &writer)
            } else if content.first(where: { $0 > 0x20 }) != UInt8(ascii: "{") || writer.json(content) != nil {
                ScriptLayout(content).write(into: &writer)
            }
        }
    }

    /// A tag in colours: name, attributes, values.
    private func tag(_ token: MarkupReader.Token) -> [Span] {
        let range = token.range
        var start = range.lowerBound + (token.kind == .closeTag ? 2 : 1)
        var end = range.upperBound
        if end > start, bytes[end - 1] == UInt8(ascii: ">") { end -= 1 }
        if token.kind == .emptyTag { end = max(start, end - 1) }
        var spans = [Span(token.kind == .closeTag ? "</" : "<", .punctuation)]
        let name = start
        start = bytes[name..<end].firstIndex(where: MarkupReader.endsName) ?? end
        spans.append(Span(text(name..<start), .tag))
        while start < end {
            while start < end, bytes[start] <= 0x20 || bytes[start] == UInt8(ascii: "/") { start += 1 }
            let attribute = start
            while start < end, bytes[start] > 0x20, bytes[start] != UInt8(ascii: "=") { start += 1 }
            if attribute < start { spans.append(Span(" " + text(attribute..<start), .attribute)) }
            guard start < end, bytes[start] == UInt8(ascii: "=") else { continue }
            start += 1
            let value = start
            if start < end, bytes[start] == UInt8(ascii: "\"") || bytes[start] == UInt8(ascii: "'") {
                let quote = bytes[start]
                start = min(end, (bytes[(start + 1)..<end].firstIndex(of: quote) ?? end) + 1)
            } else {
                while start < end, bytes[start] > 0x20 { start += 1 }
            }
            spans.append(Span("=", .punctuation))
            spans.append(Span(text(value..<start), .string))
        }
        spans.append(Span(token.kind == .emptyTag ? "/>" : ">", .punctuation))
        return spans
    }

    private func text(_ range: Range<Int>) -> String {
        if !bytes[range].contains(where: { $0 < 0x20 }) { return bytes.text(range) }
        return String(decoding: bytes[range].map { $0 == 0x0A || $0 == 0x0D || $0 == 0x09 ? 0x20 : $0 }, as: UTF8.self)
    }
}
