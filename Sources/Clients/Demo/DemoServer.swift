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
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(ResponseHead(status: 101, fields: fields), into: &output)
        try await outbound.write(output)
        let greeting = ByteBuffer(string: "{ \"type\": \"hello\", \"keeper\": \"lock 7\" }")
        try await outbound.write(WebSocketFrame.of(.text, greeting, isMasked: false))
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
                        answers.append(WebSocketFrame.of(.text, ByteBuffer(string: text), isMasked: false))
                    case .close:
                        answers.append(WebSocketFrame.of(.close, DemoContent.normalClosure, isMasked: false))
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
