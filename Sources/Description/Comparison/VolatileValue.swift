import HTTPModel

/// Recognises values that differ each time: times and random identifiers.
enum VolatileValue {
    enum Shape: Hashable {
        case uuid
        case hexadecimal(length: Int)
        case random
        case token
    }

    /// Whether a value is a date with a time of day, or a number since 1970 (s, ms or µs) from 2001 to 2100.
    static func isMoment(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.first, bytes.count >= 10, bytes.count <= 48 else { return false }
        if isDigit(first), bytes.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") }) {
            let whole = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.count
            guard bytes.count(where: { $0 == UInt8(ascii: ".") }) <= 1, [10, 13, 16].contains(whole) else {
                return false
            }
            let seconds = bytes.prefix(10).reduce(0) { $0 * 10 + Int($1 &- 0x30) }
            return (978_307_200...4_102_444_800).contains(seconds)
        }
        func digit(_ index: Int) -> Bool { isDigit(bytes[index]) }
        // 2026-11-22T10:57:03Z, or with a space for the T, a fraction or another zone (RFC 3339).
        if bytes.count >= 16, digit(0), digit(3), bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[13] == 0x3A {
            return [0x54, 0x74, 0x20].contains(bytes[10]) && digit(5) && digit(8) && digit(11) && digit(14)
        }
        // Sun, 22 Nov 2026 10:57:03 GMT (RFC 9110 §5.6.7).
        let letters = (first | 0x20) &- 0x61 < 26
        guard letters, bytes.count >= 24, bytes.contains(0x3A) else { return false }
        let day = bytes.prefix(3).map { $0 | 0x20 }
        return days.contains { $0.elementsEqual(day) } && (bytes[3] == UInt8(ascii: ",") || bytes[3] == 0x20)
    }

    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map { Array($0.utf8) }

    /// The shape of a random value; `nil` for other values, for example whole numbers.
    static func shape(_ bytes: UnsafeBufferPointer<UInt8>) -> Shape? {
        guard bytes.count >= 16, bytes.count <= 8 << 10, let first = bytes.first else { return nil }
        // Most values have a character that no random value has.
        guard bytes.allSatisfy({ isBase64($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        if bytes.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: "-") }) { return nil }
        if bytes.count == 36, bytes.count(where: { $0 == UInt8(ascii: "-") }) == 4, PathShape.isIdentifier(bytes) {
            return .uuid
        }
        if bytes.allSatisfy({ isDigit($0) || ($0 | 0x20) &- 0x61 < 6 }) {
            return bytes.contains(where: isDigit) ? .hexadecimal(length: bytes.count) : nil
        }
        guard bytes.contains(UInt8(ascii: ".")) else { return PathShape.isIdentifier(bytes) ? .random : nil }
        // A JSON Web Token, or another token of three parts.
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 && first == UInt8(ascii: "e") && parts.allSatisfy { $0.count >= 8 } ? .token : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isBase64(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || "-_=+/".utf8.contains(byte)
    }
}
