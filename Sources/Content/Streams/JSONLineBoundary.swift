/// Finds where the JSON texts of a stream end: at each line feed, or, in a JSON text sequence, after each text. A
/// stream that begins with the record separator is a JSON text sequence (RFC 7464). Its texts may contain line feeds: a
/// text ends at the line feed after its last bracket; one that is open at the next separator was cut off.
struct JSONLineBoundary {
    static let separator: UInt8 = 0x1E

    /// Whether the current text has anything except white space.
    private(set) var hasContent = false
    /// Whether the stream is a JSON text sequence; `nil` before its first byte.
    private(set) var isSequence: Bool?
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Reads from `start` (before the end of `bytes`) to the end of the current text, or of the bytes. Returns the
    /// position after the last byte read, and whether a text that is not blank ended there.
    mutating func advance(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (next: Int, isEnd: Bool) {
        if isSequence == nil { isSequence = bytes[start] == JSONLineBoundary.separator }
        guard isSequence == true else { return line(bytes, from: start) }
        for position in start..<bytes.count where take(bytes[position]) { return (position + 1, true) }
        return (bytes.count, false)
    }

    private mutating func line(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (next: Int, isEnd: Bool) {
        let lineFeed = bytes.offset(of: 0x0A, from: start)
        var position = start
        while !hasContent, position < (lineFeed ?? bytes.count) {
            hasContent = !JSONLineBoundary.isSpace(bytes[position])
            position += 1
        }
        guard let lineFeed else { return (bytes.count, false) }
        defer { hasContent = false }
        return (lineFeed + 1, hasContent)
    }

    /// Takes a byte of a JSON text sequence; `true` if it ends a text.
    private mutating func take(_ byte: UInt8) -> Bool {
        if byte == JSONLineBoundary.separator {
            // A JSON text cannot have the separator in it, so a text that is still open here was cut off.
            let wasCut = hasContent
            reset()
            return wasCut
        }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case 0x0A where depth <= 0 && hasContent:
            reset()
            return true
        default: break
        }
        if !JSONLineBoundary.isSpace(byte) { hasContent = true }
        return false
    }

    private mutating func reset() {
        hasContent = false
        depth = 0
        isInString = false
        isEscaped = false
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}
