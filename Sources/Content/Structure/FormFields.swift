package struct FormField: Sendable, Hashable {
    package var name: String
    /// The decoded value; empty where there was no `=`.
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Reads queries and `application/x-www-form-urlencoded` bodies (WHATWG URL §5.1).
package enum FormFields {
    /// Reads the fields of a query (without its `?`) or a form body, at most `limit` of them. Bytes that are no UTF-8
    /// after decoding are read as Latin-1; a `%` without two digits stands for itself.
    package static func parse(_ bytes: some Collection<UInt8>, limit: Int = 10_000) -> [FormField] {
        bytes.split(separator: UInt8(ascii: "&"), maxSplits: limit).prefix(limit).map { pair in
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                return FormField(name: decode(pair), value: "")
            }
            return FormField(name: decode(pair[..<equals]), value: decode(pair[pair.index(after: equals)...]))
        }
    }

    package static func parse(query: String) -> [FormField] { parse(Array(query.utf8)) }

    /// Undoes percent-encoding and `+` for a space.
    package static func decode(_ bytes: some Collection<UInt8>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            let next = bytes.index(after: index)
            if byte == UInt8(ascii: "%"), let (value, end) = hexPair(bytes, next) {
                decoded.append(value)
                index = end
            } else {
                decoded.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
                index = next
            }
        }
        if let text = String(validating: decoded, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(decoded.map { Unicode.Scalar($0) }))
    }

    private static func hexPair<Bytes: Collection<UInt8>>(
        _ bytes: Bytes,
        _ start: Bytes.Index
    ) -> (UInt8, Bytes.Index)? {
        guard start != bytes.endIndex, let high = hexValue(bytes[start]) else { return nil }
        let second = bytes.index(after: start)
        guard second != bytes.endIndex, let low = hexValue(bytes[second]) else { return nil }
        return (high << 4 | low, bytes.index(after: second))
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
