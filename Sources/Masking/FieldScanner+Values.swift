/// Where values begin and end.
extension FieldScanner {
    struct Value {
        var range: Range<Int>
        /// What it stands in.
        var quote = Quote.none
        var isNumber = false
        /// Whether it is an array, whose end is not looked for yet.
        var isArray = false
        /// Whether it stands after an equals sign without quotes.
        var isBare = false
    }

    /// What a number of JSON may have beside digits (RFC 8259 §6).
    static let numberSigns = Array("+-.eE".utf8)

    /// Where a value without quotes ends, and where it does as a sentence has it.
    struct BareEnd {
        let start: Int
        let end: Int
        let sentenceEnd: Int
    }

    /// A value that begins within the last one ends with it: each byte is read once, however many names stand in a value.
    private mutating func bareEnd(from start: Int, isEncoded: Bool, most: Int) -> BareEnd {
        if let last = bareEnds[isEncoded], last.start <= start, start <= last.end {
            guard last.end - start > most else { return last }
            return BareEnd(start: start, end: start + most, sentenceEnd: start + most)
        }
        var end = start
        while end < bytes.count, end - start < most, !endsBareValue(end, isEncoded: isEncoded) { end += 1 }
        var sentenceEnd = end
        while sentenceEnd > start, ".,!".utf8.contains(bytes[sentenceEnd - 1]) { sentenceEnd -= 1 }
        let bare = BareEnd(start: start, end: end, sentenceEnd: sentenceEnd)
        if end - start < most { bareEnds[isEncoded] = bare }
        return bare
    }

    mutating func value(
        after separator: Int,
        _ length: Int,
        _ nameQuote: Quote,
        _ name: Range<Int>,
        _ kind: SecretKind,
        most: Int = .max
    ) -> Value? {
        var start = separator + length
        let isColon =
            bytes[separator] == UInt8(ascii: ":")
            || length > 1 && bytes[separator + length - 1] | 0x20 == UInt8(ascii: "a")
        let isMember = isColon && isQuoted(nameQuote)
        if syntax != .form || isMember { start = afterBlanks(start, acrossLines: isMember) }
        if !isColon, syntax == .markup, start < bytes.count, isLineEnd(start) {
            // An attribute has its value in quotes there (XML 1.0 §2.3).
            let next = afterBlanks(start, acrossLines: true)
            if openingQuote(at: next) != nil { start = next }
        }
        if isColon, syntax == .form || length > 1 { start = afterFormSpaces(start) }
        guard start < bytes.count else { return nil }
        if let (content, quote) = openingQuote(at: start) {
            return Value(range: content..<end(of: quote, from: content), quote: quote)
        }
        if isColon, bytes[start] == UInt8(ascii: "["), isQuoted(nameQuote),
            kind != .cookie || openingQuote(at: afterBlanks(start + 1, acrossLines: true)) != nil
        {
            return Value(range: start + 1..<bytes.count, isArray: true)
        }
        if isColon {
            if isQuoted(nameQuote) {
                guard kind.isNumeric else { return nil }
                // Two digits are no PIN; under a name of the profile every number is meant, -17.5 too.
                let (isNamed, start) = (kind == .named, start)
                var end = start
                while end < bytes.count,
                    bytes[end] &- 0x30 < 10 || isNamed && FieldScanner.numberSigns.contains(bytes[end])
                {
                    end += 1
                }
                return end - start >= (isNamed ? 1 : 3) ? Value(range: start..<end, isNumber: true) : nil
            }
            // A line as a head has them; in a sentence a colon means nothing.
            guard syntax != .script, syntax != .field else { return nil }
            if let range = quotedLine(name, start, kind) { return Value(range: range) }
            guard let line = lineStart(name.lowerBound) else { return nil }
            let end = lineEnd(from: start, line)
            return Value(range: start..<end, quote: line.quote)
        }
        guard syntax != .script || isParameter(name) && !has("&&", endingAt: name.lowerBound) else { return nil }
        let bare = bareEnd(from: start, isEncoded: length > 1, most: most)
        var end = bare.end
        // Authorization=Bearer …
        if kind == .credential, end + 1 < bytes.count, bytes[end] == 0x20, CredentialScheme.isOne(bytes[start..<end]) {
            end += 1
            while end < bytes.count, !endsBareValue(end, isEncoded: length > 1) { end += 1 }
        }
        // A sentence ends behind a URL, and so may a part of one.
        if syntax == .text, kind != .password, kind != .named, isParameter(name), end < bytes.count {
            end = max(start, min(end, bare.sentenceEnd))
        }
        // In a script a query is in a string.
        if syntax == .script, end == bytes.count || !"\"'`&#\\ ".utf8.contains(bytes[end]) { return nil }
        return Value(range: start..<end, isBare: true)
    }

    /// Where the spaces and tabs from a place on end, and the ends of lines among them where those count for nothing.
    func afterBlanks(_ place: Int, acrossLines: Bool) -> Int {
        var place = place
        while place < bytes.count,
            bytes[place] == 0x20 || bytes[place] == 0x09 || acrossLines && isLineEnd(place)
        {
            place += 1
        }
        return place
    }

    /// Where the blanks before a separator begin. Nothing reads them again, so they may be many.
    func beforeBlanks(_ separator: Int) -> Int {
        var end = separator
        while end > 0, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        if syntax == .form || bytes[separator] == UInt8(ascii: "%") { end = beforeFormSpaces(end) }
        guard end > 0, isLineEnd(end - 1) else { return end }
        // Of JSON and of an attribute the line may end there (RFC 8259 §2, XML 1.0 §2.3).
        var line = end
        while line > 0, bytes[line - 1] == 0x20 || bytes[line - 1] == 0x09 || isLineEnd(line - 1) { line -= 1 }
        guard line > 0 else { return end }
        let isAttribute = syntax == .markup && bytes[separator] == UInt8(ascii: "=")
        return isAttribute || bytes[line - 1] == UInt8(ascii: "\"") ? line : end
    }

    /// Where the spaces begin that a form has before a place.
    private func beforeFormSpaces(_ place: Int) -> Int {
        var place = place
        while place > 0 {
            if bytes[place - 1] == UInt8(ascii: "+") {
                place -= 1
            } else if FieldScanner.formSpaces.contains(where: { has($0, endingAt: place) }) {
                place -= 3
            } else {
                break
            }
        }
        return place
    }

    private static let formSpaces: [StaticString] = ["%20", "%0A", "%0a", "%0D", "%0d", "%09"]

    /// Where a value begins in JSON that is in a form: after spaces as a form has them.
    func afterFormSpaces(_ place: Int) -> Int {
        var place = place
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "+") {
                place += 1
            } else if FieldScanner.formSpaces.contains(where: { has($0, endingAt: place + 3) }) {
                place += 3
            } else {
                break
            }
        }
        return place
    }

    func isQuoted(_ quote: Quote) -> Bool { if case .none = quote { false } else { true } }

    func isLineEnd(_ place: Int) -> Bool { bytes[place] == 0x0A || bytes[place] == 0x0D }

    /// What a line stands in.
    enum Line {
        case plain
        /// A JSON string, where a line ends with `\\n`; or one in another, where it has more backslashes.
        case inString(backslashes: Int)

        var quote: Quote {
            guard case .inString(let backslashes) = self else { return .none }
            return .plain(UInt8(ascii: "\""), backslashes: backslashes - 1)
        }
    }

    /// The line that begins at a place, or with spaces before it; `nil` where none does.
    private func lineStart(_ place: Int) -> Line? {
        var place = place
        while place > 0, bytes[place - 1] == 0x20 || bytes[place - 1] == 0x09 || bytes[place - 1] == UInt8(ascii: "-") {
            place -= 1
        }
        if place == 0 || isLineEnd(place - 1) { return .plain }
        guard has("\\n", endingAt: place) else { return nil }
        var backslashes = 1
        while place - 2 - backslashes >= 0, bytes[place - 2 - backslashes] == UInt8(ascii: "\\") { backslashes += 1 }
        return .inString(backslashes: backslashes)
    }

    /// Where a line ends that has a value from a place on: in a string at the latest with it.
    private func lineEnd(from start: Int, _ line: Line) -> Int {
        var place = start
        while place < bytes.count, !isLineEnd(place) {
            guard case .inString(let backslashes) = line else {
                place += 1
                continue
            }
            var next = place
            while next < bytes.count, bytes[next] == UInt8(ascii: "\\") { next += 1 }
            guard next < bytes.count else { return next }
            // The string's own quote has one backslash fewer than its ends of lines.
            if bytes[next] == UInt8(ascii: "\""), next - place < backslashes { return place }
            if next > place, next - place <= backslashes, "nr".utf8.contains(bytes[next]) { return place }
            place = next + (isLineEnd(next) ? 0 : 1)
        }
        return place
    }

    func endsBareValue(_ place: Int, isEncoded: Bool) -> Bool {
        switch bytes[place] {
        case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: "#"): return true
        case UInt8(ascii: "`") where syntax == .script: return true
        case UInt8(ascii: "%") where isEncoded:
            return ["%26", "%22", "%7D", "%2C", "%23"].contains { has($0, endingAt: place + 3) }
                || has("%2526", endingAt: place + 5)
        default: break
        }
        guard syntax != .form || isEncoded else { return false }
        switch bytes[place] {
        case UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "\\"):
            return true
        default: return false
        }
    }
}
