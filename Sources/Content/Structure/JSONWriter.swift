package import HTTPModel
package import NIOCore
import Text

/// Writes JSON (RFC 8259) piecewise into a sink or a buffer. Escapes characters that a terminal would obey or hide.
package struct JSONWriter {
    private static let flushSize = 64 * 1024

    private let sink: ((ByteBuffer) throws -> Void)?
    /// Output that the sink has not received yet.
    package private(set) var buffer = ByteBuffer()
    /// For each open array or object: whether a comma must stand before the next element.
    private var needsComma: [Bool] = [false]
    /// The unwritten end of the open string: its last character may be incomplete.
    private var unwritten = ByteBuffer()

    /// Without a sink, all output stays in ``buffer``.
    package init(_ sink: ((ByteBuffer) throws -> Void)? = nil) { self.sink = sink }

    /// The text as a JSON string, with quotes and escapes.
    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.value(text)
        return String(buffer: writer.buffer)
    }

    // MARK: Structure

    package mutating func object(_ body: (inout JSONWriter) throws -> Void) throws {
        open(UInt8(ascii: "{"))
        try body(&self)
        try close(UInt8(ascii: "}"))
    }

    package mutating func array(_ body: (inout JSONWriter) throws -> Void) throws {
        open(UInt8(ascii: "["))
        try body(&self)
        try close(UInt8(ascii: "]"))
    }

    package mutating func object(_ name: String, _ body: (inout JSONWriter) throws -> Void) throws {
        key(name)
        try object(body)
    }

    /// Writes a member that is an array with an object for each element.
    package mutating func objects<Elements: Sequence>(
        _ name: String,
        _ elements: Elements,
        _ body: (inout JSONWriter, Elements.Element) throws -> Void
    ) throws {
        key(name)
        try array { array in
            for element in elements { try array.object { try body(&$0, element) } }
        }
    }

    package mutating func open(_ bracket: UInt8) {
        separate()
        buffer.writeInteger(bracket)
        needsComma.append(false)
    }

    package mutating func close(_ bracket: UInt8) throws {
        needsComma.removeLast()
        buffer.writeInteger(bracket)
        if buffer.readableBytes >= JSONWriter.flushSize { try flush() }
    }

    package mutating func key(_ name: String) {
        writeQuoted(name, isKey: true)
        needsComma[needsComma.count - 1] = false
    }

    /// Begins a new line between elements or at the end.
    package mutating func lineBreak() {
        if let last = needsComma.last, last { buffer.writeInteger(UInt8(ascii: ",")) }
        needsComma[needsComma.count - 1] = false
        buffer.writeInteger(UInt8(ascii: "\n"))
    }

    /// Ends a line of newline-delimited JSON.
    package mutating func endLine() throws {
        needsComma[needsComma.count - 1] = false
        buffer.writeInteger(UInt8(ascii: "\n"))
        if buffer.readableBytes >= JSONWriter.flushSize { try flush() }
    }

    // MARK: Values

    package mutating func value(_ text: String) {
        writeQuoted(text)
        needsComma[needsComma.count - 1] = true
    }

    package mutating func value(_ number: some BinaryInteger) {
        separate()
        buffer.writeString(String(number))
    }

    // Not generic: other modules cannot specialise the generic overload, which makes it slow there.
    package mutating func value(_ number: Int64) {
        separate()
        writeDigits(number.magnitude, isNegative: number < 0)
    }

    /// Writes `number` × 10^-`decimals`. `trimsZeros` leaves out trailing zeros.
    package mutating func value(_ number: Int64, decimals: Int, trimsZeros: Bool) {
        separate()
        var unit: UInt64 = 1
        for _ in 0..<decimals { unit *= 10 }
        let (whole, fraction) = number.magnitude.quotientAndRemainder(dividingBy: unit)
        writeDigits(whole, isNegative: number < 0)
        if trimsZeros, fraction == 0 { return }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: decimals + 1) { output in
            output[0] = UInt8(ascii: ".")
            var rest = fraction
            for place in stride(from: decimals, to: 0, by: -1) {
                output[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            var count = decimals + 1
            while trimsZeros, output[count - 1] == UInt8(ascii: "0") { count -= 1 }
            return count
        }
    }

    private mutating func writeDigits(_ magnitude: UInt64, isNegative: Bool) {
        // 2^64 has 20 digits.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 21) { output in
            var count = isNegative ? 1 : 0
            if isNegative { output[0] = UInt8(ascii: "-") }
            var (rest, length) = (magnitude, 1)
            while rest >= 10 { (rest, length) = (rest / 10, length + 1) }
            rest = magnitude
            count += length
            for place in stride(from: count - 1, through: count - length, by: -1) {
                output[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return count
        }
    }

    package mutating func value(_ flag: Bool) {
        separate()
        buffer.writeString(flag ? "true" : "false")
    }

    /// Writes a number unchanged.
    package mutating func number(_ spelling: String) {
        separate()
        buffer.writeString(spelling)
    }

    package mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    package mutating func member(_ name: String, _ number: some BinaryInteger) {
        key(name)
        value(number)
    }

    package mutating func member(_ name: String, _ number: Int64) {
        key(name)
        value(number)
    }

    package mutating func member(_ name: String, _ number: Int) {
        key(name)
        value(Int64(number))
    }

    /// Writes a member with a field's value: as UTF-8 if its bytes are valid UTF-8, if not as Latin-1 (RFC 9110 §5.5).
    package mutating func member(_ name: String, fieldBytes bytes: UnsafeRawBufferPointer) {
        guard JSONWriter.isASCII(bytes) else { return member(name, String(fieldBytes: bytes)) }
        key(name)
        writeQuoted(bytes)
        needsComma[needsComma.count - 1] = true
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    package mutating func optionalMember(_ name: String, _ text: String?) {
        if let text { member(name, text) }
    }

    package mutating func strings(_ name: String, _ texts: [String]) throws {
        key(name)
        try array { for text in texts { $0.value(text) } }
    }

    /// Writes a trace entry's members, as sessions and exports contain them.
    package mutating func members(of entry: TraceEntry) {
        member("stage", entry.stage)
        optionalMember("rule", entry.rule)
        member("outcome", entry.outcome.rawValue)
        member("text", entry.text)
    }

    // MARK: Long strings

    package mutating func beginString() {
        separate()
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    /// Adds UTF-8 to the open string. A character may be split between two calls.
    package mutating func stringPiece(_ bytes: UnsafeRawBufferPointer) throws {
        unwritten.writeBytes(bytes)
        unwritten.readWholeCharacters().withUnsafeReadableBytes { writeEscaped($0) }
        unwritten.discardReadBytes()
        if buffer.readableBytes >= JSONWriter.flushSize { try flush() }
    }

    package mutating func endString() {
        unwritten.readBytes(length: unwritten.readableBytes)?.withUnsafeBytes { writeEscaped($0) }
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    /// Adds JSON that another writer wrote: elements of the open array. If it `isContinued`, no comma precedes it.
    package mutating func add(_ bytes: ByteBuffer, isContinued: Bool) throws {
        if !isContinued { separate() }
        buffer.writeImmutableBuffer(bytes)
        if buffer.readableBytes >= JSONWriter.flushSize { try flush() }
    }

    package mutating func flush() throws {
        guard let sink, buffer.readableBytes > 0 else { return }
        try sink(buffer)
        buffer.clear()
    }

    private mutating func separate() {
        if let last = needsComma.last, last { buffer.writeInteger(UInt8(ascii: ",")) }
        needsComma[needsComma.count - 1] = true
    }

    private mutating func writeQuoted(_ text: String, isKey: Bool = false) {
        var text = text
        text.withUTF8 { writeQuoted(UnsafeRawBufferPointer($0), isKey: isKey) }
    }

    /// Writes a comma if needed, then the bytes (valid UTF-8) as a quoted string.
    private mutating func writeQuoted(_ bytes: UnsafeRawBufferPointer, isKey: Bool = false) {
        let hasComma = needsComma[needsComma.count - 1]
        guard bytes.count <= JSONWriter.plainAtOnce else {
            separate()
            buffer.writeInteger(UInt8(ascii: "\""))
            writeEscaped(bytes)
            buffer.writeStaticString(isKey ? "\":" : "\"")
            return
        }
        // Most strings are short and plain, and written in one go.
        var place = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count * 2 + 4) { output in
            var count = 0
            if hasComma {
                output[0] = UInt8(ascii: ",")
                count = 1
            }
            output[count] = UInt8(ascii: "\"")
            count += 1
            count += JSONWriter.copy(bytes, from: &place, to: UnsafeMutableRawBufferPointer(rebasing: output[count...]))
            guard place == bytes.count else { return count }
            output[count] = UInt8(ascii: "\"")
            if isKey { output[count + 1] = UInt8(ascii: ":") }
            return count + (isKey ? 2 : 1)
        }
        guard place < bytes.count else { return }
        writeEscaped(UnsafeRawBufferPointer(rebasing: bytes[place...]))
        buffer.writeStaticString(isKey ? "\":" : "\"")
    }

    /// The size in bytes of a block that is copied at once.
    private static let plainAtOnce = 4_096

    /// Writes valid UTF-8 with escapes, without quotes.
    private mutating func writeEscaped(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place < bytes.count {
            let start = place
            let part = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, start + JSONWriter.plainAtOnce)])
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: (part.count - start) * 2) {
                JSONWriter.copy(part, from: &place, to: $0)
            }
            if place < part.count { writeSpecial(bytes, from: &place) }
        }
    }

    /// Writes characters that `copy` stops at: controls and non-ASCII. Ends after escaping the first hidden one.
    private mutating func writeSpecial(_ bytes: UnsafeRawBufferPointer, from place: inout Int) {
        let start = place
        var hidden: Unicode.Scalar?
        var end = start
        repeat {
            let first = place
            place += 1
            while place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += 1 }
            if let scalar = Unicode.Scalar(utf8: bytes[first..<place]), VisibleText.isHidden(scalar) { hidden = scalar }
            if hidden == nil { end = place }
        } while hidden == nil && place < bytes.count && bytes[place] >= 0x7F
        buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        if let hidden { buffer.writeString(VisibleText.jsonEscape(hidden)) }
    }

    /// Copies bytes up to one that is not printable ASCII and has no short escape. `output` has twice their size.
    private static func copy(
        _ bytes: UnsafeRawBufferPointer,
        from place: inout Int,
        to output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var count = 0
        while place < bytes.count {
            if place + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                if isPlain(word) {
                    output.storeBytes(of: word, toByteOffset: count, as: UInt64.self)
                    (place, count) = (place + 8, count + 8)
                    continue
                }
            }
            // Copies plain characters up to the next special one, and escapes that one.
            var isPlain = true
            while isPlain, place < bytes.count {
                let byte = bytes[place]
                isPlain = byte &- 0x20 < 0x5F && byte != 0x22 && byte != 0x5C
                if isPlain {
                    output[count] = byte
                    count += 1
                } else {
                    guard let letter = letter(escaping: byte) else { return count }
                    output[count] = 0x5C
                    output[count + 1] = letter
                    count += 2
                }
                place += 1
            }
        }
        return count
    }

    private static func letter(escaping byte: UInt8) -> UInt8? {
        switch byte {
        case 0x22, 0x5C: byte
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
        default: nil
        }
    }

    /// Whether eight bytes are printable ASCII without quotes and backslashes; a `false` may be wrong.
    private static func isPlain(_ word: UInt64) -> Bool {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let (quotes, backslashes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
        let small = (word &- ones &* 0x20) & ~word
        let special = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return (small | special | word | (word &+ ones)) & highs == 0
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var (place, all): (Int, UInt64) = (0, 0)
        while place + 8 <= bytes.count {
            all |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < bytes.count {
            all |= UInt64(bytes[place])
            place += 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }
}

extension Unicode.Scalar {
    /// The character of a valid UTF-8 sequence.
    fileprivate init?(utf8 bytes: Slice<UnsafeRawBufferPointer>) {
        guard let first = bytes.first else { return nil }
        // Removes the first byte's length marker; each other byte has six bits of the character.
        let marker: UInt8 = bytes.count == 1 ? 0x7F : 0x7F >> UInt8(truncatingIfNeeded: bytes.count)
        self.init(bytes.dropFirst().reduce(UInt32(first & marker)) { $0 << 6 | UInt32($1 & 0x3F) })
    }
}
