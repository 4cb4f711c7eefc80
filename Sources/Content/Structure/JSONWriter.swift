package import HTTPModel
package import NIOCore
import Text

/// Writes JSON (RFC 8259) piece by piece into a sink, so that long strings need not be in memory, or into its buffer.
/// What a terminal would obey or hide is escaped, so that the output can be looked at and the values stay exact.
package struct JSONWriter {
    private static let flushSize = 64 * 1024

    private let sink: ((ByteBuffer) throws -> Void)?
    /// What is written and not yet handed over.
    package private(set) var buffer = ByteBuffer()
    /// For each open array or object: whether a comma must stand before the next element.
    private var needsComma: [Bool] = [false]
    /// The end of the open string that is not written yet, for its last character may not be whole.
    private var unwritten = ByteBuffer()

    /// Prepares to write into a sink; without one all stays in ``buffer``.
    package init(_ sink: ((ByteBuffer) throws -> Void)? = nil) { self.sink = sink }

    /// A text as a JSON string.
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
        separate()
        writeQuoted(name)
        buffer.writeInteger(UInt8(ascii: ":"))
        needsComma[needsComma.count - 1] = false
    }

    /// Begins a new line, between elements or at the end.
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
        separate()
        writeQuoted(text)
    }

    package mutating func value(_ number: some BinaryInteger) {
        separate()
        buffer.writeString(String(number))
    }

    package mutating func value(_ flag: Bool) {
        separate()
        buffer.writeString(flag ? "true" : "false")
    }

    /// Writes a number as it is spelled.
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

    package mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    /// Writes a member unless its value is absent.
    package mutating func optionalMember(_ name: String, _ text: String?) {
        if let text { member(name, text) }
    }

    package mutating func strings(_ name: String, _ texts: [String]) throws {
        key(name)
        try array { for text in texts { $0.value(text) } }
    }

    /// Writes what a session and exports have of an entry of a trace.
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

    /// Adds UTF-8 to the open string; the bytes must be valid as a whole, not each time.
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

    /// Hands over what is written so far.
    package mutating func flush() throws {
        guard let sink, buffer.readableBytes > 0 else { return }
        try sink(buffer)
        buffer.clear()
    }

    private mutating func separate() {
        if let last = needsComma.last, last { buffer.writeInteger(UInt8(ascii: ",")) }
        needsComma[needsComma.count - 1] = true
    }

    private mutating func writeQuoted(_ text: String) {
        var text = text
        buffer.writeInteger(UInt8(ascii: "\""))
        text.withUTF8 { writeEscaped(UnsafeRawBufferPointer($0)) }
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    /// Writes valid UTF-8.
    private mutating func writeEscaped(_ bytes: UnsafeRawBufferPointer) {
        var (runStart, index) = (0, 0)
        while index < bytes.count {
            let (start, byte) = (index, bytes[index])
            index += 1
            if byte &- 0x20 < 0x5F, byte != 0x22, byte != 0x5C { continue }
            var escape = ""
            switch byte {
            case 0x22: escape = "\\\""
            case 0x5C: escape = "\\\\"
            case 0x0A: escape = "\\n"
            case 0x0D: escape = "\\r"
            case 0x09: escape = "\\t"
            default:
                while index < bytes.count, bytes[index] & 0xC0 == 0x80 { index += 1 }
                guard let scalar = Unicode.Scalar(utf8: bytes[start..<index]), VisibleText.isHidden(scalar) else {
                    continue
                }
                escape = VisibleText.jsonEscape(scalar)
            }
            buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[runStart..<start]))
            buffer.writeString(escape)
            runStart = index
        }
        buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[runStart...]))
    }
}

extension Unicode.Scalar {
    /// The character of some bytes of valid UTF-8 that are one.
    fileprivate init?(utf8 bytes: Slice<UnsafeRawBufferPointer>) {
        guard let first = bytes.first else { return nil }
        // The first byte's marker goes; each of the others brings six bits.
        let marker: UInt8 = bytes.count == 1 ? 0x7F : 0x7F >> UInt8(truncatingIfNeeded: bytes.count)
        self.init(bytes.dropFirst().reduce(UInt32(first & marker)) { $0 << 6 | UInt32($1 & 0x3F) })
    }
}
