import Description
import Expressions

/// What to search for: a text in any case, or a regular expression.
package struct SoughtText: Sendable {
    private enum Kind: Sendable {
        case text([UInt8])
        case expression(RegularExpression)
    }

    private let kind: Kind

    /// A text to search for as it stands; `nil` for an empty one.
    init?(_ text: String) {
        let wanted = SoughtText.lowered(Array(text.utf8)).bytes
        guard !wanted.isEmpty else { return nil }
        kind = .text(wanted)
    }

    /// Reads what a user typed: `/expression/`, exact in case unless it says `(?i)`, or a text. An empty one is `nil`.
    ///
    /// - Throws: what is wrong with the expression, and at which character.
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

    private init(expression: RegularExpression) { kind = .expression(expression) }

    /// Where it is in a line, without overlaps.
    ///
    /// - Throws: if an expression takes more work than is allowed.
    func ranges(in spans: [Span]) throws(RegularExpression.MatchLimitError) -> [Range<TextMark>] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(spans.reduce(0) { $0 + $1.text.utf8.count })
        for span in spans { bytes.append(contentsOf: span.text.utf8) }
        let found = try ranges(in: bytes)
        guard !found.isEmpty else { return [] }
        var marks = LineMarks(spans)
        return found.map { marks.begin($0.lowerBound)..<marks.end($0.upperBound) }
    }

    private func ranges(in line: [UInt8]) throws(RegularExpression.MatchLimitError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        switch kind {
        case .expression(let expression):
            try line.withUnsafeBufferPointer { bytes throws(RegularExpression.MatchLimitError) in
                try expression.forEachMatch(in: UnsafeRawBufferPointer(bytes)) { match in
                    if !match.whole.isEmpty { ranges.append(match.whole) }
                    return true
                }
            }
        case .text(let wanted):
            let (lowered, offsets) = SoughtText.lowered(line)
            var from = 0
            while let found = SoughtText.first(wanted, in: lowered, from: from) {
                from = found + wanted.count
                var end = from
                // In lower case a character may have more bytes.
                if let offsets { while end < offsets.count, offsets[end] == offsets[end - 1] { end += 1 } }
                let (start, last) = (offsets?[found] ?? found, offsets.map { end < $0.count ? $0[end] : line.count })
                ranges.append(start..<(last ?? end))
            }
        }
        return ranges
    }

    private static func first(_ wanted: [UInt8], in line: [UInt8], from: Int) -> Int? {
        guard line.count - from >= wanted.count else { return nil }
        for start in from...(line.count - wanted.count) where line[start] == wanted[0] {
            var length = 1
            while length < wanted.count, line[start + length] == wanted[length] { length += 1 }
            if length == wanted.count { return start }
        }
        return nil
    }

    /// A text in lower case, and the offset in the text of each of its bytes; `nil` if the offsets are equal.
    private static func lowered(_ text: [UInt8]) -> (bytes: [UInt8], offsets: [Int]?) {
        guard text.contains(where: { $0 >= 0x80 }) else { return (text.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, nil) }
        var bytes: [UInt8] = []
        var offsets: [Int] = []
        bytes.reserveCapacity(text.count)
        offsets.reserveCapacity(text.count)
        var offset = 0
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            for byte in scalar.properties.lowercaseMapping.utf8 {
                bytes.append(byte)
                offsets.append(offset)
            }
            offset += UTF8.width(scalar)
        }
        return (bytes, offsets)
    }
}

/// The places in a line's spans of growing offsets in its text.
private struct LineMarks {
    private let counts: [Int]
    private var span = 0
    private var passed = 0

    init(_ spans: [Span]) { counts = spans.map(\.text.utf8.count) }

    /// Where a match begins: at a span's beginning rather than at the end of the one before.
    mutating func begin(_ offset: Int) -> TextMark {
        while span < counts.count - 1, offset - passed >= counts[span] {
            passed += counts[span]
            span += 1
        }
        return TextMark(span: span, offset: offset - passed)
    }

    /// Where it ends: at a span's end rather than at the beginning of the next.
    mutating func end(_ offset: Int) -> TextMark {
        while span < counts.count - 1, offset - passed > counts[span] {
            passed += counts[span]
            span += 1
        }
        return TextMark(span: span, offset: offset - passed)
    }
}
