/// What stands before a field in a line of a text that shows a head: the marks of `curl -v` and of logs.
extension FieldScanner {
    /// Marks of a line's kind, with a space behind them; also as JSON and HTML escape them.
    private static let lineMarks: [StaticString] = [
        ">", "<", "*", "|", "\\u003e", "\\u003c", "\\u003E", "\\u003C", "&gt;", "&lt;",
    ]
    private static let longestPrefix = 96
    private static let quote = UInt8(ascii: "\"")
    private static let shortestTime = "11:08:41".utf8.count

    /// Where the marks and blanks begin that stand before a place: `> `, `| < `.
    func beforeLineMarks(_ place: Int) -> Int {
        var start = place
        while true {
            var end = start
            while end > 0, isBlank(bytes[end - 1]) { end -= 1 }
            // Marks may stand side by side, but a space is between them and the field.
            guard end < start || start < place,
                let mark = FieldScanner.lineMarks.first(where: { has($0, endingAt: end) })
            else {
                return start
            }
            start = end - mark.utf8CodeUnitCount
        }
    }

    /// The line that has before a field what a log has there: a moment, marks and words, or the name of a program and a bar; and
    /// whether words stand behind the moment. `nil` for others.
    func logLine(before name: Int) -> (line: Line, hasWords: Bool)? {
        guard name > 0, isBlank(bytes[name - 1]) else { return nil }
        let least = max(0, name - FieldScanner.longestPrefix)
        var start = name
        while start > least, !isLineEnd(start - 1), !has("\\n", endingAt: start), bytes[start - 1] != FieldScanner.quote
        {
            start -= 1
        }
        guard let line = beginningLine(at: start) else { return nil }
        let marks = beforeLineMarks(name)
        var end = marks
        while end > start, isBlank(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: "]") { end -= 1 }
        if var place = time(in: start..<end)?.upperBound {
            // `11:08:41.123Z`, with an offset too.
            while place < end, bytes[place] &- 0x30 < 10 || ".,+:Z-".utf8.contains(bytes[place]) { place += 1 }
            return (line, place < end && marks == name)
        }
        if isOffset(start..<end) { return (line, false) }
        guard marks < name, bytes[marks] == UInt8(ascii: "|") else { return nil }
        let isProgram = (start..<end).allSatisfy { isOfName(bytes[$0], Quote.none) }
        return isProgram ? (line, false) : nil
    }

    /// The line that begins at a place, in a string behind its quote, too.
    private func beginningLine(at place: Int) -> Line? {
        guard place > 0, bytes[place - 1] == FieldScanner.quote else { return lineStart(place) }
        return .inString(backslashes: backslashes(before: place - 1, from: 0) + 1)
    }

    /// Whether a value behind the marks of a line is words: secrets of most kinds have no spaces.
    func isProse(_ value: Range<Int>, _ kind: SecretKind) -> Bool {
        guard kind != .credential, kind != .cookie, kind != .named else { return false }
        let last = bytes[value].lastIndex { $0 > 0x20 } ?? value.lowerBound
        let end = CredentialScheme.end(in: bytes, value)
        return end < last && bytes[end..<last].contains(0x20)
    }

    /// `0010:`, as `curl --trace-ascii` begins its lines.
    private func isOffset(_ range: Range<Int>) -> Bool {
        range.count == 5 && bytes[range.lowerBound + 4] == UInt8(ascii: ":")
            && bytes[range].prefix(4).allSatisfy(ValueShape.isHexadecimal)
    }

    /// Where hours, minutes and seconds stand, `11:08:41`.
    private func time(in range: Range<Int>) -> Range<Int>? {
        var place = range.lowerBound
        while place + FieldScanner.shortestTime <= range.upperBound {
            if isTime(place) { return place..<place + FieldScanner.shortestTime }
            place += 1
        }
        return nil
    }

    private func isTime(_ place: Int) -> Bool {
        for offset in 0..<FieldScanner.shortestTime {
            let byte = bytes[place + offset]
            guard offset % 3 == 2 ? byte == UInt8(ascii: ":") : byte &- 0x30 < 10 else { return false }
        }
        return true
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
