import Text

/// A profile's text as bytes; converts the parser's lines and columns to offsets.
struct SourceText {
    let bytes: [UInt8]
    /// The line break of this file.
    let newline: String
    /// Where each line begins, as the parser counts them.
    private let lines: [Int]

    init(_ text: String) {
        let bytes = Array(text.utf8)
        self.bytes = bytes
        // The parser does not get a byte order mark.
        var lines = [bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0]
        var position = 0
        while position < bytes.count {
            let width = SourceText.breakWidth(bytes, position)
            position += max(width, 1)
            if width > 0 { lines.append(position) }
        }
        self.lines = lines
        newline = bytes.firstIndex(of: 0x0A).map { $0 > 0 && bytes[$0 - 1] == 0x0D } == true ? "\r\n" : "\n"
    }

    /// The size in bytes of the line break at a position, 0 if no line break is there (YAML 1.1 §4.1.4).
    private static func breakWidth(_ bytes: [UInt8], _ position: Int) -> Int {
        func byte(_ offset: Int) -> UInt8? { position + offset < bytes.count ? bytes[position + offset] : nil }
        switch bytes[position] {
        case 0x0A: return 1
        case 0x0D: return byte(1) == 0x0A ? 2 : 1
        case 0xC2: return byte(1) == 0x85 ? 2 : 0
        case 0xE2: return byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9) ? 3 : 0
        default: return 0
        }
    }

    /// The byte at a position; 0 at the end.
    subscript(_ position: Int) -> UInt8 { bytes.indices.contains(position) ? bytes[position] : 0 }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The position of a line and column, both from 1.
    func offset(line: Int, column: Int) -> Int {
        guard lines.indices.contains(line - 1) else { return bytes.count }
        var position = lines[line - 1]
        var left = column - 1
        while left > 0, position < bytes.count {
            position += 1
            while position < bytes.count, bytes[position] & 0xC0 == 0x80 { position += 1 }
            left -= 1
        }
        return position
    }

    /// The number, from 0, of the line that has a position.
    func line(of position: Int) -> Int { max(0, lines.partitioningIndex { $0 <= position } - 1) }

    func lineStart(_ position: Int) -> Int { lines[line(of: position)] }

    /// The beginning of the line after the line with a position; the end of the text after the last line.
    func nextLine(_ position: Int) -> Int {
        let line = line(of: position)
        return line + 1 < lines.count ? lines[line + 1] : bytes.count
    }

    /// The end of the line with a position, before its line break.
    func lineEnd(_ position: Int) -> Int {
        var end = position
        while end < bytes.count, SourceText.breakWidth(bytes, end) == 0 { end += 1 }
        return end
    }

    /// The number of characters before a position in its line.
    func column(of position: Int) -> Int { bytes[lineStart(position)..<position].count { $0 & 0xC0 != 0x80 } }

    /// Whether there are only blanks before a position in its line.
    func isFirstInLine(_ position: Int) -> Bool {
        bytes[lineStart(position)..<position].allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    enum LineKind: Equatable {
        case blank
        /// A comment and nothing else, at this column from 0.
        case comment(column: Int)
        case content
    }

    func kind(ofLineAt start: Int) -> LineKind {
        var position = start
        while self[position] == 0x20 || self[position] == 0x09 { position += 1 }
        if position >= bytes.count || SourceText.breakWidth(bytes, position) > 0 { return .blank }
        return self[position] == UInt8(ascii: "#") ? .comment(column: position - start) : .content
    }

    /// The beginning of the comment lines directly above a line and at a column; otherwise the line itself.
    func commentsAbove(_ start: Int, column: Int, notBefore limit: Int) -> Int {
        var start = start
        while start > limit, start > lines[0] {
            let above = lineStart(start - 1)
            guard above >= limit, kind(ofLineAt: above) == .comment(column: column) else { break }
            start = above
        }
        return start
    }

    /// The end of the comment lines directly below a line that are indented deeper than a column.
    func commentsBelow(_ end: Int, deeperThan column: Int) -> Int {
        var end = end
        while end < bytes.count, end == lineStart(end), case .comment(let own) = kind(ofLineAt: end), own > column {
            end = nextLine(end)
        }
        return end
    }

    /// The next position that is not a blank, not a line break, and not in a comment.
    func skipBlank(_ start: Int) -> Int {
        var position = start
        while position < bytes.count {
            let width = SourceText.breakWidth(bytes, position)
            if width > 0 || bytes[position] == 0x20 || bytes[position] == 0x09 {
                position += max(width, 1)
            } else if bytes[position] == UInt8(ascii: "#") {
                position = lineEnd(position)
            } else {
                break
            }
        }
        return position
    }

    /// The comments in a range without content; `isTrailing` if a comment follows content on its line.
    func comments(_ range: Range<Int>) -> [(text: String, isTrailing: Bool)] {
        var found: [(String, Bool)] = []
        var position = range.lowerBound
        var isTrailing = true
        while position < range.upperBound {
            if SourceText.breakWidth(bytes, position) > 0 { isTrailing = false }
            guard bytes[position] == UInt8(ascii: "#") else {
                position += 1
                continue
            }
            let end = min(lineEnd(position), range.upperBound)
            var text = text(position..<end)
            while text.last == " " || text.last == "\t" { text.removeLast() }
            found.append((text, isTrailing))
            position = end
        }
        return found
    }
}
