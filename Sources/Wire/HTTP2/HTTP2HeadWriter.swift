internal import CNGHTTP2
import HTTPModel
import NIOCore

/// Writes a head or trailers as the text to record and as the list for nghttp2. Names become lower case, values lose
/// white space around them, and fields that HTTP/2 forbids are left out (RFC 9113 §8.2.2): those of one connection,
/// `TE` except for `trailers`, and fields that are not ``isCarried(_:_:)``.
struct HTTP2HeadWriter: ~Copyable {
    private struct Pair {
        var name: Range<Int>
        var value: Range<Int>
        var isSecret = false
    }

    private enum Pseudo {
        static let names: StaticString = ":method:path:authority:scheme:protocol"
        static let method = 0..<7
        static let path = 7..<12
        static let authority = 12..<22
        static let scheme = 22..<29
        static let connectProtocol = 29..<38
    }

    /// Names of pseudo-headers and values that are not in the text, then the text.
    private var bytes = ByteBuffer()
    private var pairs: [Pair] = []
    /// In a response `Host` is an ordinary field.
    private var keepsHost = false

    init(_ head: RequestHead, scheme: String, connectProtocol: String?) {
        prepare(head.fields)
        bytes.writeStaticString(Pseudo.names)
        let isTunnel = connectProtocol == nil && head.method == "CONNECT"
        pairs.append(Pair(name: Pseudo.method, value: 0..<0))
        if !isTunnel { pairs.append(Pair(name: Pseudo.scheme, value: write(scheme.utf8))) }
        if let connectProtocol { pairs.append(Pair(name: Pseudo.connectProtocol, value: write(connectProtocol.utf8))) }
        bytes.moveReaderIndex(to: bytes.writerIndex)
        pairs[0].value = write(head.method.utf8)
        bytes.writeInteger(UInt8.space)
        let target = writeTarget(head.targetBytes, isAuthority: isTunnel)
        bytes.writeStaticString(" HTTP/2\r\n")
        pairs.append(Pair(name: isTunnel ? Pseudo.authority : Pseudo.path, value: target))
        // An empty Host names nothing; then there is no :authority (RFC 9113 §8.3.1).
        let authority = writeHost(of: head)
        if !isTunnel, !authority.isEmpty { pairs.append(Pair(name: Pseudo.authority, value: authority)) }
        writeFields(head.fields)
        bytes.writeStaticString("\r\n")
    }

    init(_ head: ResponseHead) {
        prepare(head.fields)
        keepsHost = true
        let name = write(":status".utf8)
        bytes.moveReaderIndex(to: bytes.writerIndex)
        bytes.writeStaticString("HTTP/2 ")
        let status = bytes.writerIndex
        // A status below 100 is invalid, but is written with three digits, too.
        if head.status < 100 { bytes.writeStaticString(head.status < 10 ? "00" : "0") }
        bytes.writeString(String(head.status))
        pairs.append(Pair(name: name, value: status..<bytes.writerIndex))
        bytes.writeStaticString("\r\n")
        writeFields(head.fields)
        bytes.writeStaticString("\r\n")
    }

    init(trailers: FieldSection) {
        prepare(trailers)
        writeFields(trailers)
    }

    var text: ByteBuffer { bytes }

    var isEmpty: Bool { pairs.isEmpty }

    func withNameValues<Result>(_ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Result) -> Result {
        var whole = bytes
        whole.moveReaderIndex(to: 0)
        return whole.withUnsafeReadableBytes { storage in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: pairs.count) { list in
                for (index, pair) in pairs.enumerated() {
                    let field = nghttp2_nv(
                        name: storage.pointer(to: pair.name),
                        value: storage.pointer(to: pair.value),
                        namelen: pair.name.count,
                        valuelen: pair.value.count,
                        flags: pair.isSecret ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0
                    )
                    list.initializeElement(at: index, to: field)
                }
                return body(list)
            }
        }
    }

    private mutating func prepare(_ fields: FieldSection) {
        bytes.reserveCapacity(192 + fields.count * 40)
        pairs.reserveCapacity(fields.count + 5)
    }

    @discardableResult
    private mutating func write(_ source: some Sequence<UInt8>) -> Range<Int> {
        let start = bytes.writerIndex
        bytes.writeBytes(source)
        return start..<bytes.writerIndex
    }

    private mutating func writeTarget(_ target: ByteBufferView, isAuthority: Bool) -> Range<Int> {
        if isAuthority || target.first == UInt8(ascii: "/") || target.elementsEqual([UInt8(ascii: "*")]) {
            return write(target)
        }
        guard let colon = target.firstIndex(of: .colon), target[colon...].starts(with: "://".utf8),
            case let rest = target[(colon + 3)...],
            let path = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
        else { return write("/".utf8) }
        let start = bytes.writerIndex
        if rest[path] != UInt8(ascii: "/") { write("/".utf8) }
        write(rest[path...])
        return start..<bytes.writerIndex
    }

    private mutating func writeHost(of head: RequestHead) -> Range<Int> {
        guard let index = head.fields.firstIndex(of: .host) else { return 0..<0 }
        let lineStart = bytes.writerIndex
        bytes.writeStaticString("host: ")
        let start = bytes.writerIndex
        head.fields.withValue(at: index) { _ = bytes.writeBytes($0.withoutOptionalWhitespace) }
        let authority = start..<bytes.writerIndex
        guard !authority.isEmpty else {
            bytes.moveWriterIndex(to: lineStart)
            return authority
        }
        bytes.writeStaticString("\r\n")
        return authority
    }

    private mutating func writeFields(_ fields: FieldSection) {
        fields.forEachLine { name, value in
            if fields.hasOddities, !HTTP2HeadWriter.isCarried(name, value) { return }
            writeField(name: name, value: value.withoutOptionalWhitespace)
        }
    }

    /// Whether HTTP/2 allows a field: its name is a token, and its value has no control character but tabs.
    static func isCarried(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        !name.isEmpty && name.allSatisfy(\.isTokenCharacter) && !value.contains { $0.isControl && $0 != .tab }
    }

    private mutating func writeField(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        // A name that begins with a colon would look like a pseudo-header.
        if name.isEmpty || name.first == .colon || name.isConnectionSpecific && !(keepsHost && name.isHost) { return }
        if name.count == 2, name.isOption("te") {
            // The only value that TE may have (RFC 9113 §8.2.2).
            guard value.hasTrailersMember else { return }
            "trailers".utf8.withContiguousStorageIfAvailable {
                append(name: name, value: UnsafeRawBufferPointer($0), isSecret: false)
            }
            return
        }
        append(name: name, value: value, isSecret: name.isSecret(valueCount: value.count))
    }

    private mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, isSecret: Bool) {
        let start = bytes.writerIndex
        let valueStart = start + name.count + 2
        bytes.writeFieldLine(value: value, nameCount: name.count) { target in
            for index in 0..<name.count { target[index] = name[index].lowercased }
        }
        let value = valueStart..<(valueStart + value.count)
        pairs.append(Pair(name: start..<(start + name.count), value: value, isSecret: isSecret))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func pointer(to range: Range<Int>) -> UnsafeMutablePointer<UInt8>? {
        baseAddress.map { UnsafeMutablePointer(mutating: ($0 + range.lowerBound).assumingMemoryBound(to: UInt8.self)) }
    }

    /// Whether a field belongs to one connection, or is expressed differently in HTTP/2.
    var isConnectionSpecific: Bool {
        switch count {
        case 4: isHost
        case 7: isOption("upgrade")
        case 10: isOption("connection") || isOption("keep-alive")
        case 16: isOption("proxy-connection")
        case 17: isOption("transfer-encoding")
        default: false
        }
    }

    fileprivate var isHost: Bool { count == 4 && isOption("host") }

    /// Whether compression would make the value guessable (RFC 7541 §7.1.3).
    fileprivate func isSecret(valueCount: Int) -> Bool {
        switch count {
        case 6: valueCount < 20 && isOption("cookie")
        case 13: isOption("authorization")
        case 19: isOption("proxy-authorization")
        default: false
        }
    }

    /// Whether a `TE` value has `trailers`, with any weight.
    fileprivate var hasTrailersMember: Bool {
        split(separator: UInt8(ascii: ",")).contains { member in
            let name = member.prefix { $0 != UInt8(ascii: ";") }
            return UnsafeRawBufferPointer(rebasing: name).withoutOptionalWhitespace.isOption("trailers")
        }
    }
}
