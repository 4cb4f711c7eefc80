/// Members of JSON, also of JSON in JSON strings. At level 0 quotes have no backslash before them, then 1, 3 and 7.
extension StructureScanner {
    private static let mostMembers = 16

    mutating func scanMembers() {
        var place = 0
        while let colon = find(UInt8(ascii: ":"), from: place) {
            place = colon + 1
            guard let (name, level) = memberName(before: colon) else { continue }
            let value = afterSpaces(place)
            if let kind = kind(ofMember: name, at: value) { place = takeValue(at: value, kind, name, level) }
        }
    }

    private func kind(ofMember name: Range<Int>, at value: Int) -> SecretKind? {
        // `"checksum/secret"` and `"AWS::IAM::AccessKey"` name something else.
        if bytes[name].contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") }) { return nil }
        if let kind = names.kind(of: bytes[name]) { return kind }
        if isSame(name, "cookie") || isSame(name, "set-cookie") { return .cookie }
        guard value < bytes.count, bytes[value] == UInt8(ascii: "["), bytes[name].last == UInt8(ascii: "s") else {
            return nil
        }
        return names.kind(of: bytes[name].dropLast())
    }

    private func memberName(before colon: Int) -> (Range<Int>, level: Int)? {
        let close = bytes.runStart(before: colon, most: 16) { $0.isSpace } - 1
        guard close >= 0, bytes[close] == UInt8(ascii: "\"") else { return nil }
        let end = bytes.runStart(before: close) { $0 == UInt8(ascii: "\\") }
        let start = bytes.runStart(before: end, most: 256) { $0 != UInt8(ascii: "\"") && $0 >= 0x20 }
        guard start < end, let level = [0, 1, 3, 7].firstIndex(of: close - end) else { return nil }
        return (start..<end, level)
    }

    private mutating func takeValue(at place: Int, _ kind: SecretKind, _ name: Range<Int>, _ level: Int) -> Int {
        guard place < bytes.count else { return place }
        let count = found.count
        // An ordinary value may be JSON that contains a secret.
        if let end = takeScalar(at: place, kind, name, level) { return found.count > count ? end : place }
        switch bytes[place] {
        case UInt8(ascii: "["): return takeList(from: place, kind, name, level)
        case UInt8(ascii: "{"):
            takeObject(from: place + 1, kind, name, level)
            return place + 1
        default: return place
        }
    }

    /// Returns the end of the string or number; `nil` if there is none.
    private mutating func takeScalar(at place: Int, _ kind: SecretKind, _ name: Range<Int>, _ level: Int) -> Int? {
        guard place < bytes.count else { return nil }
        if let value = string(at: place, level) {
            let decode = { (text: Slice<UnsafeRawBufferPointer>) in PlainValue.ofJSON(text, depth: level + 1) }
            if kind == .cookie {
                let cookies = CookieSecrets(bytes: bytes, names: names, decode: decode)
                found += cookies.found(in: value.content, isResponse: isSame(name, "set-cookie"))
            } else {
                take(value.content, kind, name: bytes[name], decode)
            }
            return value.end
        }
        guard let number = JSONNumber.range(at: place, in: bytes) else { return nil }
        if kind.isNumeric { take(number, kind, name: bytes[name], isNumber: true) }
        return number.upperBound
    }

    private mutating func takeList(from start: Int, _ kind: SecretKind, _ name: Range<Int>, _ level: Int) -> Int {
        var (place, depth) = (start, 0)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case let byte where byte == UInt8(ascii: ",") || byte.isSpace || byte.isSmall: break
            default:
                guard let end = takeScalar(at: place, kind, name, level), end > place else { return place }
                place = end
                continue
            }
            place += 1
            if depth == 0 { return place }
        }
        return place
    }

    private static let valueNames = ["value", "S", "stringValue", "#text", "$t", "secret"]

    /// Takes `value` of `"password": {"value": "…"}`.
    private mutating func takeObject(from start: Int, _ kind: SecretKind, _ name: Range<Int>, _ level: Int) {
        var place = start
        for _ in 0..<StructureScanner.mostMembers {
            place = bytes.runEnd(from: place) { $0.isSpace || $0 == UInt8(ascii: ",") }
            guard let member = string(at: place, level) else { return }
            let colon = afterSpaces(member.end)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return }
            place = afterSpaces(colon + 1)
            if StructureScanner.valueNames.contains(where: { bytes[member.content].elementsEqual($0.utf8) }) {
                guard let end = takeScalar(at: place, kind, name, level) else { return }
                place = end
            } else if let value = string(at: place, level) {
                place = value.end
            } else {
                // Lists and objects are scanned by their own names.
                place = bytes.runEnd(from: place) { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
            }
        }
    }

    /// A string without its quotes. It may be cut, or end with the string around it.
    private func string(at start: Int, _ level: Int) -> (content: Range<Int>, end: Int)? {
        let backslashes = (1 << level) - 1
        let open = start + backslashes
        guard open < bytes.count, bytes[open] == UInt8(ascii: "\""),
            bytes[start..<open].allSatisfy({ $0 == UInt8(ascii: "\\") })
        else { return nil }
        let content = open + 1
        var place = content
        let period = 2 * (backslashes + 1)
        while let close = find(UInt8(ascii: "\""), from: place) {
            let first = bytes.runStart(before: close, from: content) { $0 == UInt8(ascii: "\\") }
            let count = close - first
            if count % period != period - 1 {
                let isOwn = count % period == backslashes
                return (content..<(isOwn ? close - backslashes : first), close + (isOwn ? 1 : 0))
            }
            place = close + 1
        }
        return (content..<bytes.count, bytes.count)
    }
}

enum JSONNumber {
    private static let longest = 64

    private static func isPart(_ byte: UInt8) -> Bool { byte.isDigit || "+-.eE".utf8.contains(byte) }

    static func range(at start: Int, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let number = bytes[start...].prefix(longest + 1).prefix { isPart($0) }
        guard let first = number.first, first.isDigit || first == UInt8(ascii: "-"),
            number.count <= longest, number.last.map(\.isDigit) ?? false
        else { return nil }
        return number.startIndex..<number.endIndex
    }

    /// The number around a range; `nil` if it is not a whole value of JSON.
    static func range(around range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        guard range.count <= longest, bytes[range].allSatisfy(isPart) else { return nil }
        let start = bytes.runStart(before: range.lowerBound, most: longest + 1, isPart)
        guard let number = self.range(at: start, in: bytes), number.upperBound >= range.upperBound else { return nil }
        let after = bytes[number.upperBound...].first { !$0.isSpace }
        guard after.map({ ",]}".utf8.contains($0) }) ?? true else { return nil }
        var before = bytes[..<start].reversed().drop(while: \.isSpace)
        switch before.popFirst() {
        case UInt8(ascii: "["), UInt8(ascii: ","): return number
        case UInt8(ascii: ":"):
            return before.drop(while: \.isSpace).first == UInt8(ascii: "\"") ? number : nil
        default: return nil
        }
    }
}
