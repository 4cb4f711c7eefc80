/// Numbers of JSON, which stay numbers where they are masked.
enum JSONNumber {
    /// So many signs of a number may stand before a place in it, and as many behind.
    private static let longest = 64

    /// The number that a place is in; `nil` where it is none of JSON: it follows the colon after a name in quotes, or a
    /// bracket or a comma, and a sign of JSON follows it.
    static func range(around range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        guard bytes[range].allSatisfy(isPart) else { return nil }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > 0, range.lowerBound - start <= longest, isPart(bytes[start - 1]) { start -= 1 }
        while end < bytes.count, end - range.upperBound <= longest, isPart(bytes[end]) { end += 1 }
        guard range.lowerBound - start <= longest, end - range.upperBound <= longest else { return nil }
        // What a number begins with and ends with (RFC 8259 §6).
        guard bytes[start] == UInt8(ascii: "-") || isDigit(bytes[start]), isDigit(bytes[end - 1]) else { return nil }
        var (before, after) = (start, end)
        while before > 0, isSpace(bytes[before - 1]) { before -= 1 }
        while after < bytes.count, isSpace(bytes[after]) { after += 1 }
        guard before > 0, after == bytes.count || ",]}".utf8.contains(bytes[after]) else { return nil }
        switch bytes[before - 1] {
        case UInt8(ascii: "["), UInt8(ascii: ","): return start..<end
        case UInt8(ascii: ":"):
            var quote = before - 1
            while quote > 0, isSpace(bytes[quote - 1]) { quote -= 1 }
            return quote > 0 && bytes[quote - 1] == UInt8(ascii: "\"") ? start..<end : nil
        default: return nil
        }
    }

    /// Whether numbers are all or a part of a list of JSON.
    static func isInList(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let before = bytes[..<range.lowerBound].last(where: { !isSpace($0) }),
            let after = bytes[range.upperBound...].first(where: { !isSpace($0) })
        else { return false }
        return "[,".utf8.contains(before) && "],".utf8.contains(after)
    }

    private static func isPart(_ byte: UInt8) -> Bool { isDigit(byte) || FieldScanner.numberSigns.contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
