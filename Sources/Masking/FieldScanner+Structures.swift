/// Values that stand apart from their names: in arrays, pairs, parts of a form, elements and URLs.
extension FieldScanner {
    /// Elements whose attribute names what is in them.
    private static let pairElements: [StaticString] = [
        "entry", "string", "property", "param", "parameter", "field", "item", "attribute", "setting", "header", "prop",
        "textarea",
    ]
    /// Elements that hold the value whose name is in the element before, as in a property list and in XML-RPC, or around them.
    private static let valueElements: [StaticString] = ["string", "value", "data"]

    private static let longestArray = 1 << 20
    private static let longestTag = 4_096
    /// So many sections and comments are read within one element.
    private static let mostSections = 64

    /// Takes the strings of an array of JSON, and of those in it; returns where it ends. Names in objects stay.
    mutating func array(from start: Int, _ kind: SecretKind, _ name: Range<Int>) -> Int {
        var (place, depth, braces) = (start, 1, 0)
        var member: Range<Int>?
        let limit = min(bytes.count, start + FieldScanner.longestArray)
        while place < limit {
            if kind == .named, let end = number(at: place, before: limit) {
                takeNumber(place..<end, kind, name)
                place = end
                continue
            }
            guard let (content, quote) = openingQuote(at: place) else {
                switch bytes[place] {
                case UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: "{"): braces += 1
                case UInt8(ascii: "}"): braces -= 1
                default: break
                }
                if depth == 0 { return place }
                // Backslashes before no quote are looked at once.
                repeat { place += 1 } while place < limit && bytes[place - 1] == UInt8(ascii: "\\")
                continue
            }
            let end = end(of: quote, from: content)
            place = afterQuote(endingAt: end, quote)
            if isSeparator(afterBlanks(place, acrossLines: true)) {
                member = content..<end
            } else if !isMessage(content..<end, kind), braces <= 0 || kind == .named || member.map(isValueName) ?? true
            {
                take(content..<end, kind, name, quote, needsShape: !isWhole(kind))
            }
        }
        return place
    }

    /// Whether each string in an array is a secret of that kind, whatever it looks like.
    private func isWhole(_ kind: SecretKind) -> Bool { kind == .password || kind == .named || kind == .cookie }

    /// Where a string ends together with its closing quote.
    func afterQuote(endingAt end: Int, _ quote: Quote) -> Int {
        var place = end
        switch quote {
        case .none: break
        case .percent: place += 3
        case .entity(let entity): place += entity.utf8CodeUnitCount
        case .plain:
            while place < bytes.count, bytes[place] == UInt8(ascii: "\\") { place += 1 }
            place += 1
        }
        return min(place, bytes.count)
    }

    /// Whether the string before a place is the name of a member of an object.
    private func isSeparator(_ place: Int) -> Bool { place < bytes.count && bytes[place] == UInt8(ascii: ":") }

    /// Whether a string in an array under a password's name says what is wrong with one, as the answer to a form does.
    private func isMessage(_ range: Range<Int>, _ kind: SecretKind) -> Bool {
        guard kind == .password, (8...400).contains(range.count) else { return false }
        return ValueShape.isMessage(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// Where a number of JSON ends that begins at a place; `nil` where none does.
    private func number(at place: Int, before limit: Int) -> Int? {
        guard bytes[place] &- 0x30 < 10 || bytes[place] == UInt8(ascii: "-") else { return nil }
        return bytes[place..<limit].firstIndex { $0 &- 0x30 >= 10 && !FieldScanner.numberSigns.contains($0) } ?? limit
    }

    /// After `name=`: the name of a part of a form, whose value follows its head, or of a pair of name and value.
    /// On a line of YAML neither has quotes.
    mutating func pairOrPart(after place: Int, isPart: Bool, line: Line? = nil) -> Int? {
        let start = afterBlanks(place, acrossLines: !isPart && line == nil)
        guard let named = pairName(at: start, line), named.count > 1, let kind = kind(named) else { return nil }
        let (content, end) = (named.lowerBound, named.upperBound)
        guard isPart else {
            if let value = valueBefore(start, kind) {
                take(value.range, kind, content..<end, value.quote, needsShape: syntax == .script)
            } else {
                let isAttribute = bytes[place - 1] == UInt8(ascii: "=")
                pair = Pair(kind: kind, name: content..<end, end: end + 200, isAttribute: isAttribute)
            }
            return end
        }
        guard let (body, ending) = partBody(after: end) else { return nil }
        let bodyEnd = find(Array(ending.utf8), from: body, within: 1 << 20) ?? bytes.count
        let count = found.count
        take(body..<bodyEnd, kind, content..<end, needsShape: false)
        return found.count > count ? bodyEnd : after(body..<bodyEnd) ?? end
    }

    /// After `type=` of an input: that of a password has one as its value, whatever its name is.
    mutating func passwordInput(after place: Int) -> Int? {
        guard let named = pairName(at: afterBlanks(place, acrossLines: true), nil), isName(named, among: ["password"])
        else { return nil }
        return pairOrPart(after: place, isPart: false)
    }

    /// Whether a name is a parameter in the head of a form's part.
    func isOfPart(_ name: Range<Int>) -> Bool {
        guard syntax == .multipart else { return false }
        var place = name.lowerBound
        while place > 0, bytes[place - 1] <= 0x20 { place -= 1 }
        return place > 0 && bytes[place - 1] == UInt8(ascii: ";")
    }

    /// Where the body of a form's part begins, and what ends it; the lines of some programs end with a line feed alone.
    private func partBody(after place: Int) -> (start: Int, ending: String)? {
        let usual = find(Array("\r\n\r\n".utf8), from: place, within: 1_024)
        let short = find(Array("\n\n".utf8), from: place, within: usual.map { $0 - place } ?? 1_024)
        if let short { return (short + 2, "\n--") }
        return usual.map { ($0 + 4, "\r\n--") }
    }

    /// The name of a pair, in quotes, or without them where the syntax lets them out.
    private func pairName(at start: Int, _ line: Line?) -> Range<Int>? {
        guard start < bytes.count else { return nil }
        let longest = SecretNames.longest + 1
        if let (content, quote) = openingQuote(at: start) {
            return content..<min(end(of: quote, from: content), content + longest)
        }
        if syntax == .text, line != nil {
            let name = bytes[start...].prefix(longest).prefix { isOfName($0, .none) }
            let isLine =
                name.endIndex == bytes.count || isLineEnd(name.endIndex) || bytes[name.endIndex] == UInt8(ascii: "\\")
            return isLine ? name.startIndex..<name.endIndex : nil
        }
        guard syntax == .markup || syntax == .multipart, bytes[start - 1] == UInt8(ascii: "=") else { return nil }
        let ending = bytes[start...].prefix(longest).firstIndex { $0 <= 0x20 || ">;\"'".utf8.contains($0) }
        return start..<(ending ?? min(bytes.count, start + longest))
    }

    /// The value of a pair whose name comes last: `"value": "…", "name": "password"`.
    mutating func valueBefore(_ name: Int, _ kind: SecretKind) -> Value? {
        guard let before = valueSeparator, name - before.place < 400,
            let value = value(after: before.place, 1, before.quote, before.name, kind), value.range.upperBound < name,
            !bytes[value.range.upperBound..<name].contains(where: { "{}<>".utf8.contains($0) })
        else { return nil }
        return value
    }

    /// `<password>…</password>` or `<entry key="password">…</entry>`, from the end of the first tag on.
    mutating func element(endingAt place: Int) -> Int? {
        guard let open = lastOpen, open + 1 < place, place - open <= FieldScanner.longestTag else { return nil }
        let tag = bytes[(open + 1)..<place]
        guard let first = tag.first, ValueShape.isLetterOrDigit(first), tag.last != UInt8(ascii: "/") else {
            return nil
        }
        let most = min(place, open + 2 * SecretNames.longest)
        let end = bytes[(open + 1)..<most].firstIndex { $0 <= 0x20 } ?? most
        let start = bytes[(open + 1)..<end].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? open + 1
        guard start < end else { return nil }
        let element = start..<end
        var (label, kind) = (element, kind(element))
        if kind == nil, let pair, isPair(label, pair, openingAt: open) {
            (kind, label, self.pair) = (pair.kind, pair.name, nil)
        }
        guard let kind else {
            if isName(label, among: ["key", "name"]), let named = named(after: place), let kind = self.kind(named) {
                pair = Pair(kind: kind, name: named, end: named.upperBound + 200, isApart: true)
            }
            return nil
        }
        if syntax == .text, !isElement(element, contentAt: place + 1) { return nil }
        let count = found.count
        let contentEnd = content(from: place + 1, kind, label)
        return found.count > count ? contentEnd : after(place + 1..<max(place + 1, contentEnd))
    }

    /// Whether what looks like a tag in a text that may be none of XML begins an element, and is no word of a command's usage,
    /// such as `--password <password>`: an element has an end, or a section, a comment or another element in it.
    private func isElement(_ label: Range<Int>, contentAt start: Int) -> Bool {
        // Behind `<password>` another sign ends no tag.
        if bytes[label].contains(UInt8(ascii: ">")) { return false }
        guard let next = bytes[start...].firstIndex(of: UInt8(ascii: "<")) else {
            return bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
        }
        var place = next + 1
        while place < bytes.count, bytes[place] == UInt8(ascii: "\\") { place += 1 }
        guard place < bytes.count else { return true }
        if "!?".utf8.contains(bytes[place]) { return true }
        guard bytes[place] == UInt8(ascii: "/") else { return bytes[start..<next].allSatisfy { $0 <= 0x20 } }
        let end = bytes[place...].prefix(SecretNames.longest * 2)
        return end.firstIndex(of: UInt8(ascii: ">")).map {
            bytes[place..<$0].suffix(label.count).elementsEqual(bytes[label])
        }
            ?? true
    }

    /// Whether the object or the tag that a pair's name is in ends before a place.
    func isClosed(_ pair: Pair, before place: Int) -> Bool {
        guard pair.name.upperBound < place else { return false }
        var depth = 0
        for byte in bytes[pair.name.upperBound..<place] {
            switch byte {
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ">") where pair.isAttribute: return true
            default: break
            }
            if depth < 0 { return true }
        }
        return pair.brace != nil && depth == 0
    }

    /// Takes the text of an element, in sections too; returns where it ends. Comments and instructions within are left out.
    private mutating func content(from start: Int, _ kind: SecretKind, _ label: Range<Int>) -> Int {
        var place = start
        let count = found.count
        for _ in 0..<FieldScanner.mostSections {
            var value = place
            while value < bytes.count, bytes[value] <= 0x20 { value += 1 }
            if let (content, ending) = section(at: value) {
                let close = find(Array(ending.utf8), from: content, within: 1 << 20) ?? bytes.count
                if ending == "]]>" { take(trimmed(content..<close), kind, label, needsShape: false) }
                place = min(bytes.count, close + ending.utf8.count)
                continue
            }
            let close = bytes[value...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            if value == close {
                if found.count == count, close + 1 < bytes.count, ValueShape.isLetterOrDigit(bytes[close + 1]) {
                    // <password><value>…</value></password>
                    pair = Pair(kind: kind, name: label, end: close + 200, isApart: true)
                }
                return close
            }
            take(trimmed(value..<close), kind, label, needsShape: false)
            place = close
        }
        return place
    }

    /// What stands at a place that is no text of an element, and its end (XML 1.0 §2.5 to §2.7).
    private func section(at place: Int) -> (content: Int, ending: String)? {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "<") else { return nil }
        for (beginning, ending) in [("<![CDATA[", "]]>"), ("<!--", "-->"), ("<?", "?>")]
        where has(beginning, endingAt: place + beginning.utf8.count) {
            return (place + beginning.utf8.count, ending)
        }
        return nil
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, bytes[start] <= 0x20 { start += 1 }
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        return start..<end
    }

    /// Whether an element holds the value of a pair.
    private func isPair(_ label: Range<Int>, _ pair: Pair, openingAt open: Int) -> Bool {
        if pair.isApart { return open < pair.end && isName(label, among: FieldScanner.valueElements) }
        return pair.name.lowerBound > open && isName(label, among: FieldScanner.pairElements)
    }

    /// The text of an element that begins behind a tag, where it can be a name.
    private func named(after tag: Int) -> Range<Int>? {
        let rest = bytes[(tag + 1)...].prefix(SecretNames.longest)
        guard let close = rest.firstIndex(of: UInt8(ascii: "<")), close > tag + 2 else { return nil }
        return tag + 1..<close
    }

    /// The password of `scheme://user:password@host` (RFC 3986 §3.2.1), or the token of `scheme://token@host`.
    mutating func userInformation(after place: Int) -> Int? {
        let authority = bytes[place...].prefix(1_024).prefix {
            $0 > 0x20 && !"/?#\"'<>\\,".utf8.contains($0)
        }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        guard let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")) else {
            let user = UnsafeRawBufferPointer(rebasing: bytes[place..<at])
            guard ValueShape.isKey(user), !Placeholder.isOne(user) else { return nil }
            let secret = PlainValue.of(user, escapes: 0)
            add(FoundSecret(range: place..<at, kind: .token, name: "user of a URL", secret: secret))
            return at
        }
        let secret = PlainValue.of(UnsafeRawBufferPointer(rebasing: bytes[colon + 1..<at]), escapes: 0)
        guard !secret.isEmpty, !Placeholder.isOne(UnsafeRawBufferPointer(rebasing: bytes[colon + 1..<at])),
            !isUsage(secret, of: place, until: at)
        else { return nil }
        add(FoundSecret(range: colon + 1..<at, kind: .password, name: "password of a URL", secret: secret))
        return at
    }

    /// Whether a URL is one of a command's usage: `scheme://[user:password@]host`, `https://<user>:<password>@host`.
    private func isUsage(_ secret: [UInt8], of authority: Int, until at: Int) -> Bool {
        if bytes[authority] == UInt8(ascii: "["), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "]") {
            return true
        }
        var word = secret[...]
        while word.last == UInt8(ascii: "]") { word.removeLast() }
        let plain = word.withUnsafeBytes { PlainValue.of($0, in: .none, isMarkup: true) }
        return plain.withUnsafeBytes(ValueTemplate.isFramed) || secret.withUnsafeBytes(ValueTemplate.isFramed)
    }

    /// The password of a URL that is percent-encoded once or twice, as in a query, from the colon behind its scheme on.
    mutating func encodedUserInformation(after scheme: Int, isTwice: Bool) -> Int? {
        var place = scheme
        for sign in "://".utf8 {
            guard let next = encoded(at: place, isTwice), next.byte == sign else { return nil }
            place = next.end
        }
        var (colon, at): (Range<Int>?, Int?) = (nil, nil)
        let limit = min(bytes.count, place + 1_024)
        while place < limit {
            guard let next = encoded(at: place, isTwice), next.byte > 0x20, !"/?#\"'<>\\,&".utf8.contains(next.byte)
            else {
                break
            }
            if next.byte == UInt8(ascii: ":"), colon == nil { colon = place..<next.end }
            if next.byte == UInt8(ascii: "@") { at = place }
            place = next.end
        }
        guard let colon, let at, colon.upperBound < at else { return nil }
        let value = colon.upperBound..<at
        guard !Placeholder.isOne(UnsafeRawBufferPointer(rebasing: bytes[value])),
            let once = PlainValue.percentDecoded(bytes[value]),
            let plain = isTwice ? PlainValue.percentDecoded(once) : once
        else { return nil }
        let secret = plain.withUnsafeBytes { PlainValue.of($0, escapes: 0) }
        add(FoundSecret(range: value, kind: .password, name: "password of a URL", secret: secret))
        return at
    }

    /// The byte that stands at a place, percent-encoded or as it is, and where it ends.
    private func encoded(at place: Int, _ isTwice: Bool) -> (byte: UInt8, end: Int)? {
        guard place < bytes.count else { return nil }
        let digits = place + (isTwice ? 3 : 1)
        guard bytes[place] == UInt8(ascii: "%"), digits + 2 <= bytes.count, !isTwice || has("%25", endingAt: digits),
            let byte = PlainValue.percentDecoded([UInt8(ascii: "%"), bytes[digits], bytes[digits + 1]])?.first
        else { return (bytes[place], place + 1) }
        return (byte, digits + 2)
    }

    func isName(_ name: Range<Int>, among words: [StaticString]) -> Bool {
        words.contains { word in
            word.utf8CodeUnitCount == name.count
                && zip(bytes[name], UnsafeBufferPointer(start: word.utf8Start, count: name.count)).allSatisfy {
                    $0 | 0x20 == $1
                }
        }
    }

    func find(_ needle: [UInt8], from start: Int, within length: Int) -> Int? {
        var place = start
        let last = min(bytes.count - needle.count, start + length)
        while place <= last {
            if bytes[place] == needle[0], bytes[place..<place + needle.count].elementsEqual(needle) { return place }
            place += 1
        }
        return nil
    }
}
