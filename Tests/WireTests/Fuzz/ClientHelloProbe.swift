import NIOCore
import Support
import Wire

/// Reads bytes as the first that a client of TLS sends, as more and more of them come: an answer, once given, is the
/// answer for whatever follows, and what was read is part of what was sent.
enum ClientHelloProbe {
    static func run(_ whole: [UInt8]) throws {
        var input = FuzzInput(whole)
        let bytes = input.bytes
        let atOnce = ClientHello.parse(ByteBuffer(bytes: bytes))
        var count = 0
        for piece in input.pieces(of: bytes) {
            count += piece.count
            let early = ClientHello.parse(ByteBuffer(bytes: bytes[..<count]))
            guard early != .needMoreData else { continue }
            try demand(early == atOnce, "\(early) after \(count) bytes, \(atOnce) after \(bytes.count)")
        }
        switch atOnce {
        case .notTLS: break
        case .needMoreData:
            try demand(bytes.count < ClientHello.maximumLength, "\(bytes.count) bytes are not enough")
        case .hello(let hello):
            let size = (hello.serverName?.unicodeScalars.count ?? 0) + hello.supportedVersions.count
            try demand(size <= bytes.count, "\(hello) of \(bytes.count) bytes")
            try demand(hello.serverName != "", "a name of no letters")
            try demand(!(hello.alpnProtocols ?? []).contains(""), "a protocol of no letters")
            // Where bytes follow, the hello is the same.
            let longer = ClientHello.parse(ByteBuffer(bytes: bytes + [0xFF, 0]))
            try demand(longer == atOnce, "\(atOnce) becomes \(longer) with more behind it")
        }
    }

    static let seeds: [[UInt8]] = [
        FuzzInput.made(record(hello([0, 0, 0, 7, 0, 5, 0, 0, 2, 97, 46])), [1, 3]),
        FuzzInput.made(record(hello([0, 16, 0, 5, 0, 3, 2, 104, 50, 0, 43, 0, 7, 6, 0x1A, 0x1A, 3, 4, 3, 3])), [2]),
        FuzzInput.made(record(hello(nil)) + [20, 3, 3, 0, 1, 1], [4]),
        FuzzInput.made(record(Array(hello([]).prefix(20))) + record(Array(hello([]).dropFirst(20))), [1]),
        FuzzInput.made([22, 3, 1, 0x40, 0, 1, 0, 0xFF, 0xFF], [1]), FuzzInput.made(Array("GET / HTTP/1.1".utf8), [1]),
    ]

    private static func record(_ message: [UInt8]) -> [UInt8] {
        [22, 3, 1, UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
    }

    private static func hello(_ extensions: [UInt8]?) -> [UInt8] {
        let random = [UInt8](repeating: 7, count: 32)
        var body: [UInt8] = [3, 3] + random + [0, 0, 2, 0x13, 1, 1, 0]
        if let extensions { body += [0, UInt8(extensions.count)] + extensions }
        return [1, 0, 0, UInt8(body.count)] + body
    }
}
