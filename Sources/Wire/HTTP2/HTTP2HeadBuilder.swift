import HTTPModel
import NIOCore

/// Turns the fields of one received header block into the text form of a head, as they come.
///
/// A connection has one header block under way at most (RFC 9113 §4.3), so a session has one builder. Pseudo-headers may
/// come in any order and are kept apart until the first field; from then on everything goes straight into the text.
struct HTTP2HeadBuilder: ~Copyable {
    enum Kind {
        case request
        case response
        case trailers
    }

    private struct Line {
        var start: Int
        var nameEnd: Int
        var valueStart: Int
        var valueEnd: Int
    }

    private let maxListSize: Int
    private let maxFieldCount: Int

    private var kind = Kind.trailers
    private var text = ByteBuffer()
    private var lines: [Line] = []
    private var listSize = 0
    private var hasStartLine = false
    private var method = 0..<0
    private var target = 0..<0
    private(set) var status = 0
    private(set) var contentLength: Int64?
    /// Whether the block is larger than we bear; what came until then is kept.
    private(set) var isTooLarge = false
    /// Whether `Host` says something else than `:authority` (RFC 9113 §8.3.1).
    private(set) var hasForeignHost = false

    /// The values of the pseudo-headers, one after the other.
    private var pseudo: [UInt8] = []
    private var pseudoMethod = 0..<0
    private var pseudoScheme = 0..<0
    private var pseudoAuthority: Range<Int>?
    private var pseudoPath = 0..<0
    private var pseudoProtocol: Range<Int>?

    init(settings: HTTP2Settings) {
        maxListSize = settings.maxHeaderListSize
        maxFieldCount = settings.maxFieldCount
    }

    /// Starts a new block and forgets the last one.
    mutating func begin(_ kind: Kind) {
        self.kind = kind
        text = ByteBuffer()
        lines.removeAll(keepingCapacity: true)
        pseudo.removeAll(keepingCapacity: true)
        listSize = 0
        // A trailer section has no start line.
        hasStartLine = kind == .trailers
        method = 0..<0
        target = 0..<0
        status = 0
        contentLength = nil
        isTooLarge = false
        hasForeignHost = false
        pseudoMethod = 0..<0
        pseudoScheme = 0..<0
        pseudoAuthority = nil
        pseudoPath = 0..<0
        pseudoProtocol = nil
    }

    /// Adds a field that nghttp2 found acceptable.
    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        listSize += name.count + value.count + 32
        if listSize > maxListSize || lines.count >= maxFieldCount { isTooLarge = true }
        if isTooLarge { return }
        if name.first == .colon {
            addPseudo(name: name, value: value)
            return
        }
        if !hasStartLine { writeStartLine() }
        if name.count == 4, kind == .request, let pseudoAuthority, name.isOption("host") {
            if !isSameAuthority(pseudo[pseudoAuthority], value) { hasForeignHost = true }
            return
        }
        if name.count == 14, kind != .trailers, name.isOption("content-length") {
            contentLength = value.decimalLength
        }
        writeLine(name: name, value: value)
    }

    private mutating func addPseudo(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = pseudo.count
        pseudo.append(contentsOf: value)
        let range = start..<pseudo.count
        // nghttp2 lets only the names through that RFC 9113 and RFC 8441 know, each once; these differ here.
        switch (name.count, name[1]) {
        case (7, UInt8(ascii: "m")): pseudoMethod = range
        case (7, UInt8(ascii: "s")): if kind == .request { pseudoScheme = range } else { status = value.status }
        case (10, UInt8(ascii: "a")): pseudoAuthority = range
        case (5, UInt8(ascii: "p")): pseudoPath = range
        case (9, UInt8(ascii: "p")): pseudoProtocol = range
        default: break
        }
    }

    private mutating func writeStartLine() {
        hasStartLine = true
        if kind == .response {
            text.reserveCapacity(512)
            text.writeStaticString("HTTP/2 ")
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + status / 100 % 10))
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + status / 10 % 10))
            text.writeInteger(UInt8(truncatingIfNeeded: 0x30 + status % 10))
            text.writeStaticString("\r\n")
            return
        }
        text.reserveCapacity(pseudo.count + 1024)
        method = write(pseudo[pseudoMethod])
        text.writeInteger(UInt8.space)
        // A plain CONNECT has no path; its target is the authority (RFC 9113 §8.5).
        let isTunnel = pseudoPath.isEmpty && pseudo[pseudoMethod].elementsEqual("CONNECT".utf8)
        target = write(pseudo[isTunnel ? pseudoAuthority ?? 0..<0 : pseudoPath])
        text.writeStaticString(" HTTP/2\r\n")
        guard let pseudoAuthority else { return }
        let start = text.writerIndex
        text.writeStaticString("host: ")
        write(pseudo[pseudoAuthority])
        finishLine(from: start, nameEnd: start + 4, valueStart: start + 6)
    }

    private mutating func writeLine(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let value = value.withoutOptionalWhitespace
        let start = text.writerIndex
        let nameEnd = start + name.count
        lines.append(
            Line(start: start, nameEnd: nameEnd, valueStart: nameEnd + 2, valueEnd: nameEnd + 2 + value.count)
        )
        text.writeFieldLine(value: value, nameCount: name.count) { $0.copyMemory(from: name) }
    }

    private mutating func finishLine(from start: Int, nameEnd: Int, valueStart: Int) {
        lines.append(Line(start: start, nameEnd: nameEnd, valueStart: valueStart, valueEnd: text.writerIndex))
        text.writeStaticString("\r\n")
    }

    @discardableResult
    private mutating func write(_ bytes: ArraySlice<UInt8>) -> Range<Int> {
        let start = text.writerIndex
        text.writeBytes(bytes)
        return start..<text.writerIndex
    }

    /// Whether both name the same host and port, in any case.
    private func isSameAuthority(_ authority: ArraySlice<UInt8>, _ host: UnsafeRawBufferPointer) -> Bool {
        authority.count == host.count && zip(authority, host).allSatisfy { $0 == $1 || $0.lowercased == $1.lowercased }
    }
}

// MARK: - What came of it

extension HTTP2HeadBuilder {
    /// The value of `:scheme`; empty for a plain CONNECT.
    var scheme: String { String(decoding: pseudo[pseudoScheme], as: UTF8.self) }

    /// The value of `:protocol` (RFC 8441).
    var connectProtocol: String? { pseudoProtocol.map { String(decoding: pseudo[$0], as: UTF8.self) } }

    /// The head's text form, as far as it came.
    mutating func partialText() -> ByteBuffer {
        // Without a method there is nothing that could be taken for a start line.
        if !hasStartLine, kind != .request || !pseudoMethod.isEmpty { writeStartLine() }
        return text
    }

    /// The complete request.
    mutating func request() -> RequestHead {
        RequestHead(received: section(), method: method, target: target, version: .http2)
    }

    /// The complete response.
    mutating func response() -> ResponseHead {
        let section = section()
        return ResponseHead(received: section, status: status, reason: 10..<10, version: .http2)
    }

    /// The trailer section; `nil` for one without fields.
    mutating func trailers() -> FieldSection? { lines.isEmpty ? nil : section() }

    private mutating func section() -> FieldSection {
        if !hasStartLine { writeStartLine() }
        if kind != .trailers { text.writeStaticString("\r\n") }
        var section = FieldSection(received: text, expectedCount: lines.count)
        // From here on the bytes belong to the section; a copy kept here would have to be copied on its first change.
        text = ByteBuffer()
        for line in lines {
            section.appendReceived(
                name: line.start..<line.nameEnd,
                value: line.valueStart..<line.valueEnd,
                line: line.start..<(line.valueEnd + 2)
            )
        }
        return section
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without spaces and tabs at both ends (RFC 9110 §5.5).
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

    /// The number of three digits that nghttp2 has checked.
    fileprivate var status: Int { reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) } }
}

extension UInt8 {
    /// The lower-case form of an ASCII letter; every other byte as it is.
    @inline(__always)
    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension ByteBuffer {
    /// Writes a field line with its CRLF in one go; `writeName` fills in the name.
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
            if let bytes = value.baseAddress {
                (start + nameCount + 2).copyMemory(from: bytes, byteCount: value.count)
            }
            target[count - 2] = .carriageReturn
            target[count - 1] = .lineFeed
            return count
        }
    }
}
