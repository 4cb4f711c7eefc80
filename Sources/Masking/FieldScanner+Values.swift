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
        /// Whether it is a secret only where it looks made by chance.
        var needsShape = false
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
        if !isColon, isOfCode { start = afterStringPrefix(start) }
        if let (content, quote) = openingQuote(at: start) {
            if length == 1, isClosing(quote, at: content, name, nameQuote) { return nil }
            return Value(range: content..<end(of: quote, from: content), quote: quote)
        }
        if isColon, bytes[start] == UInt8(ascii: "["), isQuoted(nameQuote),
            kind != .cookie || openingQuote(at: afterBlanks(start + 1, acrossLines: true)) != nil
        {
            return Value(range: start + 1..<bytes.count, isArray: true)
        }
        if isColon {
            if isQuoted(nameQuote) {
                // Of tests that pass there is a number.
                guard kind.isNumeric, kind == .named || !isName(name, among: ["pass"]) else { return nil }
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
            guard syntax != .field else { return nil }
            if isCode {
                if case .code(let fallback) = expression(at: start, after: name, isColon: true) { return fallback }
                return quotedLine(name, start, kind).map { Value(range: $0) }
            }
            if let range = quotedLine(name, start, kind) { return Value(range: range) }
            let marks = beforeLineMarks(name.lowerBound)
            if let line = lineStart(marks) {
                if kind != .named, syntax != .form,
                    case .code(let fallback) = expression(at: start, after: name, isColon: true)
                {
                    return fallback
                }
                let end = lineEnd(from: start, line)
                if kind != .named, let template = templateEnd(from: start, before: end) {
                    return Value(range: start..<template, quote: line.quote)
                }
                // Of a list or a quotation in prose: `* Pass: 12 of 13`.
                if marks < name.lowerBound, isProse(start..<end, kind) { return nil }
                return Value(range: start..<end, quote: line.quote)
            }
            guard let (line, hasWords) = logLine(before: name.lowerBound) else { return nil }
            // In a message of a log, names of fields are words, too.
            let value = start..<lineEnd(from: start, line)
            return isProse(value, kind) ? nil : Value(range: value, quote: line.quote, needsShape: hasWords)
        }
        // if (token == expected)
        if isOfCode, bytes[separator] == UInt8(ascii: "="), length == 1, bytes[start] == UInt8(ascii: "="),
            !isParameter(name)
        {
            return nil
        }
        let isQuery = isParameter(name) && !has("&&", endingAt: name.lowerBound)
        if kind != .named || isCode, syntax != .form, syntax != .field, !isQuery {
            if case .code(let fallback) = expression(at: start, after: name, isColon: false) { return fallback }
        }
        guard !isCode || isQuery else { return nil }
        if kind != .named, syntax != .form, length == 1, let end = templateEnd(from: start, before: bytes.count) {
            return Value(range: start..<end, isBare: true)
        }
        if length == 1, isLabel(name, start, kind) { return nil }
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
        if isCode, !endsQuery(end, from: name.lowerBound) { return nil }
        return Value(range: start..<end, isBare: true)
    }

    /// Whether a query in a script ends at a place: it is in a string, or in a URL of a style sheet, which has quotes or none
    /// (CSS Values and Units §4.5).
    private func endsQuery(_ end: Int, from name: Int) -> Bool {
        guard end < bytes.count else { return false }
        return "\"'`&#\\ ".utf8.contains(bytes[end]) || bytes[end] == UInt8(ascii: ")") && isInStyleURL(name)
    }

    private static let longestStyleURL = 2_048

    /// Whether `url(` without a quote stands before a place.
    private func isInStyleURL(_ place: Int) -> Bool {
        let least = max(0, place - FieldScanner.longestStyleURL)
        let open = bytes[least..<place].lastIndex { $0 <= 0x20 || "\"'()".utf8.contains($0) }
        guard let open, bytes[open] == UInt8(ascii: "("), open >= 3 else { return false }
        return isName(open - 3..<open, among: ["url"])
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

    /// Where a template ends that is the value at a place: what follows it belongs to no value.
    private func templateEnd(from start: Int, before limit: Int) -> Int? {
        guard start < limit, !ValueShape.isLetterOrDigit(bytes[start]), bytes[start] != UInt8(ascii: "\\") else {
            return nil
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<min(limit, start + 160)])
        guard let length = ValueTemplate.end(in: text) else { return nil }
        let end = start + length
        guard end < limit else { return end }
        if endsBareValue(end, isEncoded: false), bytes[end] > 0x20 { return end }
        let rest = bytes[end..<limit].prefix(80).prefix { $0 != 0x0A && $0 != 0x0D }.drop { $0 <= 0x20 }
        // Of a line it is all, before a comment.
        return bytes[end] <= 0x20 && (limit == bytes.count || rest.isEmpty || rest.first == UInt8(ascii: "#"))
            ? end : nil
    }

    /// Where the quote is of `b"…"`, `rb'…'` and `$"…"`; else the place itself.
    private func afterStringPrefix(_ start: Int) -> Int {
        let prefix = bytes[start...].prefix(2).prefix { "bBrRfFuU@$".utf8.contains($0) }
        guard !prefix.isEmpty,
            let quote = bytes[prefix.endIndex...].prefix(8).first(where: { $0 != UInt8(ascii: "\\") }),
            quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        else { return start }
        return prefix.endIndex
    }

    /// Whether a quote ends a text in which the name stands: `ask("Password: ")`.
    private func isClosing(_ quote: Quote, at content: Int, _ name: Range<Int>, _ nameQuote: Quote) -> Bool {
        guard case .none = nameQuote, case .plain(let sign, let backslashes) = quote, content < bytes.count else {
            return false
        }
        let least = max(0, name.lowerBound - 160)
        var (place, count) = (name.lowerBound, 0)
        while place > least, !isLineEnd(place - 1), backslashes == 0 || !has("\\n", endingAt: place) {
            place -= 1
            guard bytes[place] == sign, !isApostrophe(place) else { continue }
            var run = 0
            while place - run > least, bytes[place - run - 1] == UInt8(ascii: "\\") { run += 1 }
            if run == backslashes { count += 1 }
        }
        let next = bytes[content]
        return count % 2 == 1 && (")],;} +.\n\r\\".utf8.contains(next) || next == sign)
    }

    /// Whether a quote is one within a word: `it's`.
    private func isApostrophe(_ place: Int) -> Bool {
        place > 0 && place + 1 < bytes.count && ValueShape.isLetterOrDigit(bytes[place - 1])
            && ValueShape.isLetterOrDigit(bytes[place + 1])
    }

    /// Whether a line is a label under the name of a secret, as a list of translations has it: `password=Enter password`.
    private func isLabel(_ name: Range<Int>, _ start: Int, _ kind: SecretKind) -> Bool {
        guard syntax == .text, kind != .named, bytes[start] >= 0x41, case .plain? = lineStart(name.lowerBound) else {
            return false
        }
        let line = bytes[start...].prefix(80)
        guard
            let end = line.firstIndex(where: { $0 == 0x0A || $0 == 0x0D })
                ?? (line.endIndex == bytes.count ? line.endIndex : nil),
            let space = bytes[start..<end].firstIndex(of: 0x20),
            !bytes[start..<end].contains(where: { "=;,\"'<>&".utf8.contains($0) || $0 &- 0x30 < 10 })
        else { return false }
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let label = SecretNames.normalised(String(decoding: bytes[innermost(name)], as: UTF8.self))
        return space > start
            && (NamedValue.isOwnName(value, label) || kind == .password && ValueShape.isOrdinary(value, kind))
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
    func lineStart(_ place: Int) -> Line? {
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
