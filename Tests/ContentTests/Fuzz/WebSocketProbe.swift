import Content
import NIOCore
import Support

/// Reads frames of one direction of a WebSocket, arbitrary ones or right ones, and checks that the pieces they come in
/// make no difference, that the counter counts what the reader reads, and that right frames give the messages sent.
struct WebSocketProbe {
    private static let agreements = [
        "", "permessage-deflate", "x-other",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
    ]

    /// What came of a stream.
    private struct Outcome: Equatable {
        var messages: [StreamedMessage] = []
        /// How many of them were there before the end of the stream.
        var wholeCount = 0
        var problem: StreamError?
    }

    private struct Sent: Equatable {
        var opcode: WebSocketOpcode
        var payload: [UInt8]
    }

    private var input: FuzzInput
    private let direction: StreamedMessage.Direction
    private let agreement: String
    private let payloadLimit: Int

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var probe = WebSocketProbe(bytes)
        try probe.run()
    }

    private init(_ whole: [UInt8]) {
        input = FuzzInput(whole)
        direction = input.choose([.fromClient, .fromServer])
        agreement = input.choose(WebSocketProbe.agreements)
        payloadLimit = input.choose([64 << 10, 0, 7])
    }

    private mutating func run() throws {
        let isBuilt = input.number(below: 2) == 1
        let (bytes, sent) = isBuilt ? try build() : (input.bytes, [])
        let whole = read([bytes])
        let split = read(input.pieces(of: bytes))
        try demand(whole == split, "\(whole) whole, \(split) in pieces")
        try check(whole, of: bytes)
        try count(whole, bytes)
        guard isBuilt else { return }
        try demand(whole.problem == nil, "right frames are refused: \(whole.problem?.message ?? "")")
        let read = try whole.messages.map { message in
            guard case .webSocket(let details) = message.kind else { throw ProbeError(description: "no WebSocket") }
            try demand(message.notes.isEmpty && message.isWhole, "there is a note on what is right: \(message.notes)")
            try demand(message.size >= message.payload.readableBytes, "a payload larger than its size")
            return Sent(opcode: details.opcode, payload: Array(message.payload.readableBytesView))
        }
        try demand(read.map(\.opcode) == sent.map(\.opcode), "other messages are read than were sent")
        if payloadLimit > 10_000 { try demand(read == sent, "other payloads are read than were sent") }
        try demand(whole.messages.map { Int($0.size) } == sent.map(\.payload.count), "other sizes than were sent")
    }

    private func read(_ pieces: [[UInt8]]) -> Outcome {
        let extensions = WebSocketExtensions(agreement)
        let reader = WebSocketReader(direction: direction, extensions: extensions, payloadLimit: payloadLimit)
        var outcome = Outcome()
        for piece in pieces { reader.feed(ByteBuffer(bytes: piece)) { outcome.messages.append($0) } }
        outcome.wholeCount = outcome.messages.count
        reader.finish { outcome.messages.append($0) }
        outcome.problem = reader.problem
        return outcome
    }

    private func check(_ outcome: Outcome, of bytes: [UInt8]) throws {
        try demand(
            outcome.messages.map(\.number) == (0..<outcome.messages.count).map { Int64($0) + 1 },
            "wrong numbers"
        )
        try demand(outcome.problem.map { $0.offset < bytes.count } ?? true, "a problem behind the end")
        for (index, message) in outcome.messages.enumerated() {
            try demand(message.isWhole == (index < outcome.wholeCount), "a message is whole at the wrong time")
            try demand(message.range.upperBound <= bytes.count, "a message ends behind the end")
            try demand(message.range.count >= 2 || !message.isWhole, "a message of \(message.range.count) bytes")
            try demand(message.payload.readableBytes <= max(payloadLimit, 125), "a payload beyond the limit")
            try demand(message.leftOut == 0 || message.payload.readableBytes >= payloadLimit, "too little is kept")
            _ = message.text
        }
    }

    private mutating func count(_ outcome: Outcome, _ bytes: [UInt8]) throws {
        var counter = StreamCounter(.webSocket)
        for piece in input.pieces(of: bytes) { counter.feed(ByteBuffer(bytes: piece)) }
        let count = counter.count
        var whole = StreamCounter(.webSocket)
        whole.feed(ByteBuffer(bytes: bytes))
        try demand(whole.count == count, "\(whole.count) messages counted whole, \(count) in pieces")
        // What another extension means the counter does not know.
        guard outcome.problem == nil, agreement != "x-other" else { return }
        let read = outcome.messages.prefix(outcome.wholeCount).count { message in
            if case .webSocket(let details) = message.kind { !details.opcode.isControl } else { false }
        }
        try demand(count == read, "\(count) messages counted, \(read) read")
    }

    // MARK: Right frames

    /// Makes messages of the input's bytes and writes them as a right sender does.
    private mutating func build() throws -> (bytes: [UInt8], sent: [Sent]) {
        var stream: [UInt8] = []
        var sent: [Sent] = []
        var rest = input.bytes[...]
        while !rest.isEmpty, sent.count < 40 {
            let length = min(rest.count, input.choose([7, 0, 1, 125, 126, 400, 70_000]))
            let content = Array(rest.prefix(length))
            rest = rest.dropFirst(max(length, 1))
            if input.number(below: 5) == 4 {
                sent.append(appendControl(content, to: &stream))
                continue
            }
            let isText = input.number(below: 2) == 1
            let payload = isText ? content.map { $0 & 0x7F } : content
            let isCompressed = agreement.hasPrefix("permessage-deflate") && input.number(below: 2) == 1
            var wire = isCompressed ? try compress(payload) : payload
            var isFirst = true
            while isFirst || !wire.isEmpty {
                let taken = input.number(below: 3) == 2 ? min(wire.count, 1 + input.number(below: 200)) : wire.count
                let fragment = Array(wire.prefix(taken))
                wire.removeFirst(taken)
                let reserved: UInt8 = isFirst && isCompressed ? 0x40 : 0
                let opcode: UInt8 = isFirst ? (isText ? 1 : 2) : 0
                append((wire.isEmpty ? 0x80 : 0) | reserved | opcode, fragment, to: &stream)
                isFirst = false
                // A ping may come between the frames of a message, and is whole before it.
                if !wire.isEmpty, input.number(below: 4) == 3 { sent.append(appendControl([1, 2], to: &stream)) }
            }
            sent.append(Sent(opcode: isText ? .text : .binary, payload: payload))
        }
        return (stream, sent)
    }

    private mutating func appendControl(_ content: [UInt8], to stream: inout [UInt8]) -> Sent {
        let opcode = input.choose([WebSocketOpcode.ping, .pong])
        let payload = Array(content.prefix(125))
        append(0x80 | opcode.rawValue, payload, to: &stream)
        return Sent(opcode: opcode, payload: payload)
    }

    private mutating func append(_ first: UInt8, _ payload: [UInt8], to stream: inout [UInt8]) {
        let mask: [UInt8]? = direction == .fromClient ? (0..<4).map { _ in input.decide() } : nil
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        stream.append(first)
        let count = payload.count
        switch count {
        case ...125: stream.append(maskBit | UInt8(count))
        case ...0xFFFF: stream += [maskBit | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default: stream += [maskBit | 127, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
        }
        guard let mask else {
            stream += payload
            return
        }
        stream += mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
    }

    /// Compresses a message (RFC 7692 §7.2.1): as one stored block, or in earnest with a final block.
    private mutating func compress(_ payload: [UInt8]) throws -> [UInt8] {
        if payload.count <= 0xFFFF, input.number(below: 2) == 1 {
            let (low, high) = (UInt8(payload.count & 0xFF), UInt8(payload.count >> 8))
            return [0, low, high, ~low, ~high] + payload + [0]
        }
        let zlib = try ContentEncoder.encode(ByteBuffer(bytes: payload), coding: .deflate)
        return Array(zlib.readableBytesView.dropFirst(2).dropLast(4)) + [0]
    }
}
