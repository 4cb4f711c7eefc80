/// Texts in base64: in one piece, in lines, with escaped signs, in a path.
extension RunScanner {
    /// A text in base64 that is longer is written in lines: RFC 2045 §6.8 has 76 digits in one, RFC 7468 64, RFC 1421 and
    /// uuencoded files 60.
    private static let shortestLine = 60
    private static let mostIndent = 64
    private static let mostBackslashes = 8

    /// What a text in base64 holds; what is cut may have one digit too many.
    func content(_ range: Range<Int>) -> Base64Content? {
        let isCut = range.upperBound == bytes.count && range.count % 4 == 1
        return Base64Content(bytes[range.lowerBound..<range.upperBound - (isCut ? 1 : 0)])
    }

    /// Of a text in base64 that began before these bytes, the digits from the first whole group on where they hold a secret.
    func digitsFurther(_ digits: [UInt8]) -> [UInt8]? {
        (1...3).lazy.map { Array(digits.dropFirst($0)) }.first { digits in
            let isCut = digits.count % 4 == 1
            let content = Base64Content(digits.dropLast(isCut ? 1 : 0))
            return content.map { holdsSecret($0.bytes, $0.isText) } ?? false
        }
    }

    /// The end of a text in base64 with its padding.
    func padded(_ end: Int) -> Int {
        var end = end
        while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
        return end
    }

    /// Looks at the segments of a path, each of which may be a text in base64.
    mutating func segments(_ range: Range<Int>) {
        guard range.count <= RunScanner.longestPath, bytes[range].contains(UInt8(ascii: "/")) else { return }
        for segment in bytes[range].split(separator: UInt8(ascii: "/")) where segment.count >= RunScanner.least {
            guard let content = Base64Content(segment), content.isText, holdsSecret(content.bytes, true) else {
                continue
            }
            take(segment.startIndex..<padded(segment.endIndex), .token, "text in base64", isSought: false)
        }
    }

    // MARK: In lines, with escapes

    /// A text in base64 that is not one run.
    private struct BrokenText {
        var digits: [UInt8] = []
        var end: Int
        var hasSigns = false
        var lineCount = 1
        /// Whether the bytes end where another line may begin.
        var isCut = false
    }

    /// Looks at a text in base64 that is written in lines, also where they end with `\n` as in JSON, or whose signs are escaped, as
    /// JSON has `\/` and `\u002B`, and forms `%2F`. Takes it where it holds a secret, and returns its end.
    mutating func broken(from start: Int, firstEnd: Int) -> Int? {
        let first = afterEscape(start, before: firstEnd)
        if firstEnd < bytes.count, RunScanner.mayEscape(bytes[firstEnd]) {
            let digits = bytes[first..<firstEnd].lastIndex { ".~=".utf8.contains($0) }.map { $0 + 1 } ?? first
            if isBroken(digits..<firstEnd), let end = takeBroken(from: digits) {
                // The last part of a JSON Web Token stands before the end of a line, too.
                if digits > first { run(first..<firstEnd) }
                return end
            }
        }
        // The first digit itself may be escaped, as a slash before a segment is.
        guard first > start, let sign = escaped(at: start - 1), "+/".utf8.contains(sign.byte) else { return nil }
        return takeBroken(from: start - 1)
    }

    private mutating func takeBroken(from first: Int) -> Int? {
        guard let text = brokenText(from: first) else { return nil }
        func took(_ digits: [UInt8], _ end: Int) -> Int {
            take(first..<end, .token, "text in base64", secret: digits, isSought: false)
            return end
        }
        if text.isCut || text.end == bytes.count, text.digits.count < cutRun { return took(text.digits, bytes.count) }
        guard text.digits.count >= RunScanner.least else { return nil }
        let isOdd = text.end == bytes.count && text.digits.count % 4 == 1
        if let content = Base64Content(text.digits.dropLast(isOdd ? 1 : 0)), holdsSecret(content.bytes, content.isText)
        {
            return took(text.digits, text.end)
        }
        return isContinued && first == 0 ? digitsFurther(text.digits).map { took($0, text.end) } : nil
    }

    /// Whether an escaped sign or another line follows a run; most are words, and end here.
    private func isBroken(_ first: Range<Int>) -> Bool {
        guard !first.isEmpty else { return false }
        if let sign = escaped(at: first.upperBound), "+/=".utf8.contains(sign.byte) { return true }
        guard let next = nextLine(after: first.upperBound) else { return false }
        if first.count >= RunScanner.shortestLine { return true }
        // A shorter one is the rest of a line, behind `base64,` or a quote, and no word in the line before.
        let isBehind = first.lowerBound > 0 && ",\"'".utf8.contains(bytes[first.lowerBound - 1])
        guard first.count >= RunScanner.least || isBehind, bytes[first.upperBound - 1] != UInt8(ascii: "-") else {
            return false
        }
        let beginning = bytes[next...].prefix(RunScanner.least)
        return beginning.count == RunScanner.least
            && beginning.allSatisfy { RunScanner.isOfRun[Int($0)] || $0 > 0x20 && RunScanner.mayEscape($0) }
    }

    /// The text in base64 that begins at a place; `nil` where it ends with its first run. Lines but the first and the last one have
    /// the same length.
    private mutating func brokenText(from first: Int) -> BrokenText? {
        var text = BrokenText(end: first)
        line(&text)
        let (firstEnd, firstCount) = (text.end, text.digits.count)
        var width = firstCount
        while text.digits.count < RunScanner.longestBase64, text.digits.last != UInt8(ascii: "="),
            let next = nextLine(after: text.end)
        {
            guard next < bytes.count else {
                text.isCut = true
                break
            }
            // A boundary, or the last line of PEM.
            guard !bytes[next...].starts(with: "--".utf8) else { break }
            let (end, before) = (text.end, text.digits.count)
            text.end = next
            line(&text)
            let count = text.digits.count - before
            let isFirst = text.lineCount == 1
            guard count > 0, isFirst ? max(count, width) >= RunScanner.shortestLine : count <= width else {
                text.digits.removeLast(count)
                text.end = end
                break
            }
            text.lineCount += 1
            if count < width { break }
            width = count
        }
        guard text.lineCount > 1 || text.hasSigns || text.isCut && firstCount >= RunScanner.shortestLine else {
            return nil
        }
        // What stands before lines may be none of them: then they are looked at without it.
        brokenEnd = text.lineCount > 1 && firstCount < width ? firstEnd : text.end
        return text
    }

    /// Adds the digits of a line, also those that are escaped, and its padding.
    private func line(_ text: inout BrokenText) {
        RunScanner.isDigit.withUnsafeBufferPointer { isDigit in
            while text.end < bytes.count {
                let start = text.end
                while text.end < bytes.count, isDigit[Int(bytes[text.end])] { text.end += 1 }
                if text.end > start {
                    guard text.digits.last != UInt8(ascii: "=") else {
                        text.end = start
                        return
                    }
                    text.digits += bytes[start..<text.end]
                }
                guard text.end < bytes.count else { return }
                let byte = bytes[text.end]
                if byte == UInt8(ascii: "=") {
                    text.digits.append(byte)
                    text.end += 1
                } else if RunScanner.mayEscape(byte), let sign = escaped(at: text.end), "+/=".utf8.contains(sign.byte) {
                    if sign.byte != UInt8(ascii: "="), text.digits.last == UInt8(ascii: "=") { return }
                    text.digits.append(sign.byte)
                    (text.end, text.hasSigns) = (sign.end, true)
                } else {
                    return
                }
            }
        }
    }

    private static let isDigit: [Bool] = (0...255).map { number in
        ValueShape.isLetterOrDigit(UInt8(number)) || "+/-_".utf8.contains(UInt8(number))
    }

    /// Where the next line begins after an end of one at a place, which may be escaped, and the blanks before it.
    private func nextLine(after end: Int) -> Int? {
        guard var sign = lineSign(at: end) else { return nil }
        if sign.byte == 0x0D {
            guard sign.end < bytes.count else { return sign.end }
            guard let feed = lineSign(at: sign.end), feed.byte == 0x0A else { return nil }
            sign = feed
        }
        let blanks = bytes[sign.end...].prefix(RunScanner.mostIndent).prefix { $0 == 0x20 || $0 == 0x09 }
        return blanks.endIndex
    }

    private func lineSign(at place: Int) -> (byte: UInt8, end: Int)? {
        guard place < bytes.count else { return nil }
        let byte = bytes[place]
        if byte == 0x0A || byte == 0x0D { return (byte, place + 1) }
        guard let sign = escaped(at: place), sign.byte == 0x0A || sign.byte == 0x0D else { return nil }
        return sign
    }

    private static func mayEscape(_ byte: UInt8) -> Bool { "\n\r\\%&".utf8.contains(byte) }

    /// Where a run begins without what is the end of an escape before it: the letter of `\n`, the digits of `%22` and `\u0022`.
    func afterEscape(_ start: Int, before end: Int) -> Int {
        guard start > 0, bytes[start - 1] == UInt8(ascii: "\\") || bytes[start - 1] == UInt8(ascii: "%"),
            let escape = escaped(at: start - 1), escape.end > start + 1 || bytes[start] != UInt8(ascii: "/")
        else { return start }
        return min(escape.end, end)
    }

    /// The byte that is escaped at a place, once or more often, and where the escape ends.
    private func escaped(at place: Int) -> (byte: UInt8, end: Int)? {
        guard place + 1 < bytes.count else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "%"):
            var digits = place + 1
            while bytes[digits...].starts(with: "25".utf8) { digits += 2 }
            return number(digits..<digits + 2, radix: 16).map { (UInt8(truncatingIfNeeded: $0), digits + 2) }
        case UInt8(ascii: "\\"):
            let rest = bytes[place...].prefix(RunScanner.mostBackslashes + 1)
            guard let letter = rest.firstIndex(where: { $0 != UInt8(ascii: "\\") }) else { return nil }
            switch bytes[letter] {
            case UInt8(ascii: "n"): return (0x0A, letter + 1)
            case UInt8(ascii: "r"): return (0x0D, letter + 1)
            case UInt8(ascii: "t"): return (0x09, letter + 1)
            case UInt8(ascii: "/"): return (UInt8(ascii: "/"), letter + 1)
            case UInt8(ascii: "u"):
                let code = number(letter + 1..<letter + 5, radix: 16)
                return code.flatMap { UInt8(exactly: $0) }.map { ($0, letter + 5) }
            default: return nil
            }
        case UInt8(ascii: "&"):
            guard bytes[place + 1] == UInt8(ascii: "#"),
                let end = bytes[place...].prefix(8).firstIndex(of: UInt8(ascii: ";"))
            else { return nil }
            let isHexadecimal = bytes[place + 2] | 0x20 == UInt8(ascii: "x")
            let code = number(place + (isHexadecimal ? 3 : 2)..<end, radix: isHexadecimal ? 16 : 10)
            return code.flatMap { UInt8(exactly: $0) }.map { ($0, end + 1) }
        default: return nil
        }
    }

    private func number(_ digits: Range<Int>, radix: Int) -> Int? {
        guard digits.upperBound <= bytes.count, !digits.isEmpty, bytes[digits].allSatisfy(ValueShape.isHexadecimal)
        else {
            return nil
        }
        return Int(String(decoding: bytes[digits], as: UTF8.self), radix: radix)
    }
}
