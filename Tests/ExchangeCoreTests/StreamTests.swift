import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Bodies that are streams of messages")
struct StreamTests {
    private func answered(
        _ type: String,
        _ framing: BodyFraming = .chunked,
        _ more: [(String, String)] = []
    ) -> Dialogue {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, framing, [("Content-Type", type)] + more)
        _ = dialogue.takePending()
        return dialogue
    }

    private func end(_ dialogue: Dialogue, _ trailers: [(String, String)] = []) {
        dialogue.responseEnd(trailers)
        _ = dialogue.takePending()
        dialogue.finish()
    }

    @Test("events are counted and timed as they come, and progress is told once for a read cycle")
    func events() {
        let dialogue = answered("text/event-stream; charset=utf-8")
        dialogue.readCompleted()
        dialogue.responsePart("data: a\n\n")
        _ = dialogue.takePending()
        dialogue.responsePart("data: b\n\nda")
        _ = dialogue.takePending()
        dialogue.readCompleted()
        #expect(dialogue.record.tally.fromServer == 2)
        #expect(
            dialogue.sink.names == [
                "opened", "updated", "responseReceived at 0", "responseReceived", "responseReceived at 9",
                "responseReceived", "progress 0 2",
            ]
        )
        end(dialogue)
    }

    @Test("an arrival's time is the exchange's start and what has passed since")
    func arrivalTime() {
        let dialogue = answered("application/x-ndjson")
        dialogue.advance(.milliseconds(1_500))
        dialogue.responsePart("{}\n{}")
        _ = dialogue.takePending()
        let times = dialogue.sink.events.compactMap { event -> Int64? in
            if case .arrival(_, _, _, let at) = event { at } else { nil }
        }
        #expect(times == [1_500_000])
        #expect(dialogue.record.tally.fromServer == 1)
        end(dialogue)
        // The last line needs no end of its own.
        #expect(dialogue.record.tally.fromServer == 2)
    }

    @Test("a chunked body of another type is timed coarsely and not counted")
    func chunked() {
        let dialogue = answered("text/plain")
        dialogue.responsePart("a")
        _ = dialogue.takePending()
        dialogue.responsePart("b")
        _ = dialogue.takePending()
        dialogue.advance(.milliseconds(25))
        dialogue.responsePart("c")
        _ = dialogue.takePending()
        let arrivals = dialogue.sink.names.filter { $0.contains(" at ") }
        #expect(arrivals == ["responseReceived at 0", "responseReceived at 2"])
        #expect(dialogue.record.tally == MessageCounts())
        end(dialogue)
    }

    @Test("a body of known length is not timed, unless it is of messages")
    func known() {
        let dialogue = answered("text/plain", .length(1))
        dialogue.responsePart("a")
        _ = dialogue.takePending()
        #expect(!dialogue.sink.names.contains { $0.contains(" at ") })
        end(dialogue)
    }

    @Test("compressed events are timed, but not counted without being decoded")
    func compressed() {
        let dialogue = answered("text/event-stream", .chunked, [("Content-Encoding", "gzip")])
        dialogue.responsePart("\n\n\n\n")
        _ = dialogue.takePending()
        #expect(dialogue.sink.names.contains("responseReceived at 0"))
        #expect(dialogue.record.tally.fromServer == 0)
        end(dialogue)
    }

    @Test("gRPC's status is lifted from the trailers")
    func trailers() {
        let dialogue = answered("application/grpc")
        end(dialogue, [("grpc-status", "14"), ("grpc-message", "try%20later")])
        #expect(dialogue.record.grpc == GRPCOutcome(status: 14, message: "try later"))
        #expect(dialogue.record.grpc?.name == "UNAVAILABLE")
    }

    @Test("and from the head of a response that has nothing else")
    func trailersOnly() {
        let dialogue = answered("application/grpc", .none, [("grpc-status", "5")])
        end(dialogue)
        #expect(dialogue.record.grpc?.status == 5)
    }

    @Test("both directions of a gRPC call are counted")
    func calls() {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.chunked, [("Content-Type", "application/grpc")])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (chunked)", "read client")
        dialogue.requestPart("\0\0\0\0\u{1}a\0\0\0\0\u{0}")
        _ = dialogue.takePending()
        #expect(dialogue.record.tally.fromClient == 2)
        dialogue.requestEnd()
        dialogue.expect("> end")
        dialogue.responseHead(200, .chunked, [("Content-Type", "application/grpc")])
        _ = dialogue.takePending()
        end(dialogue, [("grpc-status", "0")])
        #expect(dialogue.record.grpc?.status == 0)
    }

    @Test("uploaded lines are counted unless compressed, and are no reason to wait for ever", arguments: [true, false])
    func uploadedLines(isCompressed: Bool) {
        let dialogue = Dialogue(method: "POST")
        let coding = isCompressed ? [("Content-Encoding", "gzip")] : []
        dialogue.requestHead(.chunked, [("Content-Type", "application/x-ndjson")] + coding)
        _ = dialogue.takePending()
        dialogue.requestPart("{}\n{}\n")
        _ = dialogue.takePending()
        #expect(dialogue.record.tally.fromClient == (isCompressed ? 0 : 2))
        #expect(!dialogue.isStream)
        dialogue.clientGone()
        _ = dialogue.takePending()
        dialogue.finish()
    }

    private func webSocket() -> Dialogue {
        let dialogue = Dialogue()
        dialogue.request([("Connection", "Upgrade"), ("Upgrade", "websocket")])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(101, .none, [("Connection", "Upgrade"), ("Upgrade", "websocket")])
        dialogue.expect("< 101 (none)", "tunnel")
        return dialogue
    }

    @Test("an upgrade to WebSocket is one, and its frames are counted")
    func countedFrames() {
        let dialogue = webSocket()
        #expect(dialogue.record.kind == .webSocket)
        dialogue.responsePart(ByteBuffer(bytes: [0x81, 0x01, 0x61, 0x89, 0x00, 0x01, 0x00, 0x80, 0x00]))
        _ = dialogue.takePending()
        #expect(dialogue.record.tally.fromServer == 2)
        #expect(dialogue.sink.names.contains("responseReceived at 0"))
        dialogue.clientGone()
        _ = dialogue.takePending()
        dialogue.finish()
    }

    @Test("a WebSocket without a close frame has failed, and who went away is told", arguments: [true, false])
    func missingClose(isServer: Bool) {
        let dialogue = webSocket()
        if isServer {
            dialogue.responseEnd()
            dialogue.expect("< end")
        }
        dialogue.clientGone()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
        #expect(dialogue.record.failure?.code == (isServer ? .reset : .clientGone))
        #expect(dialogue.record.failure?.message.contains(isServer ? "The server" : "The client") == true)
    }

    @Test("a client that ends its side first is the one that went away, though its server ends its own then")
    func clientEndsFirst() {
        let dialogue = webSocket()
        dialogue.requestEnd()
        _ = dialogue.takePending()
        dialogue.responseEnd()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .clientGone)
        #expect(dialogue.record.failure?.message.contains("The client ended") == true, "\(dialogue.record)")
    }

    @Test("after one the connections may end in any way", arguments: [0, 1, 2])
    func endAfterClose(way: Int) {
        let dialogue = webSocket()
        dialogue.responsePart(ByteBuffer(bytes: [0x88, 0x02, 0x03, 0xE8]))
        _ = dialogue.takePending()
        switch way {
        case 0: dialogue.upstreamClosed()
        case 1: dialogue.clientGone(resetCode: .connectError)
        default:
            dialogue.responseEnd(isClean: false)
            dialogue.expect("< end")
            dialogue.clientGone()
        }
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.failure == nil)
        #expect(!dialogue.record.flags.contains(.endedWithoutCloseNotify))
    }

    @Test("with one it has not, whichever side sent it")
    func properClose() {
        let dialogue = webSocket()
        dialogue.responsePart(ByteBuffer(bytes: [0x88, 0x02, 0x03, 0xE8]))
        _ = dialogue.takePending()
        dialogue.clientGone()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.failure == nil)
    }

    @Test("a gRPC call that cannot be carried out is answered with a status, which its client shows")
    func failedCall() {
        let dialogue = Dialogue(method: "POST")
        dialogue.request([("Content-Type", "application/grpc+proto")])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.upstreamFailed()
        dialogue.expect("abandon", "< 200 (0)", "< end", "finished")
        #expect(dialogue.responseHead?.fields.value(of: "grpc-status") == "14")
        #expect(dialogue.responseHead?.fields.value(of: .contentType) == "application/grpc+proto")
        #expect(dialogue.record.grpc == GRPCOutcome(status: 14, message: "Sluice: It went wrong."))
        #expect(dialogue.record.flags.contains(.grpc))
        #expect(dialogue.record.failure?.code == .connect)
        dialogue.finish()
    }
}
