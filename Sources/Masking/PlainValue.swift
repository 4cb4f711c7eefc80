import Content

/// The schemes of credentials (RFC 9110 §11.1) that stand before a secret.
enum CredentialScheme {
    private static let known: Set<String> = [
        "bearer", "basic", "token", "digest", "negotiate", "ntlm", "apikey", "hawk", "key", "mac", "dpop", "oauth",
        "sso-key", "splunk", "aws4-hmac-sha256", "sharedaccesssignature", "sharedkey", "bot", "gho",
    ]

    static func isOne(_ word: some Collection<UInt8>) -> Bool {
        word.count <= longest && known.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    private static let longest = 24

    /// Where the credentials begin in a value that has a scheme before them, and a space as it is or as a form has it; else
    /// where the value begins.
    static func end(in bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Int {
        let beginning = bytes[value].prefix(longest + 1)
        guard let space = beginning.firstIndex(where: { " +%".utf8.contains($0) }), space > value.lowerBound,
            isOne(bytes[value.lowerBound..<space])
        else { return value.lowerBound }
        var place = space
        while place < value.upperBound {
            if bytes[place] == 0x20 || bytes[place] == UInt8(ascii: "+") {
                place += 1
            } else if bytes[place..<value.upperBound].starts(with: "%20".utf8) {
                place += 3
            } else {
                break
            }
        }
        return place > space && place < value.upperBound ? place : value.lowerBound
    }
}

/// A value without the coding that it stands in, so that one secret is known in all of them.
enum PlainValue {
    static func of(_ value: UnsafeRawBufferPointer, escapes: Int) -> [UInt8] {
        decoded(unescaped(Array(value), escapes))
    }

    /// A value within quotes.
    static func of(_ value: UnsafeRawBufferPointer, in quote: FieldScanner.Quote, isMarkup: Bool) -> [UInt8] {
        var text = Array(value)
        switch quote {
        case .percent: return unescaped(decoded(text), 1)
        case .entity: text = withoutEntities(text)
        case .none, .plain: if isMarkup { text = withoutEntities(text) }
        }
        text = unescaped(text, quote.escapes)
        if case .plain(UInt8(ascii: "'"), backslashes: 0) = quote { text = withoutDoubles(text) }
        return decoded(text)
    }

    private static func decoded(_ value: [UInt8]) -> [UInt8] {
        value.contains(UInt8(ascii: "%")) ? percentDecoded(value) ?? value : value
    }

    private static func unescaped(_ value: [UInt8], _ escapes: Int) -> [UInt8] {
        var text = value
        for _ in 0..<escapes where text.contains(UInt8(ascii: "\\")) {
            let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            text = Array(JSONTree.unescaped(quoted[...]).utf8)
        }
        return text
    }

    /// What YAML and SQL write in quotes, where a quote stands for itself by being there twice.
    private static func withoutDoubles(_ value: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        guard value.contains(quote) else { return value }
        var plain: [UInt8] = []
        var isSecond = false
        for byte in value {
            isSecond = byte == quote && !isSecond && plain.last == quote
            if !isSecond { plain.append(byte) }
        }
        return plain
    }

    private static let entities: [(name: String, byte: UInt8)] = [
        ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
        ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
    ]

    /// Markup with its characters instead of what stands for them (XML 1.0 §4.1, §4.6).
    private static func withoutEntities(_ value: [UInt8]) -> [UInt8] {
        guard value.contains(UInt8(ascii: "&")) else { return value }
        var plain: [UInt8] = []
        var rest = value[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "&") {
                if let entity = entities.first(where: { rest.starts(with: $0.name.utf8) }) {
                    plain.append(entity.byte)
                    rest = rest.dropFirst(entity.name.utf8.count)
                    continue
                }
                if let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")), let scalar = scalar(rest[..<end]) {
                    plain += String(scalar).utf8
                    rest = rest[(end + 1)...]
                    continue
                }
            }
            plain.append(byte)
            rest = rest.dropFirst()
        }
        return plain
    }

    /// The character of `&#43` or `&#x2B`.
    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let digits = reference.dropFirst(2)
        guard reference.starts(with: "&#".utf8), let first = digits.first else { return nil }
        let isHexadecimal = first | 0x20 == UInt8(ascii: "x")
        let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
        return UInt32(text, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }

    /// A value of a form, in which a plus sign is a space.
    static func spaced(_ value: some Collection<UInt8>) -> [UInt8] {
        let spaced = value.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return percentDecoded(spaced) ?? spaced
    }

    /// A value of a field; `isEscaped` where it stood in quotes and its backslashes count (RFC 9110 §5.6.4).
    static func of(_ value: UnsafeRawBufferPointer, isEscaped: Bool) -> [UInt8] {
        guard isEscaped, value.contains(UInt8(ascii: "\\")) else { return of(value, escapes: 0) }
        var plain: [UInt8] = []
        var isNext = false
        for byte in value {
            if byte == UInt8(ascii: "\\"), !isNext {
                isNext = true
            } else {
                plain.append(byte)
                isNext = false
            }
        }
        return plain
    }

    /// `nil` where a percent sign does not begin a triplet (RFC 3986 §2.1).
    static func percentDecoded(_ value: some Collection<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        var rest = value[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                plain.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            plain.append(high << 4 | low)
        }
        return plain
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        ValueShape.isHexadecimal(byte) ? (byte < 0x3A ? byte - 0x30 : (byte | 0x20) - 0x57) : nil
    }
}
