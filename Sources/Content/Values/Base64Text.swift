/// Base64 and base64url in text (RFC 4648 §4, §5), padded or not.
package enum Base64Text {
    /// The bytes; `nil` where the text is none. Spaces and line breaks are passed over.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, digits, padding): (UInt32, Int, Int) = (0, 0, 0)
        for byte in text {
            if byte == 0x0A || byte == 0x0D || byte == 0x20 { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(byte) else { return nil }
            bits = bits << 6 | value
            digits += 1
            if digits % 4 == 0 {
                bytes += [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)]
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch digits % 4 {
        case 2 where padding == 0 || padding == 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3 where padding <= 1:
            bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        case 0 where padding == 0: break
        default: return nil
        }
        return bytes
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
