/// Base64 and base64url in text (RFC 4648 §4, §5), with or without padding.
package enum Base64Text {
    /// The decoded bytes; `nil` if the text is not base64. Spaces and line breaks are skipped.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ decode(contiguous: $0) }) { return bytes }
        return Array(text).withUnsafeBufferPointer { decode(contiguous: $0) }
    }

    /// Like ``decode(_:)``, but only strict base64 (RFC 4648 §4), as in credentials: no spaces, not base64url.
    package static func decode(strict text: some Collection<UInt8>) -> [UInt8]? {
        text.contains { $0 <= 0x20 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") } ? nil : decode(text)
    }

    private static func decode(contiguous text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { output, count in
            isWhole = write(text, to: output, &count)
        }
        return isWhole ? bytes : nil
    }

    private static func write(
        _ text: UnsafeBufferPointer<UInt8>,
        to output: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Bool {
        var (bits, digits, padding): (UInt32, Int, Int) = (0, 0, 0)
        func put(_ byte: UInt32) {
            output[count] = UInt8(truncatingIfNeeded: byte)
            count += 1
        }
        for byte in text {
            if byte == 0x0A || byte == 0x0D || byte == 0x20 { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte) else { return false }
            bits = bits << 6 | value
            digits += 1
            guard digits % 4 == 0 else { continue }
            put(bits >> 16)
            put(bits >> 8)
            put(bits)
        }
        switch digits % 4 {
        case 2 where padding == 0 || padding == 2: put(bits >> 4)
        case 3 where padding <= 1:
            put(bits >> 10)
            put(bits >> 2)
        case 0 where padding == 0: break
        default: return false
        }
        return true
    }

    /// The six bits of a digit of base64 or base64url.
    package static func value(of character: UInt8) -> UInt32? {
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
