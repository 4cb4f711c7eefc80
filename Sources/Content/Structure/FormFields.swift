import HTTPModel
import Text

package struct FormField: Sendable, Hashable {
    package var name: String
    /// The decoded value; empty if there was no `=`.
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Reads queries and `application/x-www-form-urlencoded` bodies (WHATWG URL §5.1).
package enum FormFields {
    /// Reads at most `limit` fields of a query (without `?`) or a form body. Bytes that are not UTF-8 are Latin-1.
    package static func parse(_ bytes: some Collection<UInt8>, limit: Int = 10_000) -> [FormField] {
        bytes.split(separator: UInt8(ascii: "&"), maxSplits: limit).prefix(limit).map { pair in
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                return FormField(name: decode(pair), value: "")
            }
            return FormField(name: decode(pair[..<equals]), value: decode(pair[pair.index(after: equals)...]))
        }
    }

    package static func parse(query: String) -> [FormField] { parse(Array(query.utf8)) }

    /// Decodes percent-encoding, and `+` as a space.
    package static func decode(_ bytes: some Collection<UInt8>) -> String {
        let isPlain = !bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        let decoded = isPlain ? Array(bytes) : percentDecoded(bytes, plusIsSpace: true)
        return String(fieldBytes: decoded)
    }

    /// Percent-encodes all bytes except unreserved characters (RFC 3986 §2.3), or except those that `isPlain` accepts.
    package static func encoded(
        _ text: String,
        unless isPlain: (UInt8) -> Bool = { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || "-._~".utf8.contains($0) }
    ) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%\(byte.padded(to: 2, radix: 16, uppercase: true))"
            }
        }
    }

    /// The percent-decoded bytes; a `%` without two hexadecimal digits is kept.
    package static func percentDecoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalValue,
                let low = rest.dropFirst().first?.hexadecimalValue
            {
                decoded.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return decoded
    }
}
