import Content
import HTTPModel
import NIOCore
import Wire

enum DemoServer {
    static func serve(_ connection: DemoOrigin.Connection) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var parser = HTTP1RequestParser()
            var request: DemoRequest?
            var arriving = inbound.makeAsyncIterator()
            while let bytes = try await arriving.next() {
                parser.receive(bytes)
                while let event = try parser.next() {
                    switch event {
                    case .head(let head, _): request = DemoRequest(head: head)
                    case .part(let part): request?.add(part)
                    case .end:
                        guard let request else { break }
                        if let key = request.head.fields.value(of: "Sec-WebSocket-Key") {
                            return try await converse(key, parser.takeRemaining(), &arriving, outbound)
                        }
                        try await send(DemoRoutes.answer(request), to: request.head, outbound)
                    }
                }
            }
        }
    }

    private static func send(
        _ answer: DemoAnswer,
        to request: RequestHead,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        var head = answer.head
        let framing = SentFraming.settle(&head, as: answer.framing, requestMethod: request.method)
        if answer.delay > .zero { try await Task.sleep(for: answer.delay) }
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        for piece in framing == .none ? [] : answer.pieces {
            HTTP1Encoder.writePart(piece, framing: framing, into: &output)
            try await outbound.write(output)
            output = ByteBuffer()
            if answer.pause > .zero { try await Task.sleep(for: answer.pause) }
        }
        HTTP1Encoder.writeEnd(framing: framing, trailers: answer.trailers, into: &output)
        if output.readableBytes > 0 { try await outbound.write(output) }
    }

    /// Sends a greeting, and answers each message until the client closes the WebSocket.
    private static func converse(
        _ key: String,
        _ early: ByteBuffer?,
        _ arriving: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        let fields = [
            ("Server", "sluice-demo"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", WebSocketHandshake.accept(key)),
        ]
        let head = ResponseHead(status: 101, fields: fields)
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        try await outbound.write(output)
        try await outbound.write(DemoFrame.text("{ \"type\": \"hello\", \"keeper\": \"lock 7\" }", isMasked: false))
        let reader = WebSocketReader(direction: .fromClient)
        var next = early
        if next == nil { next = try await arriving.next() }
        while let bytes = next {
            var answers: [ByteBuffer] = []
            var isOver = false
            bytes.withUnsafeReadableBytes { bytes in
                reader.feed(bytes) { message in
                    guard case .webSocket(let details) = message.kind else { return }
                    switch details.opcode {
                    case .text:
                        let text = "{ \"type\": \"answer\", \"to\": \(JSONWriter.quoted(message.text ?? "")) }"
                        answers.append(DemoFrame.text(text, isMasked: false))
                    case .close:
                        answers.append(DemoFrame.close(isMasked: false))
                        isOver = true
                    case .binary, .ping, .pong, .continuation: break
                    }
                }
            }
            for answer in answers { try await outbound.write(answer) }
            if isOver || reader.problem != nil { return }
            next = try await arriving.next()
        }
    }
}

/// Short WebSocket frames (RFC 6455 §5.2).
enum DemoFrame {
    /// At most 125 bytes, for a length of one byte.
    static func text(_ text: String, isMasked: Bool) -> ByteBuffer {
        frame(0x81, Array(text.utf8.prefix(125)), isMasked)
    }

    static func close(isMasked: Bool) -> ByteBuffer { frame(0x88, [0x03, 0xE8], isMasked) }

    private static func frame(_ first: UInt8, _ payload: [UInt8], _ isMasked: Bool) -> ByteBuffer {
        var frame = ByteBuffer(bytes: [first, UInt8(payload.count) | (isMasked ? 0x80 : 0)])
        guard isMasked else {
            frame.writeBytes(payload)
            return frame
        }
        let mask = (0..<4).map { _ in UInt8.random(in: .min ... .max) }
        frame.writeBytes(mask)
        frame.writeBytes(payload.enumerated().map { $1 ^ mask[$0 & 3] })
        return frame
    }
}
