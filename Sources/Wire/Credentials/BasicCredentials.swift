/// A user's name and password as the Basic scheme carries them (RFC 7617), in bytes.
package struct BasicCredentials: Sendable, Hashable {
    package let user: [UInt8]
    package let password: [UInt8]

    /// The longest field value that is read, in bytes.
    private static let longest = 2_048

    package init(user: some Collection<UInt8>, password: some Collection<UInt8>) {
        self.user = Array(user)
        self.password = Array(password)
    }

    /// Reads the value of `Authorization` or `Proxy-Authorization`; `nil` for another scheme and for what is malformed.
    package init?(fieldValue bytes: some Collection<UInt8>) {
        let scheme = Array(bytes.prefix(6)).map { $0 | 0x20 }
        guard bytes.count <= Self.longest, scheme == Array("basic ".utf8),
            let text = Base64.decode(bytes.dropFirst(6).drop { $0 == 0x20 }),
            let colon = text.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        self.init(user: text[..<colon], password: text[(colon + 1)...])
    }

    /// The value of `Authorization` or `Proxy-Authorization`.
    package var fieldValue: String { "Basic " + base64(user + [UInt8(ascii: ":")] + password) }
}

/// Base64 (RFC 4648 §4) from peers and files.
enum Base64 {
    /// The bytes; `nil` for anything but the alphabet, with padding at the end where that is due or with none.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var characters = Array(text)
        if characters.count.isMultiple(of: 4) {
            for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        }
        guard characters.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var (bits, count) = (UInt32(0), 0)
        for character in characters {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
