import Description
import Expressions

/// What to search for: a text in any case, or a regular expression.
package struct SoughtText: Sendable {
    private let expression: RegularExpression

    /// A text as it stands, in any case; `nil` for an empty one.
    init?(_ text: String) {
        guard !text.isEmpty,
            let expression = try? RegularExpression(text, isCaseSensitive: false, isLiteral: true)
        else { return nil }
        self.expression = expression
    }

    /// Reads what a user typed: `/expression/`, exact in case unless it says `(?i)`, or a text. An empty one is `nil`.
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

    /// Its places in a line, without overlaps.
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

/// The places in a line's spans of growing offsets in its text.
private struct LineMarks {
    private let counts: [Int]
    private var span = 0
    private var passed = 0

    init(_ spans: [Span]) { counts = spans.map(\.text.utf8.count) }

    /// Where a match begins: at a span's beginning rather than at the end of the one before.
    mutating func begin(_ offset: Int) -> TextMark { mark(offset, >=) }

    /// Where it ends: at a span's end rather than at the beginning of the next.
    mutating func end(_ offset: Int) -> TextMark { mark(offset, >) }

    private mutating func mark(_ offset: Int, _ isBehind: (Int, Int) -> Bool) -> TextMark {
        while span < counts.count - 1, isBehind(offset - passed, counts[span]) {
            passed += counts[span]
            span += 1
        }
        return TextMark(span: span, offset: offset - passed)
    }
}
