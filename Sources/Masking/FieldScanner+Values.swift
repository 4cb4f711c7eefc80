/// Where values begin and end.
extension FieldScanner {
    struct Value {
        var range: Range<Int>
        /// How many times it is escaped as a JSON string.
        var escapes = 0
        var isNumber = false
        /// Where the array ends that is the value.
        var arrayEnd: Int?
        /// Whether it stands after an equals sign without quotes.
        var isBare = false
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
        if isColon, syntax == .form || length > 1 { start = afterFormSpaces(start) }
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
        guard syntax != .script || isParameter(name) && !has("&&", endingAt: name.lowerBound) else { return nil }
        var end = start
        while end < bytes.count, !endsBareValue(end, isEncoded: length > 1) { end += 1 }
        // Authorization=Bearer …
        if kind == .credential, end + 1 < bytes.count, bytes[end] == 0x20, CredentialScheme.isOne(bytes[start..<end]) {
            end += 1
            while end < bytes.count, !endsBareValue(end, isEncoded: length > 1) { end += 1 }
        }
        // In a script a query is in a string.
        if syntax == .script, end == bytes.count || !"\"'`&#\\ ".utf8.contains(bytes[end]) { return nil }
        return Value(range: start..<end, isBare: true)
    }

    /// Where a value begins in JSON that is in a form: after spaces as a form has them.
    func afterFormSpaces(_ place: Int) -> Int {
        var place = place
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "+") {
                place += 1
            } else if ["%20", "%0A", "%0a", "%0D", "%0d", "%09"].contains(where: { has($0, endingAt: place + 3) }) {
                place += 3
            } else {
                break
            }
        }
        return place
    }

    func isQuoted(_ quote: Quote) -> Bool { if case .none = quote { false } else { true } }

    func isLineEnd(_ place: Int) -> Bool { bytes[place] == 0x0A || bytes[place] == 0x0D }

    func isLineStart(_ place: Int) -> Bool {
        var place = place
        while place > 0, bytes[place - 1] == 0x20 || bytes[place - 1] == UInt8(ascii: "-") { place -= 1 }
        // In a JSON string a line ends with \n.
        return place == 0 || isLineEnd(place - 1) || has("\\n", endingAt: place)
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
