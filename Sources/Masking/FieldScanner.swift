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
    /// The secret read otherwise, where its place leaves that open: a plus sign may be a space.
    var other: [UInt8]?
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
    /// Bytes that are no text and may have texts in them.
    case binary

    /// Whether numbers of JSON may stand there.
    var mayHaveNumbers: Bool { self == .text || self == .script || self == .multipart || self == .binary }
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
    var pair: Pair?
    /// Where the last `value` was whose name may follow.
    private(set) var valueSeparator: (place: Int, name: Range<Int>, quote: Quote)?

    /// Where the last tag may have begun.
    private(set) var lastOpen: Int?

    /// Whether names of secrets stand before escapes that are looked into (`EscapedFields`).
    private var escapes = EscapedFields()

    /// The object whose members were looked at last, and whether it is a JSON Web Key.
    var webKey: (range: Range<Int>, isOne: Bool)?

    /// Where the values without quotes end that were read last, by whether they are encoded.
    var bareEnds: [Bool: BareEnd] = [:]

    /// Whether the place that is looked at is in a script of a page.
    private var isInScript = false
    /// Whether what is looked at is code, in which a value without quotes is an expression.
    var isCode: Bool { syntax == .script || isInScript }

    /// Whether a name and a value may be written as code has them.
    var isOfCode: Bool { syntax == .text || syntax == .markup || syntax == .script }

    /// Whether the text is the source of a program; looked for once, where that tells what a word is.
    lazy var isSource = FieldScanner.isSource(bytes)

    /// How many bytes of values that are no secrets were looked into.
    private var lookedInto = 0
    private static let mostLookedInto = 8

    private static let keyBeginning = 256
    /// Members, attributes and lines that have the value whose name another one has.
    static let valueNames: [StaticString] = ["value", "content", "val", "parametervalue"]

    struct Pair {
        let kind: SecretKind
        let name: Range<Int>
        let end: Int
        /// Whether the value is in an element that follows the one with the name, or is inside it.
        var isApart = false
        /// Whether the name is the value of an attribute, and the value that of another one.
        var isAttribute = false
        /// Where the object begins that is the value.
        var brace: Int?
    }

    static func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames
    ) -> (found: [FoundSecret], exempt: [Range<Int>]) {
        var scanner = FieldScanner(names: names, syntax: syntax, bytes: bytes)
        scanner.scan()
        let further = scanner.escapes.secrets(in: bytes, syntax, names, besides: scanner.found)
        return (scanner.found + further, scanner.exempt)
    }

    /// What is found without a look into escapes.
    static func plainSecrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames
    ) -> [FoundSecret] {
        var scanner = FieldScanner(names: names, syntax: syntax, bytes: bytes)
        scanner.scan()
        return scanner.found
    }

    init(names: SecretNames, syntax: ScanSyntax, bytes: UnsafeRawBufferPointer) {
        (self.names, self.syntax, self.bytes) = (names, syntax, bytes)
    }

    private mutating func scan() {
        var place = 0
        if syntax == .markup { isInScript = endsInScript() }
        while place < bytes.count {
            let next: Int?
            switch bytes[place] {
            case UInt8(ascii: ":") where isOfCode && place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "="):
                // token := …, as Go and Make have it.
                next = separator(at: place + 1, length: 1, nameEnd: place)
            case UInt8(ascii: "=") where isOfCode && place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: ">"):
                next = arrow(at: place)
            case UInt8(ascii: ":"), UInt8(ascii: "="): next = separator(at: place, length: 1)
            case UInt8(ascii: "|") where isOfCode, UInt8(ascii: "?") where isOfCode: next = alternative(at: place)
            case UInt8(ascii: "(") where isOfCode: next = readerDefault(openedAt: place)
            case UInt8(ascii: "<"):
                lastOpen = place
                if syntax == .markup, let begins = beginsScript(at: place) { isInScript = begins }
                next = nil
            case UInt8(ascii: ">") where mayHaveElements: next = element(endingAt: place)
            case UInt8(ascii: "["): next = pairInList(openedAt: place)
            case UInt8(ascii: "\\"), UInt8(ascii: "&"):
                escapes.look(at: place, in: bytes, names)
                next = nil
            case UInt8(ascii: "%"):
                escapes.look(at: place, in: bytes, names)
                next =
                    encodedSeparator(place).flatMap { separator(at: place, length: $0) }
                    ?? (has("%20", endingAt: place + 3) ? credentials(after: place, 3) : nil)
            case 0x20: next = credentials(after: place, 1) ?? userOption(before: place)
            case UInt8(ascii: "+") where syntax == .form: next = credentials(after: place, 1)
            default: next = nil
            }
            place = max(next ?? 0, place + 1)
        }
    }

    private var mayHaveElements: Bool {
        syntax == .markup || syntax == .text || syntax == .form || syntax == .multipart
    }

    // MARK: Names

    enum Quote {
        case none
        case plain(UInt8, backslashes: Int)
        /// `%22`
        case percent
        /// `&quot;` or `&#34;`
        case entity(StaticString)

        /// How many JSON strings are inside one another here: `"` one, `\"` two, `\\\"` three.
        var escapes: Int {
            switch self {
            case .none: 0
            case .plain(_, let backslashes): (backslashes + 1).trailingZeroBitCount + 1
            case .percent, .entity: 1
            }
        }
    }

    func name(before separator: Int) -> (Range<Int>, Quote)? {
        var end = beforeBlanks(separator)
        var quote = Quote.none
        if end > 0, bytes[end - 1] == UInt8(ascii: "\"") || bytes[end - 1] == UInt8(ascii: "'") {
            let sign = bytes[end - 1]
            end -= 1
            var backslashes = 0
            while end > 0, bytes[end - 1] == UInt8(ascii: "\\") { (end, backslashes) = (end - 1, backslashes + 1) }
            quote = .plain(sign, backslashes: backslashes)
        } else if has("%22", endingAt: end) {
            (end, quote) = (end - 3, .percent)
        } else if end > 0, bytes[end - 1] == UInt8(ascii: ";"),
            let entity = FieldScanner.quoteEntities.first(where: { has($0, endingAt: end) })
        {
            (end, quote) = (end - entity.utf8CodeUnitCount, .entity(entity))
        }
        var start = end
        while start > 0, end - start <= SecretNames.longest, isOfName(bytes[start - 1], quote) { start -= 1 }
        // The letter of an escape is none of the name's: `…\r\nX-Api-Key: …`.
        if case .none = quote, start > 0, start < end, bytes[start - 1] == UInt8(ascii: "\\"),
            "nrt".utf8.contains(bytes[start])
        {
            start += 1
        }
        // The digits of the opening `%22` are none of the name's.
        if case .percent = quote, has("%22", endingAt: start + 2) { start = min(end, start + 2) }
        if syntax == .form { start = afterEncodedSign(start..<end) }
        guard end - start > 1 || end > start && isQuoted(quote) && (pair != nil || "dpqk".utf8.contains(bytes[start]))
        else {
            return nil
        }
        return (start..<end, quote)
    }

    func isOfName(_ byte: UInt8, _ quote: Quote) -> Bool {
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

    // MARK: Values

    /// Looks at a name, a separator and a value; returns where the value ends, if it is a secret.
    private mutating func separator(at place: Int, length: Int, nameEnd: Int? = nil) -> Int? {
        if length == 1, has("://", endingAt: place + 3) { return userInformation(after: place + 3) }
        if length > 1, let end = encodedUserInformation(after: place, isTwice: length > 3) { return end }
        guard let (name, quote) = name(before: nameEnd ?? place) else { return nil }
        var kind = kind(name)
        var label = name
        if kind == nil, let whole = escapedName(name, quote) ?? encodedName(name, quote) {
            (kind, label) = (whole.kind, whole.range)
        }
        let isInQuery = syntax == .form || isParameter(label)
        if kind == nil || kind == .named,
            isName(name, among: ["name", "key", "field", "header", "param", "parameter", "parameterkey"])
        {
            let isPart = isOfPart(name)
            let line = isQuoted(quote) ? nil : lineStart(name.lowerBound)
            if let end = pairOrPart(after: place + length, isPart: isPart, line: line) { return end }
            // On lines no brace says that another object begins.
            if syntax == .text, line != nil { pair = nil }
            // In the head of a form's part it is a word of the syntax, also where a profile names it.
            let isKey = isInQuery && !isQuoted(quote) && isName(name, among: ["key"])
            if kind == nil && !isKey || isPart { return nil }
        }
        if kind == nil, syntax == .markup, isName(name, among: ["type"]), let end = passwordInput(after: place + length)
        {
            return end
        }
        if kind == nil, isQuoted(quote), isName(name, among: ["path"]), let end = patch(after: place + length) {
            return end
        }
        if kind == nil, let pair, place < pair.end,
            isName(name, among: FieldScanner.valueNames) || isWrapper(name, pair, place + length)
        {
            self.pair = nil
            if !isClosed(pair, before: name.lowerBound) { (kind, label) = (pair.kind, pair.name) }
        }
        if kind == nil, length == 1, isName(name, among: FieldScanner.valueNames) {
            valueSeparator = (place, name, quote)
        }
        if kind == nil, beginsList(after: place + length) {
            // apiKeys: [ … ]
            kind = self.kind(name.lowerBound..<name.upperBound - 1)
        }
        if kind == nil, isName(withoutSigns(name), among: ["auth"]),
            let value = value(after: place, length, quote, name, .credential),
            HeldSecrets.isCredentials(UnsafeRawBufferPointer(rebasing: bytes[value.range]))
        {
            // The files of Docker and npm.
            kind = .credential
        }
        let isShaped = kind == nil
        if kind == nil, isInQuery {
            // Names that have a secret's value in a query, and an ordinary one anywhere else.
            if isName(name, among: ["code", "ticket"]) {
                kind = .code
            } else if isName(name, among: ["key"]) {
                kind = .apiKey
            } else if isName(name, among: ["auth"]) {
                kind = .token
            }
        }
        if kind == nil, isQuoted(quote), isOfWebKey(name) { kind = .privateKey }
        if kind != nil, kind != .named, isOfType(name, quote) { kind = nil }
        guard let kind else {
            if names.isExempt(bytes[name]), let value = value(after: place, length, quote, name, .token) {
                exempt.append(value.range)
            }
            return nil
        }
        // That is read without its escapes (`EscapedFields`).
        if length > 3, !isShaped || kind == .apiKey, has("%2522", endingAt: place + length + 5) { return nil }
        // A query's key is looked at by its beginning first, as in `key=key=…` each is as long as all that follow.
        let isKey = isShaped && kind == .apiKey && isName(name, among: ["key"])
        if isKey {
            let beginning = value(after: place, length, quote, name, kind, most: FieldScanner.keyBeginning)
            guard let beginning, ValueShape.isKey(UnsafeRawBufferPointer(rebasing: bytes[beginning.range])) else {
                return nil
            }
        }
        guard let value = value(after: place, length, quote, name, kind) else {
            // "password": { "value": … }
            if isQuoted(quote), begins(with: UInt8(ascii: "{"), after: place + length) {
                let brace = afterBlanks(place + length, acrossLines: true)
                pair = Pair(kind: kind, name: label, end: place + 200, brace: brace)
            }
            return nil
        }
        if value.isArray {
            let count = found.count
            let end = array(from: value.range.lowerBound, kind, label)
            return found.count > count ? end : after(value.range.lowerBound..<end)
        }
        if isKey, !ValueShape.isKey(UnsafeRawBufferPointer(rebasing: bytes[value.range])) { return nil }
        let needsShape = isShaped || syntax == .script || syntax == .binary && !isQuoted(quote) || value.needsShape
        let count = found.count
        take(value.range, kind, label, value.quote, needsShape: needsShape)
        if found.count == count, !value.isBare { return after(value.range) }
        if value.isBare, found.count > count {
            readPlus(isInQuery)
            if !isInQuery, isVariable(value.range) { found[found.count - 1].isSought = false }
        }
        if value.isNumber, found.last?.range == value.range { takeLastAsNumber() }
        // A place may have a secret in its query.
        if found.count == count, value.isBare, bytes[value.range].contains(where: { "=@".utf8.contains($0) }) {
            return after(value.range)
        }
        return value.range.upperBound
    }

    /// Where a value ends that is no secret itself; `nil` where it is looked into, as it may have some. Values in one another are
    /// read so many times the text and no more.
    mutating func after(_ range: Range<Int>) -> Int? {
        guard lookedInto < FieldScanner.mostLookedInto * bytes.count else { return range.upperBound }
        lookedInto += range.count
        return nil
    }

    /// Has the secret that was taken last stay a number.
    mutating func takeLastAsNumber() { found[found.count - 1].isNumber = true }

    /// Takes a number of JSON.
    mutating func takeNumber(_ range: Range<Int>, _ kind: SecretKind, _ label: Range<Int>) {
        take(range, kind, label, needsShape: false)
        if found.last?.range == range { takeLastAsNumber() }
    }

    /// Of a value that was taken, what it is where a plus sign is a space, as in a query, and where it is none.
    private mutating func readPlus(_ isInQuery: Bool) {
        guard let last = found.last else { return }
        let value = bytes[last.range]
        guard value.contains(UInt8(ascii: "+")) else { return }
        let spaced = PlainValue.spaced(value)
        let (secret, other) = isInQuery ? (spaced, last.secret) : (last.secret, spaced)
        (found[found.count - 1].secret, found[found.count - 1].other) = (secret, other)
    }

    /// Whether a name stands in a query, by the sign before it.
    func isParameter(_ name: Range<Int>) -> Bool {
        guard name.lowerBound > 0, bytes[name.upperBound] == UInt8(ascii: "=") else { return false }
        let sign = bytes[name.lowerBound - 1]
        return sign == UInt8(ascii: "?") || sign == UInt8(ascii: "&") || has("&amp;", endingAt: name.lowerBound)
    }

    /// A name that has letters written as escapes of JSON.
    private func escapedName(_ name: Range<Int>, _ quote: Quote) -> (kind: SecretKind, range: Range<Int>)? {
        guard case .plain(let sign, _) = quote, name.lowerBound > 0, bytes[name.lowerBound - 1] == UInt8(ascii: "\\"),
            let open = bytes[max(0, name.lowerBound - 6 * SecretNames.longest)..<name.lowerBound].lastIndex(of: sign)
        else { return nil }
        let range = open + 1..<name.upperBound
        let plain = PlainValue.of(UnsafeRawBufferPointer(rebasing: bytes[range]), escapes: quote.escapes)
        return names.kind(of: plain).map { ($0, range) }
    }

    private func begins(with sign: UInt8, after place: Int) -> Bool {
        let start = afterBlanks(place, acrossLines: true)
        return start < bytes.count && bytes[start] == sign
    }

    // MARK: Taking

    /// Whether a place is in a value that stays.
    func isExempt(_ place: Int) -> Bool { exempt.last?.contains(place) ?? false }

    mutating func add(_ secret: FoundSecret) { found.append(secret) }
}
