import Sharing

/// A text to search for, in any case.
struct SoughtText: Sendable {
    private let wanted: [UInt8]

    init?(_ text: String) {
        wanted = SoughtText.lowered(Array(text.utf8)).bytes
        guard !wanted.isEmpty else { return nil }
    }

    func isIn(_ spans: [Span]) -> Bool { first(in: SoughtText.lowered(bytes(of: spans)).bytes, from: 0) != nil }

    /// Where it begins in a line, without overlaps.
    func marks(in spans: [Span]) -> [TextMark] {
        let (line, offsets) = SoughtText.lowered(bytes(of: spans))
        var marks: [TextMark] = []
        var mark = TextMark(span: 0, offset: 0)
        var passed = 0
        var from = 0
        while let found = first(in: line, from: from) {
            let offset = offsets?[found] ?? found
            while mark.span < spans.count - 1, offset - passed >= spans[mark.span].text.utf8.count {
                passed += spans[mark.span].text.utf8.count
                mark.span += 1
            }
            mark.offset = offset - passed
            marks.append(mark)
            from = found + wanted.count
        }
        return marks
    }

    func begins(in part: Range<TextMark>, of spans: [Span]) -> Bool {
        var own: [UInt8] = []
        var span = part.lowerBound.span
        while span < spans.count, span <= part.upperBound.span {
            let text = spans[span].text.utf8
            let start = span == part.lowerBound.span ? part.lowerBound.offset : 0
            let end = span == part.upperBound.span ? part.upperBound.offset : text.count
            own += text.dropFirst(start).prefix(end - start)
            span += 1
        }
        let count = own.count
        // It may go on after the part; in lower case a character may have another length.
        var left = 4 * wanted.count
        var rest = part.upperBound
        while left > 0, rest.span < spans.count {
            let more = spans[rest.span].text.utf8.dropFirst(rest.offset).prefix(left)
            own += more
            left -= more.count
            rest = TextMark(span: rest.span + 1, offset: 0)
        }
        let (line, offsets) = SoughtText.lowered(own)
        return first(in: line, from: 0).map { (offsets?[$0] ?? $0) < count } ?? false
    }

    private func bytes(of spans: [Span]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(spans.reduce(0) { $0 + $1.text.utf8.count })
        for span in spans { bytes.append(contentsOf: span.text.utf8) }
        return bytes
    }

    private func first(in line: [UInt8], from: Int) -> Int? {
        guard line.count - from >= wanted.count else { return nil }
        for start in from...(line.count - wanted.count) where line[start] == wanted[0] {
            var length = 1
            while length < wanted.count, line[start + length] == wanted[length] { length += 1 }
            if length == wanted.count { return start }
        }
        return nil
    }

    /// A text in lower case, and the offset in the text of each of its bytes; `nil` where the offsets are equal.
    private static func lowered(_ text: [UInt8]) -> (bytes: [UInt8], offsets: [Int]?) {
        guard text.contains(where: { $0 >= 0x80 }) else {
            return (text.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, nil)
        }
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

extension DetailDocument {
    /// The lines that contain a text, by growing index.
    func matches(of text: String) -> [Int] {
        guard let sought = SoughtText(text) else { return [] }
        return lines.indices.filter { sought.isIn(lines[$0].spans) }
    }

    func places(of sought: SoughtText) -> [(line: Int, mark: TextMark)] {
        lines.indices.flatMap { line in sought.marks(in: lines[line].spans).map { (line, $0) } }
    }
}
