/// Values whose name is a value itself: in a list of two strings, in an operation of JSON Patch; and values in an object that
/// says their type.
extension FieldScanner {
    /// Members that hold a value alone, without the signs that they may begin with: as DynamoDB, Firestore and Avro have them, and
    /// XML that is written as JSON.
    private static let wrappers: [StaticString] = [
        "s", "n", "b", "l", "ss", "ns", "bs", "stringvalue", "integervalue", "doublevalue", "bytesvalue", "arrayvalue",
        "values", "string", "bytes", "int", "long", "plaintext", "binary", "base64", "numberlong", "numberint",
    ]
    private static let longestPath = 512
    private static let longestOperation = 1_024

    /// Members that hold a list, whose values have the name of the object in the singular.
    private static let lists: [StaticString] = ["l", "ss", "arrayvalue"]

    /// Whether a list follows, which may be in an object that says so.
    func beginsList(after place: Int) -> Bool {
        let start = afterBlanks(place, acrossLines: true)
        guard start < bytes.count, bytes[start] != UInt8(ascii: "[") else { return start < bytes.count }
        guard bytes[start] == UInt8(ascii: "{"),
            let (content, _) = openingQuote(at: afterBlanks(start + 1, acrossLines: true))
        else { return false }
        let word = bytes[content...].prefix(16).prefix(while: ValueShape.isLetterOrDigit)
        return isName(word.startIndex..<word.endIndex, among: FieldScanner.lists)
    }

    /// Whether a member is all that an object has which stands under the name of a secret: `"password": {"S": "…"}`. Its value
    /// begins at a place.
    func isWrapper(_ name: Range<Int>, _ pair: Pair, _ start: Int) -> Bool {
        guard let brace = pair.brace, brace < name.lowerBound else { return false }
        let plain = bytes[name].drop { "_$@".utf8.contains($0) }
        let word = plain.startIndex..<plain.endIndex
        let isSigned = word.count < name.count || bytes[name.lowerBound - 1] == UInt8(ascii: "#")
        // #text, _text, __text, $t: beside attributes, too.
        if isSigned, isName(word, among: ["text", "t", "value"]) { return true }
        guard word.isEmpty || isName(word, among: FieldScanner.wrappers),
            let (content, _) = openingQuote(at: afterBlanks(brace + 1, acrossLines: true)), content == name.lowerBound
        else { return false }
        let value = afterBlanks(start, acrossLines: true)
        guard let (text, quote) = openingQuote(at: value) else {
            return value < bytes.count && "[{".utf8.contains(bytes[value])
        }
        let end = end(of: quote, from: text)
        // Translations have a text under the name of what it says.
        if isName(word, among: ["string"]), !isValue(text..<end, pair.kind) { return false }
        let next = afterBlanks(afterQuote(endingAt: end, quote), acrossLines: true)
        return next == bytes.count || bytes[next] == UInt8(ascii: "}")
    }

    /// Whether a member of an object in a list under the name of a secret has that secret, and nothing that is said of it.
    func isValueName(_ member: Range<Int>) -> Bool {
        isName(member, among: FieldScanner.wrappers + FieldScanner.valueNames) || kind(member) != nil
    }

    /// Takes the second of two strings in a list whose first one is the name of a secret, as fields of heads are often listed:
    /// `["X-Api-Key", "…"]`; returns where it ends. A list of names stays.
    mutating func pairInList(openedAt open: Int) -> Int? {
        guard let (name, kind, sign, next) = namedString(at: afterBlanks(open + 1, acrossLines: true)),
            let (start, valueQuote) = openingQuote(at: next), case .plain(sign, _) = valueQuote
        else { return nil }
        let value = start..<end(of: valueQuote, from: start)
        let close = afterBlanks(afterQuote(endingAt: value.upperBound, valueQuote), acrossLines: true)
        guard close < bytes.count, bytes[close] == UInt8(ascii: "]"), isValue(value, kind) else {
            return after(value)
        }
        let count = found.count
        take(value, kind, name, valueQuote, needsShape: syntax == .script)
        return found.count > count ? value.upperBound : after(value)
    }

    /// The name of a secret in quotes with a comma behind it: its kind, its quotation mark, and where what follows the comma begins.
    func namedString(at place: Int) -> (name: Range<Int>, kind: SecretKind, sign: UInt8, next: Int)? {
        guard let (content, quote) = openingQuote(at: place), case .plain(let sign, _) = quote else { return nil }
        let word = bytes[content...].prefix(SecretNames.longest + 1).prefix { isOfName($0, .none) }
        let name = word.startIndex..<word.endIndex
        guard name.count > 1, name.upperBound < bytes.count,
            bytes[name.upperBound] == sign || bytes[name.upperBound] == UInt8(ascii: "\\"), let kind = kind(name)
        else { return nil }
        let comma = afterBlanks(afterQuote(endingAt: name.upperBound, quote), acrossLines: true)
        guard comma < bytes.count, bytes[comma] == UInt8(ascii: ",") else { return nil }
        return (name, kind, sign, afterBlanks(comma + 1, acrossLines: true))
    }

    /// Whether a string looks like a value rather than another name or a text that says something.
    private func isValue(_ value: Range<Int>, _ kind: SecretKind) -> Bool {
        if kind == .cookie || kind == .named || CredentialScheme.end(in: bytes, value) > value.lowerBound {
            return true
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[value])
        // A number of digits alone counts tokens.
        let isCount = !kind.isNumeric && text.count < 16 && text.allSatisfy { $0 < 0x3A }
        return !isCount && !text.contains(0x20) && self.kind(value) == nil && !ValueShape.isName(text)
    }

    /// After `"path":` of an operation of JSON Patch (RFC 6902 §4) or of SCIM (RFC 7644 §3.5.2): where the path ends in the name of a
    /// secret, the operation's value is one. Returns where the path ends.
    mutating func patch(after place: Int) -> Int? {
        let start = afterBlanks(place, acrossLines: true)
        guard let (content, quote) = openingQuote(at: start), case .plain(let sign, _) = quote,
            let mark = bytes[content...].prefix(FieldScanner.longestPath).firstIndex(of: sign)
        else { return nil }
        let path = bytes[content..<mark].prefix { $0 > 0x20 }
        var end = path.endIndex
        while end > content, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        let segment = bytes[content..<end].lastIndex { "/.:".utf8.contains($0) }.map { $0 + 1 } ?? content
        guard path.endIndex == mark, segment < end, let kind = kind(segment..<end) else { return nil }
        let least = max(0, start - FieldScanner.longestOperation)
        let most = min(bytes.count, mark + FieldScanner.longestOperation)
        func isBrace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") }
        let first = bytes[least..<start].lastIndex(where: isBrace) ?? least
        let last = bytes[mark..<most].firstIndex(where: isBrace) ?? most
        guard hasOperation(first..<start) || hasOperation(mark..<last) else { return nil }
        if let value = valueBefore(start, kind) {
            take(value.range, kind, segment..<end, value.quote, needsShape: syntax == .script)
            if value.isNumber, found.last?.range == value.range { takeLastAsNumber() }
        } else {
            pair = Pair(kind: kind, name: segment..<end, end: last)
        }
        return mark
    }

    /// Whether a member `op` stands there.
    private func hasOperation(_ range: Range<Int>) -> Bool {
        var place = range.lowerBound
        while let found = find(Array("op".utf8), from: place, within: range.upperBound - place),
            found < range.upperBound
        {
            place = found + 2
            guard found > 0, place < bytes.count, "\"'".utf8.contains(bytes[found - 1]) else { continue }
            if "\"'\\".utf8.contains(bytes[place]) { return true }
        }
        return false
    }
}
