import HTTPModel
import Text

/// A script with colours and folds; a minified script gets line breaks.
struct ScriptLayout {
    /// A script that has a longer line counts as minified.
    private static let longestLine = 500
    /// A script of one line gets line breaks if it is longer.
    private static let shortLine = 36

    private let bytes: [UInt8]
    private let language: ScriptReader.Language

    init(_ bytes: [UInt8], language: ScriptReader.Language = .script) {
        self.bytes = bytes
        self.language = language
    }

    func write(into writer: inout DetailWriter) {
        let rows = bytes.split(separator: 0x0A)
        // A script of one line that is not short is probably minified, too.
        let isOneLine = rows.count == 1 && bytes.count > ScriptLayout.shortLine
        let isDense = isOneLine || rows.contains { $0.count > ScriptLayout.longestLine }
        var lines = ScriptLines(bytes, isDense: isDense, hasFields: language == .graphQL)
        var reader = ScriptReader(bytes, language)
        while let token = reader.next(), writer.takesMore() { lines.add(token, &writer) }
        lines.finish(&writer)
    }
}

private struct ScriptLines {
    /// The length, in bytes, from which on a minified line ends at the next comma.
    private static let comfortableLine = 100

    private let bytes: [UInt8]
    /// Whether the script has no useful line breaks of its own.
    private let isDense: Bool
    private var spans: [Span] = []
    private var length = 0
    /// The lines with opening braces that are not closed yet.
    private var braces: [Int] = []
    /// How many parentheses and brackets are open within each brace.
    private var groups = [0]
    /// Whether the line ends here, unless the next token belongs to it.
    private var wantsBreak = false
    /// Braces that the current line closes: the line that opens them, and this line.
    private var closing: [(open: Int, close: Int)] = []
    /// Finds where fields begin within braces; `nil` except for GraphQL.
    private var fields: FieldBoundary?

    init(_ bytes: [UInt8], isDense: Bool, hasFields: Bool) {
        self.bytes = bytes
        self.isDense = isDense
        fields = hasFields ? FieldBoundary() : nil
    }

    mutating func add(_ token: ScriptReader.Token, _ writer: inout DetailWriter) {
        let beginsField = fields?.takes(token, bytes) ?? false
        if beginsField, isDense, !braces.isEmpty, groups[groups.count - 1] <= 0 { end(&writer) }
        switch token.kind {
        case .lineBreak where !isDense: end(&writer, keepsEmpty: true)
        case .space where !isDense:
            append(VisibleText.expandingTabs(bytes.text(token.range).filter { $0 != "\r" }), .text)
        case .lineBreak, .space: if let last = spans.last, last.text != " " { append(" ", .text) }
        case .sign: sign(token, &writer)
        default:
            if wantsBreak { end(&writer) }
            pieces(token, &writer)
            if isDense, token.kind == .comment { end(&writer) }
        }
    }

    mutating func finish(_ writer: inout DetailWriter) {
        end(&writer, isLast: true)
        for brace in braces { writer.fold(from: brace, "{ … }") }
    }

    private mutating func sign(_ token: ScriptReader.Token, _ writer: inout DetailWriter) {
        let byte = bytes[token.range.lowerBound]
        if wantsBreak, !";,)].".utf8.contains(byte) { end(&writer) }
        wantsBreak = false
        switch byte {
        case UInt8(ascii: "{"):
            append("{", .punctuation)
            if isDense { end(&writer) }
            // The block begins on the line of its brace.
            braces.append(isDense ? writer.place - 1 : writer.place)
            groups.append(0)
        case UInt8(ascii: "}"):
            if isDense { end(&writer) }
            let isFirst = spans.allSatisfy { span in span.text.allSatisfy { $0 == " " } }
            let brace = braces.popLast()
            if groups.count > 1 { groups.removeLast() }
            append("}", .punctuation)
            if let brace, isFirst || isDense { closing.append((brace, writer.place)) }
            wantsBreak = isDense
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: ")"), UInt8(ascii: "]"):
            groups[groups.count - 1] += "([".utf8.contains(byte) ? 1 : -1
            append(bytes.text(token.range), .punctuation)
        default:
            append(bytes.text(token.range), .punctuation)
            let isLong = length > ScriptLines.comfortableLine
            let isEnd = byte == UInt8(ascii: ";") ? groups[groups.count - 1] <= 0 : byte == UInt8(ascii: ",") && isLong
            if isDense, isEnd { end(&writer) }
        }
    }

    private mutating func end(_ writer: inout DetailWriter, keepsEmpty: Bool = false, isLast: Bool = false) {
        let isDense = isDense || isLast
        wantsBreak = false
        if isDense, let last = spans.last, last.text.last == " " {
            spans.removeLast()
            if last.text != " " { spans.append(Span(String(last.text.dropLast()), last.role)) }
        }
        let line = writer.place
        if !spans.isEmpty || keepsEmpty { writer.add(spans, indent: isDense ? braces.count * 2 : 0) }
        for brace in closing where brace.close == line && brace.open < line {
            writer.fold(from: brace.open, "{ \((line - brace.open - 1).of("line")) }")
        }
        closing.removeAll()
        spans = []
        length = 0
    }

    private mutating func pieces(_ token: ScriptReader.Token, _ writer: inout DetailWriter) {
        let role: Role =
            switch token.kind {
            case .keyword: .keyword
            case .literal: .literal
            case .number: .number
            case .string, .expression: .string
            case .comment: .comment
            case .word, .sign, .space, .lineBreak: .text
            }
        guard bytes[token.range].contains(where: { $0 < 0x20 }) else { return append(bytes.text(token.range), role) }
        for (index, line) in bytes.lines(token.range).enumerated() {
            if index > 0 { end(&writer, keepsEmpty: !isDense) }
            append(line, role)
        }
    }

    private mutating func append(_ text: String, _ role: Role) {
        guard !text.isEmpty else { return }
        length += text.utf8.count
        if let last = spans.last, last.role == role {
            spans[spans.count - 1].text += text
        } else {
            spans.append(Span(text, role))
        }
    }
}

/// Finds where the next field of a GraphQL selection begins: only white space separates fields (GraphQL, section 2.4).
private struct FieldBoundary {
    /// Whether the last token needs a continuation: a colon, an opening bracket, the dots of a spread, and the like.
    private var isOpen = true
    /// Whether the last token is a spread (`...`), to which an `on` and a type may belong.
    private var isSpread = false

    /// Takes a token; returns whether a field, or a spread, begins with it.
    mutating func takes(_ token: ScriptReader.Token, _ bytes: [UInt8]) -> Bool {
        switch token.kind {
        case .space, .lineBreak, .comment: return false
        case .sign:
            let sign = bytes[token.range.lowerBound]
            let isDot = sign == UInt8(ascii: ".")
            defer {
                isOpen = ":=|&{([.".utf8.contains(sign)
                isSpread = isDot
            }
            return isDot && !isSpread && !isOpen
        case .word, .keyword, .literal, .number, .string, .expression:
            // A directive belongs to the field before it.
            let isDirective = bytes[token.range.lowerBound] == UInt8(ascii: "@")
            let isType = isSpread && bytes[token.range].elementsEqual("on".utf8)
            defer { (isOpen, isSpread) = (isType, false) }
            return !isOpen && !isDirective
        }
    }
}
