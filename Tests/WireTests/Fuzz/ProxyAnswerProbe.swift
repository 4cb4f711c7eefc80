import NIOCore
import Support
import Wire

/// A handshake with a proxy of which every answer is given.
struct PlayedHandshake: Equatable {
    private(set) var sent: [[UInt8]]
    private(set) var end = ProxyAnswer.more

    /// Gives a handshake the bytes in pieces, up to its end.
    init(_ handshake: any ProxyHandshake, _ pieces: [[UInt8]]) {
        sent = [Array(handshake.begin().readableBytesView)]
        for (index, piece) in pieces.enumerated() {
            end = handshake.receive(ByteBuffer(bytes: piece))
            while case .send(let bytes) = end {
                sent.append(Array(bytes.readableBytesView))
                end = handshake.receive(ByteBuffer())
            }
            switch end {
            case .more, .send, .refused(_, isWhole: false): break
            case .open(let rest):
                // What comes later is the server's as it is.
                var all = rest ?? ByteBuffer()
                all.writeBytes(pieces[(index + 1)...].joined())
                end = .open(rest: all.readableBytes > 0 ? all : nil)
                return
            case .refused(_, isWhole: true): return
            }
        }
    }
}

/// Has a proxy answer with arbitrary bytes, and checks that it makes no difference how these are cut.
enum ProxyAnswerProbe {
    static let seeds: [[UInt8]] = [
        FuzzInput.made(Array("HTTP/1.1 200 OK\r\nVia: x\r\n\r\nrest".utf8), [0, 3, 2, 1]),
        FuzzInput.made(Array("HTTP/1.1 100 Go\r\n\r\nHTTP/1.0 200\r\n\r\n".utf8), [0, 1]),
        FuzzInput.made(
            Array("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno".utf8),
            [0, 1]
        ),
        FuzzInput.made(
            Array("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n<title>a</title>\r\n0\r\n\r\n".utf8),
            [0, 4]
        ),
        FuzzInput.made([5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80, 104, 105], [1, 1]),
        FuzzInput.made([5, 2, 1, 0, 5, 0, 0, 3, 1, 97, 0, 80], [2, 2]),
        FuzzInput.made([5, 2, 1, 0, 5, 0, 0, 4] + [UInt8](repeating: 0, count: 18), [2, 1]),
        FuzzInput.made([5, 0, 5, 4], [1, 1]), FuzzInput.made([5, 255], [2, 1]),
    ]

    static func run(_ whole: [UInt8]) throws {
        var input = FuzzInput(whole)
        let handshakes: [() -> any ProxyHandshake] = [
            { ConnectHandshake(authority: "a.example:443", authorization: "Basic eDp5") },
            { SOCKS5ClientHandshake(host: "a.example", port: 443) },
            { SOCKS5ClientHandshake(host: "::1", port: 1, user: "me", password: "pass") },
        ]
        let make = input.choose(handshakes)
        let atOnce = PlayedHandshake(make(), [input.bytes])
        let cut = PlayedHandshake(make(), input.pieces(of: input.bytes))
        let bytes = PlayedHandshake(make(), input.bytes.map { [$0] })
        try demand(input.bytes.isEmpty || same(atOnce, cut), "\(atOnce) became \(cut) in pieces")
        try demand(input.bytes.isEmpty || same(atOnce, bytes), "\(atOnce) became \(bytes) byte by byte")
    }

    private static func same(_ one: PlayedHandshake, _ other: PlayedHandshake) -> Bool {
        guard one.sent == other.sent else { return false }
        // A refusal that has all that is read of its text is one whether or not the rest was looked at.
        switch (one.end, other.end) {
        case (.refused(.status(let left), _), .refused(.status(let right), _)): return left == right
        default: return one.end == other.end
        }
    }
}
