import ExchangeCore
import HTTPModel
import Support
import Testing

@Suite("Streams that are reset")
struct ResetTests {
    @Test("a server's reset before the response is passed on to a client that can be told")
    func passedOn() {
        let dialogue = Dialogue(takesResets: true)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.upstreamClosed(resetCode: .enhanceYourCalm)
        dialogue.expect("abandon ENHANCE_YOUR_CALM", "abort ENHANCE_YOUR_CALM", "finished")
        #expect(dialogue.record.failure?.code == .reset)
        dialogue.finish()
    }

    @Test("one that cannot gets a page")
    func page() {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.upstreamClosed(resetCode: .cancel)
        #expect(dialogue.takePending().contains { $0.hasPrefix("< 502") })
        dialogue.finish()
    }

    @Test("a client's code is passed on to the server")
    func clientCancels() {
        let dialogue = Dialogue(takesResets: true)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.clientGone(resetCode: .refusedStream)
        dialogue.expect("abandon REFUSED_STREAM", "abort REFUSED_STREAM", "finished")
        #expect(dialogue.record.failure?.message.contains("REFUSED_STREAM") == true)
        dialogue.finish()
    }

    @Test("what the server did not process is sent again, whatever the method, but not for ever")
    func repeated() {
        let dialogue = Dialogue(method: "POST", takesResets: true)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        for _ in 0..<8 {
            dialogue.ready()
            dialogue.expect("> POST / (none)", "> end", "read client")
            dialogue.upstreamClosed(resetCode: .refusedStream, wasProcessed: false)
            dialogue.expect("connect http://example.com:80 fresh", "stop client")
        }
        dialogue.ready()
        dialogue.expect("> POST / (none)", "> end", "read client")
        #expect(dialogue.record.flags.contains(.retried))
        dialogue.upstreamClosed(resetCode: .refusedStream, wasProcessed: false)
        dialogue.expect("abandon REFUSED_STREAM", "abort REFUSED_STREAM", "finished")
        dialogue.finish()
    }

    @Test(
        "so is an upload that fits what a server lets a stream send unasked, but one that is larger is the client's to repeat"
    )
    func repeatedUpload() {
        for (size, isRepeated) in [(300_000, true), (3_000_000, false)] {
            let dialogue = Dialogue(method: "POST", takesResets: true)
            dialogue.requestHead(.length(Int64(size)))
            dialogue.expect("connect http://example.com:80", "stop client")
            dialogue.ready(reused: true, version: .http2)
            dialogue.expect("> POST / (\(size))", "read client")
            dialogue.requestPart(String(repeating: "x", count: size))
            dialogue.expect("> part \(size) bytes")
            dialogue.requestEnd()
            dialogue.expect("> end")
            dialogue.upstreamClosed(resetCode: .refusedStream, wasProcessed: false)
            guard isRepeated else {
                dialogue.expect("abandon REFUSED_STREAM", "abort REFUSED_STREAM", "finished")
                dialogue.finish()
                continue
            }
            dialogue.expect("connect http://example.com:80 fresh", "stop client")
            dialogue.ready(version: .http2)
            dialogue.expect("> POST / (\(size))", "> part \(size) bytes", "> end", "read client")
            answer(dialogue)
        }
    }

    @Test("NO_ERROR behind a whole response ends the exchange, since the server wants no more of the request")
    func stopped() {
        let dialogue = Dialogue(method: "PUT", takesResets: true)
        dialogue.requestHead(.chunked)
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(version: .http2)
        dialogue.expect("> PUT / (chunked)", "read client")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.upstreamClosed(resetCode: .noError)
        dialogue.expect("abandon", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
    }

    @Test("but a rest that is on its way already is recorded")
    func stoppedShortly() {
        let dialogue = Dialogue(method: "PUT", takesResets: true)
        dialogue.requestHead(.length(70_000))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(version: .http2)
        dialogue.expect("> PUT / (70000)", "read client")
        dialogue.requestPart(String(repeating: "x", count: 5_000))
        dialogue.expect("> part 5000 bytes")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.upstreamClosed(resetCode: .noError)
        dialogue.expect("abandon")
        dialogue.requestPart(String(repeating: "x", count: 65_000))
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.sizes.requestBody == 70_000)
    }

    @Test("what the server may have processed is not, where that is not safe")
    func notRepeated() {
        let dialogue = Dialogue(method: "POST", takesResets: true)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(reused: true)
        dialogue.expect("> POST / (none)", "> end", "read client")
        dialogue.upstreamClosed(resetCode: .cancel)
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
    }

    @Test("nor is a server asked again that reset a stream on purpose, however safe the method")
    func resetOnPurpose() {
        let dialogue = Dialogue(takesResets: true)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(reused: true)
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.upstreamClosed(resetCode: .internalError)
        dialogue.expect("abandon INTERNAL_ERROR", "abort", "finished")
        dialogue.finish()
    }

    @Test("waiting for one of the server's streams is a reason of its own")
    func queued() {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.upstreamQueued()
        #expect(dialogue.requestPauses.contains(.streamLimit))
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        #expect(dialogue.requestPauses.isEmpty)
        #expect(dialogue.messages.trace.isEmpty)
        dialogue.responseHead(204)
        dialogue.expect("< 204 (none)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        #expect(dialogue.trace.contains { $0.contains("free stream") })
        dialogue.finish()
    }
}
