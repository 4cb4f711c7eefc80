import Text

/// A user's name and password as the Basic scheme carries them (RFC 7617), in bytes.
package struct BasicCredentials: Sendable, Hashable {
    package let user: [UInt8]
    package let password: [UInt8]

    private static let longest = 2_048

    package init(user: some Collection<UInt8>, password: some Collection<UInt8>) {
        self.user = Array(user)
        self.password = Array(password)
    }

    /// Reads the value of `Authorization` or `Proxy-Authorization`; `nil` for a different scheme or a malformed value.
    package init?(fieldValue bytes: some Collection<UInt8>) {
        let scheme = Array(bytes.prefix(6)).map { $0 | 0x20 }
        guard bytes.count <= Self.longest, scheme == Array("basic ".utf8),
            let text = Base64Text.decode(strict: bytes.dropFirst(6).drop { $0 == 0x20 }),
            let colon = text.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        self.init(user: text[..<colon], password: text[(colon + 1)...])
    }

    package var fieldValue: String { "Basic " + base64(user + [UInt8(ascii: ":")] + password) }
}
