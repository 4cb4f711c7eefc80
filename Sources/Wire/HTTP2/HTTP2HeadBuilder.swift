import HTTPModel
import NIOCore

/// Makes the text form of a head from a header block; a connection has one incomplete block at most (RFC 9113 §4.3).
/// Pseudo-headers may come in any order, so they are kept until the first field.
struct HTTP2HeadBuilder: ~Copyable {
    enum Kind { case request, response, trailers }

    private struct Line {
        var name: Range<Int>
        var value: Range<Int>
        /// The line's end; `nil` if the value has white space around it, which is not sent on.
        var end: Int?
    }

    struct Block {
        fileprivate var kind = Kind.trailers
        fileprivate var listSize = 0
        fileprivate var hasStartLine = false
        fileprivate var method = 0..<0
        fileprivate var target = 0..<0
        fileprivate(set) var status = 0
        fileprivate(set) var contentLength: Int64?
        /// Whether the block exceeds a limit; the fields before that are kept.
        fileprivate(set) var isTooLarge = false
        /// Whether a value has a control character, which nghttp2 reported.
        fileprivate(set) var hasOddities = false
        /// Whether `Host` differs from `:authority` (RFC 9113 §8.3.1).
        fileprivate(set) var hasForeignHost = false

        // Ranges in `pseudo`.
        fileprivate var pseudoMethod = 0..<0
        fileprivate var pseudoScheme = 0..<0
        fileprivate var pseudoAuthority: Range<Int>?
        fileprivate var pseudoPath = 0..<0
        fileprivate var pseudoProtocol: Range<Int>?
    }

    private let maxListSize: Int
    private let maxFieldCount: Int
    private(set) var block = Block()
    private var text = ByteBuffer()
    private var lines: [Line] = []
    private var pseudo: [UInt8] = []

    init(settings: HTTP2Settings) {
        maxListSize = settings.maxHeaderListSize
        maxFieldCount = settings.maxFieldCount
    }

    mutating func begin(_ kind: Kind) {
        // A trailer section has no start line.
        block = Block(kind: kind, hasStartLine: kind == .trailers)
        text = ByteBuffer()
        lines.removeAll(keepingCapacity: true)
        pseudo.removeAll(keepingCapacity: true)
    }

    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, isOdd: Bool = false) {
        if isOdd { block.hasOddities = true }
        block.listSize += name.count + value.count + 32
        if block.listSize > maxListSize || lines.count >= maxFieldCount { block.isTooLarge = true }
        if block.isTooLarge { return }
        if name.first == .colon { return addPseudo(name: name, value: value) }
        if !block.hasStartLine { writeStartLine() }
        if name.count == 4, block.kind == .request, let authority = block.pseudoAuthority, name.isOption("host") {
            if !isSameAuthority(pseudo[authority], value) { block.hasForeignHost = true }
            return
        }
        if name.count == 14, block.kind != .trailers, name.isOption("content-length") {
            block.contentLength = value.decimalLength
        }
        writeLine(name: name, value: value)
    }

    private mutating func addPseudo(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = pseudo.count
        pseudo.append(contentsOf: value)
        let range = start..<pseudo.count
        // nghttp2 accepts only the names of RFC 9113 and 8441, each once; length and first letter tell them apart.
        switch (name.count, name[1]) {
        case (7, UInt8(ascii: "m")): block.pseudoMethod = range
        case (7, UInt8(ascii: "s")):
            if block.kind == .request { block.pseudoScheme = range } else { block.status = value.status }
        case (10, UInt8(ascii: "a")): block.pseudoAuthority = range
        case (5, UInt8(ascii: "p")): block.pseudoPath = range
        case (9, UInt8(ascii: "p")): block.pseudoProtocol = range
        default: break
        }
    }

    private mutating func writeStartLine() {
        block.hasStartLine = true
        if block.kind == .response {
            text.reserveCapacity(512)
            text.writeStaticString("HTTP/2 ")
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + block.status / 100 % 10))
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + block.status / 10 % 10))
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + block.status % 10))
            text.writeStaticString("\r\n")
            return
        }
        text.reserveCapacity(pseudo.count + 1024)
        block.method = write(pseudo[block.pseudoMethod])
        text.writeInteger(UInt8.space)
        // A plain CONNECT has no path; its target is the authority (RFC 9113 §8.5).
        let isTunnel = block.pseudoPath.isEmpty && pseudo[block.pseudoMethod].elementsEqual("CONNECT".utf8)
        block.target = write(pseudo[isTunnel ? block.pseudoAuthority ?? 0..<0 : block.pseudoPath])
        text.writeStaticString(" HTTP/2\r\n")
        guard let authority = block.pseudoAuthority else { return }
        let start = text.writerIndex
        text.writeStaticString("host: ")
        let value = write(pseudo[authority])
        text.writeStaticString("\r\n")
        lines.append(Line(name: start..<start + 4, value: value, end: text.writerIndex))
    }

    private mutating func writeLine(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = text.writerIndex
        let nameEnd = start + name.count
        text.writeFieldLine(value: value, nameCount: name.count) { $0.copyMemory(from: name) }
        var place = nameEnd + 2..<nameEnd + 2 + value.count
        var end: Int? = text.writerIndex
        if value.first?.isOptionalWhitespace == true || value.last?.isOptionalWhitespace == true {
            let trimmed = value.withoutOptionalWhitespace
            let lead = value.prefix { $0.isOptionalWhitespace }.count
            place = place.lowerBound + lead..<place.lowerBound + lead + trimmed.count
            end = nil
        }
        lines.append(Line(name: start..<nameEnd, value: place, end: end))
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>) -> Range<Int> {
        let start = text.writerIndex
        text.writeBytes(bytes)
        return start..<text.writerIndex
    }

    private func isSameAuthority(_ authority: ArraySlice<UInt8>, _ host: UnsafeRawBufferPointer) -> Bool {
        authority.count == host.count && zip(authority, host).allSatisfy { $0 == $1 || $0.lowercased == $1.lowercased }
    }
}

extension HTTP2HeadBuilder {
    var size: Int { text.readableBytes + pseudo.count }

    var scheme: String { String(decoding: pseudo[block.pseudoScheme], as: UTF8.self) }

    /// The value of `:protocol` (RFC 8441).
    var connectProtocol: String? { block.pseudoProtocol.map { String(decoding: pseudo[$0], as: UTF8.self) } }

    mutating func partialText() -> ByteBuffer {
        // Without a method there is no start line.
        if !block.hasStartLine, block.kind != .request || !block.pseudoMethod.isEmpty { writeStartLine() }
        return text
    }

    mutating func request() -> RequestHead {
        RequestHead(received: section(), method: block.method, target: block.target, version: .http2)
    }

    mutating func response() -> ResponseHead {
        ResponseHead(received: section(), status: block.status, reason: 10..<10, version: .http2)
    }

    mutating func trailers() -> FieldSection? { lines.isEmpty ? nil : section() }

    private mutating func section() -> FieldSection {
        if !block.hasStartLine { writeStartLine() }
        if block.kind != .trailers { text.writeStaticString("\r\n") }
        var section = FieldSection(received: text, expectedCount: lines.count)
        // A second reference to the bytes would cause a copy on their first change.
        text = ByteBuffer()
        for line in lines {
            let whole = line.end.map { line.name.lowerBound..<$0 }
            section.appendReceived(name: line.name, value: line.value, line: whole)
        }
        if block.hasOddities { section.noteOddities() }
        return section
    }
}

extension UnsafeRawBufferPointer {
    /// Without spaces and tabs at either end (RFC 9110 §5.5).
    var withoutOptionalWhitespace: UnsafeRawBufferPointer {
        guard let last, let first, let baseAddress, first.isOptionalWhitespace || last.isOptionalWhitespace else {
            return self
        }
        var start = 0
        var end = count
        while start < end, self[start].isOptionalWhitespace { start += 1 }
        while end > start, self[end - 1].isOptionalWhitespace { end -= 1 }
        return UnsafeRawBufferPointer(start: baseAddress + start, count: end - start)
    }

    fileprivate var status: Int { reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) } }
}

extension UInt8 {
    @inline(__always)
    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension ByteBuffer {
    /// Writes a field line with CRLF; `writeName` fills in the name.
    @inline(__always)
    mutating func writeFieldLine(
        value: UnsafeRawBufferPointer,
        nameCount: Int,
        writeName: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let count = nameCount + value.count + 4
        writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
            guard let start = target.baseAddress else { return 0 }
            writeName(UnsafeMutableRawBufferPointer(start: start, count: nameCount))
            target[nameCount] = .colon
            target[nameCount + 1] = .space
            if let bytes = value.baseAddress { (start + nameCount + 2).copyMemory(from: bytes, byteCount: value.count) }
            target[count - 2] = .carriageReturn
            target[count - 1] = .lineFeed
            return count
        }
    }
}
