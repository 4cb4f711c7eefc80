import Description
import Expressions

/// A search pattern: literal text, ignoring case, or a regular expression.
package struct SoughtText: Sendable {
    private let expression: RegularExpression

    /// Literal text, ignoring case; `nil` if the text is empty.
    init?(_ text: String) {
        guard !text.isEmpty,
            let expression = try? RegularExpression(text, isCaseSensitive: false, isLiteral: true)
        else { return nil }
        self.expression = expression
    }

    /// Reads user input: a regular expression between slashes, case-sensitive without `(?i)`, or text; `nil` if empty.
    static func reading(_ typed: String) throws -> SoughtText? {
        guard typed.count > 2, typed.hasPrefix("/"), typed.hasSuffix("/") else { return SoughtText(typed) }
        let pattern = String(typed.dropFirst().dropLast())
        do {
            return SoughtText(expression: try RegularExpression(pattern, isCaseSensitive: true))
        } catch {
            let before = String(decoding: Array(pattern.utf8).prefix(error.offset), as: UTF8.self)
            throw ConsoleError("character \(before.count + 2) of the expression: \(error.message)")
        }
    }

    private init(expression: RegularExpression) { self.expression = expression }

    /// The matches in a line, without overlaps.
    func ranges(in spans: [Span]) throws(RegularExpression.MatchLimitError) -> [Range<TextMark>] {
        var marks = LineMarks(spans)
        var ranges: [Range<TextMark>] = []
        try expression.forEachMatch(in: spans.map(\.text).joined()) { match, _ in
            let whole = match.whole
            if !whole.isEmpty { ranges.append(marks.begin(whole.lowerBound)..<marks.end(whole.upperBound)) }
            return true
        }
        return ranges
    }
}

/// Converts growing offsets in a line's text to positions in its spans.
private struct LineMarks {
    private let counts: [Int]
    private var span = 0
    private var passed = 0

    init(_ spans: [Span]) { counts = spans.map(\.text.utf8.count) }

    /// The start of a match: at the beginning of a span, not at the end of the previous span.
    mutating func begin(_ offset: Int) -> TextMark { mark(offset, >=) }

    /// The end of a match: at the end of a span, not at the beginning of the next span.
    mutating func end(_ offset: Int) -> TextMark { mark(offset, >) }

    private mutating func mark(_ offset: Int, _ isBehind: (Int, Int) -> Bool) -> TextMark {
        while span < counts.count - 1, isBehind(offset - passed, counts[span]) {
            passed += counts[span]
            span += 1
        }
        return TextMark(span: span, offset: offset - passed)
    }
}
