import HTTPModel
import Text

/// Formats a style sheet: one declaration per line, with colours and folds.
struct StyleSheetLayout {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func write(into writer: inout DetailWriter) {
        var open: [Int] = []
        var start = 0
        var place = 0
        var parentheses = 0
        func indent() -> Int { open.count * 2 }
        while place < bytes.count, writer.takesMore() {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "/") where place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "*"):
                statement(start..<place, "", indent(), &writer)
                let end = bytes.end(of: "*/", from: place + 2)
                comment(place..<end, indent(), &writer)
                place = end
                start = end
                continue
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                place = bytes.endOfString(at: place)
                continue
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: ")"): parentheses = max(0, parentheses - 1)
            case UInt8(ascii: ";") where parentheses == 0:
                statement(start..<place, ";", indent(), &writer)
                start = place + 1
            case UInt8(ascii: "{"):
                selector(start..<place, indent(), &writer)
                open.append(writer.place - 1)
                start = place + 1
                parentheses = 0
            case UInt8(ascii: "}"):
                statement(start..<place, "", indent(), &writer)
                let line = open.popLast()
                writer.add("}", .punctuation, indent: indent())
                if let line { writer.fold(from: line, "{ \((writer.place - line - 2).of("line")) }") }
                start = place + 1
                parentheses = 0
            default: break
            }
            place += 1
        }
        statement(min(start, bytes.count)..<bytes.count, "", indent(), &writer)
        for line in open { writer.fold(from: line, "{ \((writer.place - line - 1).of("line"))") }
    }

    private func selector(_ range: Range<Int>, _ indent: Int, _ writer: inout DetailWriter) {
        let words = bytes.words(range)
        let role: Role = words.hasPrefix("@") ? .keyword : .tag
        writer.add([Span(words.isEmpty ? "" : words + " ", role), Span("{", .punctuation)], indent: indent)
    }

    private func statement(_ range: Range<Int>, _ end: String, _ indent: Int, _ writer: inout DetailWriter) {
        let words = bytes.words(range)
        guard !words.isEmpty else { return }
        var spans = [Span(words, words.hasPrefix("@") ? .keyword : .text)]
        if let colon = words.firstIndex(of: ":"), !words.hasPrefix("@") {
            let value = words[words.index(after: colon)...].drop { $0 == " " }
            spans = [Span(String(words[..<colon]), .attribute), Span(": ", .punctuation), Span(String(value), .string)]
        }
        writer.add(spans + [Span(end, .punctuation)], indent: indent)
    }

    private func comment(_ range: Range<Int>, _ indent: Int, _ writer: inout DetailWriter) {
        for line in bytes[range].split(separator: 0x0A) {
            let text = String(decoding: line, as: UTF8.self)
            writer.add(VisibleText.expandingTabs(text.drop { $0 == " " || $0 == "\t" }), .comment, indent: indent)
        }
    }
}
