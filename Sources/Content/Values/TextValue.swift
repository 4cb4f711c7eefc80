import HTTPModel
import Text

/// The decoded form of a text that looks encoded. Shown only on request, because the text may not be encoded at all.
package enum TextValue: Sendable, Equatable {
    case base64(String)
    /// base64 of binary data.
    case base64Bytes([UInt8])
    case percentEncoded(String)

    /// Longer texts are ignored.
    private static let longest = 256 * 1024
    /// Shorter words can look like base64 by chance.
    private static let shortestBase64 = 8

    /// `nil` for plain text.
    package init?(_ text: String) {
        guard (3...TextValue.longest).contains(text.utf8.count) else { return nil }
        if text.utf8.contains(UInt8(ascii: "%")) {
            let decoded = FormFields.percentDecoded(Array(text.utf8))
            guard decoded.count < text.utf8.count, let plain = String(validating: decoded, as: UTF8.self) else {
                return nil
            }
            self = .percentEncoded(plain)
            return
        }
        guard text.utf8.count >= TextValue.shortestBase64, let bytes = Base64Text.decode(text.utf8) else { return nil }
        let isPadded = text.utf8.last == UInt8(ascii: "=")
        if let plain = String(validating: bytes, as: UTF8.self),
            bytes.allSatisfy({ $0 >= 0x20 || (9...13).contains($0) })
        {
            self = .base64(plain)
        } else {
            // A plain word or number is also valid base64.
            let hasKinds =
                text.contains { $0.isUppercase } && text.contains { $0.isLowercase } && text.contains { $0.isNumber }
            guard isPadded || hasKinds && text.utf8.count >= 24 else { return nil }
            self = .base64Bytes(bytes)
        }
    }
}

/// Credentials of the Basic scheme (RFC 7617).
package struct BasicCredentials: Sendable, Equatable {
    package let user: String
    package let password: String

    /// Reads the value of `Authorization` or `Proxy-Authorization`; `nil` if it is of another scheme.
    package init?(_ value: String) {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic", words[1].utf8.count <= 16_384,
            let bytes = Base64Text.decode(words[1].utf8), let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = String(fieldBytes: bytes[..<colon])
        password = String(fieldBytes: bytes[(colon + 1)...])
    }
}
