import Content
import NIOCore
import Support

extension [UInt8] {
    /// The bytes cut into pieces: whole, one by one, and at random places.
    func splittings(seed: UInt64, count: Int = 20) -> [[[UInt8]]] {
        var generator = SplitMix(seed)
        let random = (0..<count).map { _ in
            var pieces: [[UInt8]] = []
            var rest = self[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...Swift.max(Swift.min(rest.count, 40), 1), using: &generator))
                pieces.append([UInt8](piece))
                rest = rest.dropFirst(piece.count)
            }
            return pieces
        }
        return [[self], map { [$0] }] + random
    }
}

extension StreamReader where Item == StreamedMessage {
    /// All messages of a stream, the unfinished one included.
    func messages(_ pieces: [[UInt8]]) -> [StreamedMessage] {
        var messages: [StreamedMessage] = []
        for piece in pieces { feed(ByteBuffer(bytes: piece)) { messages.append($0) } }
        finish { messages.append($0) }
        return messages
    }

    func messages(_ bytes: [UInt8]) -> [StreamedMessage] {
        messages([bytes])
    }
}

extension StreamCounter.Format {
    /// How many messages pieces of a stream have.
    func count(_ pieces: [[UInt8]], finishing: Bool = false) -> Int64 {
        var counter = StreamCounter(self)
        for piece in pieces { counter.feed(ByteBuffer(bytes: piece)) }
        if finishing { counter.finish() }
        return counter.count
    }
}

/// A WebSocket frame as it stands on the wire.
struct Frame {
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    var reserved: UInt8 = 0
    var mask: [UInt8]?

    static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }

    var bytes: [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case 0...125: bytes.append(maskBit | UInt8(payload.count))
        case 126...0xFFFF: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(payload.count >> shift & 0xFF)) }
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }
}

extension StreamedMessage {
    var webSocket: WebSocketDetails? {
        if case .webSocket(let details) = kind { details } else { nil }
    }

    var event: ServerSentEventDetails? {
        if case .event(let details) = kind { details } else { nil }
    }

    /// What a test compares first.
    var summary: String {
        let name = webSocket.map { $0.opcode.name } ?? event.map { $0.type } ?? "line"
        return "\(name) \(text ?? "\(Array(payload.readableBytesView))")\(isWhole ? "" : "…")"
    }
}
