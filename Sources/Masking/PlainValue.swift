import Content

/// The schemes of credentials (RFC 9110 §11.1) that stand before a secret.
enum CredentialScheme {
    private static let known: Set<String> = [
        "bearer", "basic", "token", "digest", "negotiate", "ntlm", "apikey", "hawk", "key", "mac", "dpop", "oauth",
        "sso-key", "splunk", "aws4-hmac-sha256", "sharedaccesssignature", "sharedkey", "bot", "gho",
    ]

    static func isOne(_ word: some Collection<UInt8>) -> Bool {
        word.count <= 24 && known.contains(String(decoding: word, as: UTF8.self).lowercased())
    }
}

/// A value without the coding that it stands in, so that one secret is known in all of them.
enum PlainValue {
    static func of(_ value: UnsafeRawBufferPointer, escapes: Int) -> [UInt8] {
        if value.contains(UInt8(ascii: "%")), let plain = percentDecoded(value) { return plain }
        var text = Array(value)
        for _ in 0..<escapes where text.contains(UInt8(ascii: "\\")) {
            let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            text = Array(JSONTree.unescaped(quoted[...]).utf8)
        }
        return text
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
