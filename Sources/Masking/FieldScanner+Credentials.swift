import Text

/// Credentials in a text that is no field: `Bearer …` in prose, in a list of lines, in a command of a shell.
extension FieldScanner {
    private static let shortest = 8
    /// `Token` is a word of prose, too.
    private static let shortestToken = 16

    /// Looks at what follows a scheme of credentials (RFC 9110 §11.4) and the space at a place, and takes it where it looks like
    /// credentials; returns where they end.
    mutating func credentials(after place: Int, _ length: Int) -> Int? {
        guard place >= 5, let scheme = scheme(endingAt: place) else { return nil }
        var start = place + length
        while start < bytes.count, bytes[start] == 0x20 { start += 1 }
        var end = start
        // In a form a plus sign is a space, before another scheme too.
        while end < bytes.count, RunScanner.isOfRun[Int(bytes[end])], syntax != .form || bytes[end] != UInt8(ascii: "+")
        {
            end += 1
        }
        while end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard value.count >= FieldScanner.shortest, !Placeholder.isOne(value), !isExempt(start),
            !ValueTemplate.isOne(value)
        else { return nil }
        let isTaken =
            switch scheme {
            case .bearer: FieldScanner.isMixed(value)
            case .basic: Base64Text.decode(value)?.contains(UInt8(ascii: ":")) ?? false
            case .token: ValueShape.isRandom(value, least: FieldScanner.shortestToken)
            }
        guard isTaken else { return nil }
        let kind: SecretKind = scheme == .basic ? .credential : .token
        add(FoundSecret(range: start..<end, kind: kind, name: scheme.rawValue, secret: Array(value)))
        return end
    }

    private enum Scheme: String {
        case bearer = "Bearer"
        case basic = "Basic"
        case token = "Token"
    }

    private func scheme(endingAt end: Int) -> Scheme? {
        let scheme: Scheme
        switch bytes[end - 1] | 0x20 {
        case UInt8(ascii: "r"): scheme = .bearer
        case UInt8(ascii: "c"): scheme = .basic
        case UInt8(ascii: "n"): scheme = .token
        default: return nil
        }
        let start = end - scheme.rawValue.utf8.count
        guard start >= 0, zip(bytes[start..<end], scheme.rawValue.utf8).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else {
            return nil
        }
        // Of \n in a JSON string the letter stands before the word.
        // `csrf_token` is a name, before another attribute.
        let isWord =
            start == 0
            || !ValueShape.isLetterOrDigit(bytes[start - 1])
                && (scheme != .token || !"_-".utf8.contains(bytes[start - 1]))
        return isWord || has("\\n", endingAt: start) || has("%20", endingAt: start) || has("%3A", endingAt: start)
            ? scheme : nil
    }

    /// Whether letters and digits are mixed as no word has them; `OAuth2.0` and `RFC-6750` are words.
    private static func isMixed(_ value: UnsafeRawBufferPointer) -> Bool {
        let letters = value.count { ($0 | 0x20) &- 0x61 < 26 }
        let digits = value.count { $0 &- 0x30 < 10 }
        guard letters > 0, digits > 0 else { return false }
        let version = value.reversed().prefix { $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") }.count
        return version > 4 || version < digits
    }

    /// The value of a line of a head that is a whole string: `"Authorization: Bearer …"`, `'X-Api-Key: …'`.
    func quotedLine(_ name: Range<Int>, _ start: Int, _ kind: SecretKind) -> Range<Int>? {
        guard kind == .credential || kind == .apiKey || kind == .cookie else { return nil }
        var lineStart = beforeLineMarks(name.lowerBound)
        while lineStart > 0, " \t-".utf8.contains(bytes[lineStart - 1]) { lineStart -= 1 }
        guard lineStart > 0 else { return nil }
        let sign = bytes[lineStart - 1]
        guard sign == UInt8(ascii: "\"") || sign == UInt8(ascii: "'") else { return nil }
        var end = start
        while end < bytes.count, end - start <= 8_192, bytes[end] != sign, bytes[end] != UInt8(ascii: "\\"),
            bytes[end] > 0x1F
        {
            end += 1
        }
        guard end < bytes.count else { return nil }
        if kind == .cookie { return start..<end }
        // In a sentence there are more words than a scheme and its credentials.
        let words = bytes[start..<end].split(separator: 0x20)
        guard let last = words.last, words.count == 1 || words.count == 2 && CredentialScheme.isOne(words[0]),
            // $TOKEN, as a script has it.
            last.first != UInt8(ascii: "$")
        else { return nil }
        let isLong = last.count >= FieldScanner.shortest && last.contains { $0 &- 0x30 < 10 }
        return words.count == 2 || isLong ? start..<end : nil
    }
}
