/// A secret at a place in bytes.
struct FoundSecret {
    /// What is replaced.
    var range: Range<Int>
    var kind: SecretKind
    /// The name that said so, or what it looks like.
    var name: String
    /// The secret without the coding that it stands in.
    var secret: [UInt8]
    /// Whether it is masked wherever else it stands.
    var isSought = true
    /// Whether it is a number of JSON, and is to stay one.
    var isNumber = false
}

/// How the names and values of a text are written.
enum ScanSyntax {
    /// JSON and what has JSON in it: events, lines, GraphQL; and text of which nothing else is known.
    case text
    /// `name=value&…`: a query or a form.
    case form
    /// The value of a field.
    case field
    /// HTML and XML.
    case markup
    /// JavaScript and style sheets, where a name is followed by code more often than by a value.
    case script
    case multipart
}

/// Finds values under names of secrets, in any of the syntaxes in which HTTP messages have names and values, and also one
/// in another: JSON in a JSON string, a query in a header. It reads words, not grammar, so that what is cut off or
/// wrong is masked too.
struct FieldScanner {
    let names: SecretNames
    let syntax: ScanSyntax
    let bytes: UnsafeRawBufferPointer
    private(set) var found: [FoundSecret] = []
    /// Values under names that are exempt.
    private var exempt: [Range<Int>] = []
    /// The kind of secret that the next `value` is, after `"name": "password"`, and up to where.
    var pair: (kind: SecretKind, name: Range<Int>, end: Int)?
    /// Where the last `value` was whose name may follow.
    private(set) var valueSeparator: (place: Int, name: Range<Int>, quote: Quote)?

    static func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames
    ) -> (found: [FoundSecret], exempt: [Range<Int>]) {
        var scanner = FieldScanner(names: names, syntax: syntax, bytes: bytes)
        scanner.scan()
        return (scanner.found, scanner.exempt)
    }

    private init(names: SecretNames, syntax: ScanSyntax, bytes: UnsafeRawBufferPointer) {
        (self.names, self.syntax, self.bytes) = (names, syntax, bytes)
    }

    private mutating func scan() {
        var place = 0
        while place < bytes.count {
            let next: Int?
            switch bytes[place] {
            case UInt8(ascii: ":"), UInt8(ascii: "="): next = separator(at: place, length: 1)
            case UInt8(ascii: ">") where syntax == .markup || syntax == .text: next = element(endingAt: place)
            case UInt8(ascii: "%"):
                next =
                    encodedSeparator(place).flatMap { separator(at: place, length: $0) }
                    ?? (has("%20", endingAt: place + 3) ? credentials(after: place, 3) : nil)
            case 0x20: next = credentials(after: place, 1)
            case UInt8(ascii: "+") where syntax == .form: next = credentials(after: place, 1)
            default: next = nil
            }
            place = max(next ?? 0, place + 1)
        }
    }

    // MARK: Names

    enum Quote {
        case none
        case plain(UInt8, backslashes: Int)
        /// `%22`
        case percent
        /// `&quot;`
        case entity

        /// How many JSON strings are inside one another here: `"` one, `\"` two, `\\\"` three.
        var escapes: Int {
            guard case .plain(_, let backslashes) = self else { return 0 }
            return (backslashes + 1).trailingZeroBitCount + 1
        }
    }

    private func name(before separator: Int) -> (Range<Int>, Quote)? {
        var end = separator
        while end > 0, separator - end < 8, bytes[end - 1] == 0x20 { end -= 1 }
        var quote = Quote.none
        if end > 0, bytes[end - 1] == UInt8(ascii: "\"") || bytes[end - 1] == UInt8(ascii: "'") {
            let sign = bytes[end - 1]
            end -= 1
            var backslashes = 0
            while end > 0, bytes[end - 1] == UInt8(ascii: "\\") { (end, backslashes) = (end - 1, backslashes + 1) }
            quote = .plain(sign, backslashes: backslashes)
        } else if has("%22", endingAt: end) {
            (end, quote) = (end - 3, .percent)
        } else if has("&quot;", endingAt: end) {
            (end, quote) = (end - 6, .entity)
        }
        var start = end
        while start > 0, end - start <= SecretNames.longest, isOfName(bytes[start - 1], quote) { start -= 1 }
        if syntax == .form { start = afterEncodedSign(start..<end) }
        guard end - start > 1 else { return nil }
        return (start..<end, quote)
    }

    private func isOfName(_ byte: UInt8, _ quote: Quote) -> Bool {
        if ValueShape.isLetterOrDigit(byte) { return true }
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "$"), UInt8(ascii: "@"):
            return true
        case UInt8(ascii: "%"): if case .percent = quote { return false } else { return syntax == .form }
        case 0x20: if case .plain = quote { return true } else { return false }
        default: return false
        }
    }

    func kind(_ name: Range<Int>) -> SecretKind? {
        let name = innermost(name)
        return name.isEmpty ? nil : names.kind(of: bytes[name])
    }

    /// `password` of `user[password]` and `user%5Bpassword%5D`.
    private func innermost(_ name: Range<Int>) -> Range<Int> {
        if bytes[name.upperBound - 1] == UInt8(ascii: "]") {
            let open = bytes[name].lastIndex(of: UInt8(ascii: "[")).map { $0 + 1 } ?? name.lowerBound
            return open..<name.upperBound - 1
        }
        guard has("%5D", endingAt: name.upperBound) || has("%5d", endingAt: name.upperBound) else { return name }
        let open = bytes[name].dropLast(3).lastIndex(of: UInt8(ascii: "%")).map { $0 + 3 } ?? name.lowerBound
        return min(open, name.upperBound - 3)..<name.upperBound - 3
    }

    /// The length of `%3D` or `%3A`, or of one in a query in a query, `%253D`.
    private func encodedSeparator(_ place: Int) -> Int? {
        for sign in ["%3D", "%3d", "%3A", "%3a", "%253D", "%253d", "%253A", "%253a"] as [StaticString]
        where has(sign, endingAt: place + sign.utf8CodeUnitCount) { return sign.utf8CodeUnitCount }
        return nil
    }

    /// Where a name begins after `%26`, `%3F` or another encoded sign that is no part of one.
    private func afterEncodedSign(_ name: Range<Int>) -> Int {
        var start = name.lowerBound
        for place in name where bytes[place] == UInt8(ascii: "%") {
            if ["%5B", "%5D", "%5b", "%5d"].contains(where: { has($0, endingAt: place + 3) }) { continue }
            // `%25` is the sign of a sign that is encoded twice.
            start = min(name.upperBound, place + (has("%25", endingAt: place + 3) ? 5 : 3))
        }
        return start
    }

    // MARK: Values

    /// Looks at a name, a separator and a value; returns where the value ends, if it is a secret.
    private mutating func separator(at place: Int, length: Int) -> Int? {
        if length == 1, has("://", endingAt: place + 3) { return userInformation(after: place + 3) }
        guard let (name, quote) = name(before: place) else { return nil }
        var kind = kind(name)
        var label = name
        if kind == nil || kind == .named,
            isName(name, among: ["name", "key", "field", "header", "param", "parameter"])
        {
            if let end = pairOrPart(after: place + length) { return end }
            // In the head of a form's part it is a word of the syntax, also where a profile names it.
            if kind == nil || syntax == .multipart { return nil }
        }
        if kind == nil, let pair, place < pair.end, isName(name, among: ["value", "content", "val"]) {
            (kind, label, self.pair) = (pair.kind, pair.name, nil)
        }
        if kind == nil, length == 1, isName(name, among: ["value", "content", "val"]) {
            valueSeparator = (place, name, quote)
        }
        if kind == nil, begins(with: UInt8(ascii: "["), after: place + length) {
            // apiKeys: [ … ]
            kind = self.kind(name.lowerBound..<name.upperBound - 1)
        }
        let isShaped = kind == nil
        if kind == nil, syntax == .form || isParameter(name) {
            // Names that have a secret's value in a query, and an ordinary one anywhere else.
            if isName(name, among: ["code", "ticket"]) {
                kind = .code
            } else if isName(name, among: ["key"]) {
                kind = .apiKey
            } else if isName(name, among: ["auth"]) {
                kind = .token
            }
        }
        guard let kind else {
            if names.isExempt(bytes[name]), let value = value(after: place, length, quote, name, .token) {
                exempt.append(value.range)
            }
            return nil
        }
        guard let value = value(after: place, length, quote, name, kind) else {
            // "password": { "value": … }
            if isQuoted(quote), begins(with: UInt8(ascii: "{"), after: place + length) {
                pair = (kind, label, place + 200)
            }
            return nil
        }
        if let end = value.arrayEnd { return array(value.range.lowerBound..<end, kind, label) }
        take(value.range, kind, label, escapes: value.escapes, needsShape: isShaped || syntax == .script)
        if value.isNumber, found.last?.range == value.range { found[found.count - 1].isNumber = true }
        return value.range.upperBound
    }

    /// Takes a number of JSON.
    mutating func takeNumber(_ range: Range<Int>, _ kind: SecretKind, _ label: Range<Int>) {
        take(range, kind, label, escapes: 0, needsShape: false)
        if found.last?.range == range { found[found.count - 1].isNumber = true }
    }

    /// Whether a name stands in a query, by the sign before it.
    private func isParameter(_ name: Range<Int>) -> Bool {
        guard name.lowerBound > 0, bytes[name.upperBound] == UInt8(ascii: "=") else { return false }
        let sign = bytes[name.lowerBound - 1]
        return sign == UInt8(ascii: "?") || sign == UInt8(ascii: "&") || has("&amp;", endingAt: name.lowerBound)
    }

    private func begins(with sign: UInt8, after place: Int) -> Bool {
        var start = place
        while start < min(bytes.count, place + 8), bytes[start] == 0x20 { start += 1 }
        return start < bytes.count && bytes[start] == sign
    }

    struct Value {
        var range: Range<Int>
        /// How many times it is escaped as a JSON string.
        var escapes = 0
        var isNumber = false
        /// Where the array ends that is the value.
        var arrayEnd: Int?
    }

    /// What a number of JSON may have beside digits (RFC 8259 §6).
    static let numberSigns = Array("+-.eE".utf8)

    func value(
        after separator: Int,
        _ length: Int,
        _ nameQuote: Quote,
        _ name: Range<Int>,
        _ kind: SecretKind
    ) -> Value? {
        var start = separator + length
        let isColon =
            bytes[separator] == UInt8(ascii: ":")
            || length > 1 && bytes[separator + length - 1] | 0x20 == UInt8(ascii: "a")
        if syntax != .form {
            let limit = min(bytes.count, start + 64)
            while start < limit,
                bytes[start] == 0x20 || bytes[start] == 0x09 || isColon && isQuoted(nameQuote) && isLineEnd(start)
            {
                start += 1
            }
        }
        guard start < bytes.count else { return nil }
        if let (content, quote) = openingQuote(at: start) {
            return Value(range: content..<end(of: quote, from: content), escapes: quote.escapes)
        }
        if isColon, bytes[start] == UInt8(ascii: "["), isQuoted(nameQuote) {
            let end = bytes[start...].prefix(1 << 20).firstIndex(of: UInt8(ascii: "]")) ?? bytes.count
            return Value(range: start + 1..<end, arrayEnd: end)
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
            guard isLineStart(name.lowerBound) else { return nil }
            var end = start
            while end < bytes.count, !isLineEnd(end) { end += 1 }
            return Value(range: start..<end)
        }
        guard syntax != .script else { return nil }
        var end = start
        while end < bytes.count, !endsBareValue(end, isEncoded: length > 1) { end += 1 }
        // Authorization=Bearer …
        if kind == .credential, end + 1 < bytes.count, bytes[end] == 0x20, CredentialScheme.isOne(bytes[start..<end]) {
            end += 1
            while end < bytes.count, !endsBareValue(end, isEncoded: length > 1) { end += 1 }
        }
        return Value(range: start..<end)
    }

    private func isQuoted(_ quote: Quote) -> Bool { if case .none = quote { false } else { true } }

    private func isLineEnd(_ place: Int) -> Bool { bytes[place] == 0x0A || bytes[place] == 0x0D }

    private func isLineStart(_ place: Int) -> Bool {
        var place = place
        while place > 0, bytes[place - 1] == 0x20 || bytes[place - 1] == UInt8(ascii: "-") { place -= 1 }
        // In a JSON string a line ends with \n.
        return place == 0 || isLineEnd(place - 1) || has("\\n", endingAt: place)
    }

    private func endsBareValue(_ place: Int, isEncoded: Bool) -> Bool {
        switch bytes[place] {
        case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: "#"): return true
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

    // MARK: Taking

    /// Whether a place is in a value that stays.
    func isExempt(_ place: Int) -> Bool { exempt.last?.contains(place) ?? false }

    mutating func add(_ secret: FoundSecret) { found.append(secret) }

    mutating func take(
        _ range: Range<Int>,
        _ kind: SecretKind,
        _ name: Range<Int>,
        escapes: Int,
        needsShape: Bool
    ) {
        let range = withoutScheme(range, kind)
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard !ValueShape.isOrdinary(value, kind) else { return }
        if needsShape, !ValueShape.isRandom(value, least: 12) { return }
        switch kind {
        case .signature: guard ValueShape.isRandom(value) else { return }
        case .card: guard ValueShape.isCard(value) else { return }
        case .session, .token: guard value.count >= 4 else { return }
        default: break
        }
        found.append(
            FoundSecret(
                range: range,
                kind: kind,
                name: String(decoding: bytes[innermost(name)], as: UTF8.self),
                secret: PlainValue.of(value, escapes: escapes)
            )
        )
    }

    /// The range without `Bearer` or another scheme before the credentials (RFC 9110 §11.4).
    private func withoutScheme(_ range: Range<Int>, _ kind: SecretKind) -> Range<Int> {
        guard let space = bytes[range].prefix(32).firstIndex(of: 0x20), space > range.lowerBound else { return range }
        guard
            CredentialScheme.isOne(bytes[range.lowerBound..<space])
                || kind == .credential && !bytes[(space + 1)..<range.upperBound].contains(0x20)
        else { return range }
        let start = bytes[space..<range.upperBound].firstIndex { $0 != 0x20 } ?? range.upperBound
        return start..<range.upperBound
    }

    func has(_ text: StaticString, endingAt end: Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end >= count, end <= bytes.count else { return false }
        // A loop, as most differ in their first byte.
        for place in 0..<count where bytes[end - count + place] != text.utf8Start[place] { return false }
        return true
    }

    func has(_ text: String, endingAt end: Int) -> Bool {
        let count = text.utf8.count
        guard end >= count, end <= bytes.count else { return false }
        return bytes[(end - count)..<end].elementsEqual(text.utf8)
    }
}
