import NIOCore

/// Writes frames for seeds and probes, without the tests' own types: it is built into the fuzzers too.
struct FuzzFrames {
    enum Kind: UInt8 {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
        case unknown = 0xEE
    }

    static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let pseudo = [(":method", "POST"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    static let response = [(":status", "200")]

    private(set) var bytes = ByteBuffer()

    mutating func add(_ kind: Kind, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []) {
        bytes.writeInteger(UInt32(payload.count) << 8 | UInt32(kind.rawValue))
        bytes.writeInteger(flags)
        bytes.writeInteger(stream)
        bytes.writeBytes(payload)
    }

    mutating func head(on stream: UInt32 = 1, _ fields: [(String, String)], isEnd: Bool = true) {
        let flags = FuzzFrames.endHeaders | (isEnd ? FuzzFrames.endStream : 0)
        add(.headers, flags: flags, on: stream, FuzzFrames.block(fields))
    }

    mutating func request(on stream: UInt32 = 1, _ fields: [(String, String)] = [], isEnd: Bool = true) {
        head(on: stream, FuzzFrames.pseudo + fields, isEnd: isEnd)
    }

    mutating func data(_ text: String, on stream: UInt32 = 1, isEnd: Bool = false) {
        add(.data, flags: isEnd ? FuzzFrames.endStream : 0, on: stream, Array(text.utf8))
    }

    mutating func settings(_ entries: [(id: UInt16, value: UInt32)]) {
        add(.settings, entries.flatMap { FuzzFrames.big($0.id) + FuzzFrames.big($0.value) })
    }

    /// A header block of literals without indexing or Huffman coding (RFC 7541 §6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0x00] + literal(Array(name.utf8)) + literal(Array(value.utf8)) }
    }

    /// A string without Huffman coding (RFC 7541 §5.2), of at most 16,510 bytes.
    static func literal(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        let rest = bytes.count - 127
        let length = rest < 128 ? [UInt8(rest)] : [UInt8(rest & 0x7F | 0x80), UInt8(truncatingIfNeeded: rest >> 7)]
        return [127] + length + bytes
    }

    /// An integer's bytes, the highest first.
    static func big(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
