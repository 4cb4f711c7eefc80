import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Exchanges without stages")
struct PlainExchangeTests {
    @Test("A GET goes to the server and its response to the client")
    func get() {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(5))
        dialogue.expect("< 200 (5)")
        dialogue.responsePart("hello")
        dialogue.expect("< part 'hello'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.status == 200)
        #expect(dialogue.record.flags.isEmpty)
        #expect(dialogue.record.sizes.requestWire == 100)
        #expect(dialogue.record.sizes.responseWire == 200)
        #expect(dialogue.record.upstreamConnection == ConnectionID(2))
    }

    @Test("The taps tell of the exchange in order, and of a body once")
    func taps() {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.length(2))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (2)", "read client")
        dialogue.requestPart("ab")
        dialogue.expect("> part 'ab'")
        dialogue.requestEnd()
        dialogue.expect("> end")
        dialogue.responseHead(200, .length(1), [("Content-Type", "Text/HTML; charset=utf-8")])
        dialogue.expect("< 200 (1)")
        dialogue.readCompleted()
        dialogue.responsePart("c")
        dialogue.expect("< part 'c'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(
            dialogue.sink.names == ["opened", "requestReceived", "updated", "responseReceived", "finished"]
        )
        #expect(dialogue.record.mediaType == "text/html")
        #expect(
            dialogue.messages.requestHead.map { String(buffer: $0) } == "POST / HTTP/1.1\r\nHost: example.com\r\n\r\n"
        )
        #expect(dialogue.record.sizes.requestBody == 2)
        #expect(dialogue.record.sizes.responseBody == 1)
    }

    @Test("Parts that arrive before the connection is there wait, and go out in order")
    func earlyBody() {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.chunked)
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.requestPart("one")
        dialogue.requestPart("two")
        dialogue.requestEnd([("X-Sum", "1")])
        dialogue.expect()
        dialogue.ready()
        dialogue.expect(
            "> POST / (chunked)",
            "> part 'one'",
            "> part 'two'",
            "> end X-Sum: 1",
            "read client"
        )
        answer(dialogue)
        #expect(dialogue.messages.requestTrailers.map { String(buffer: $0) } == "X-Sum: 1\r\n")
    }

    @Test("Trailers of a response go to the client and to the recorder")
    func responseTrailers() {
        let dialogue = sent()
        dialogue.responseHead(200, .chunked)
        dialogue.expect("< 200 (chunked)")
        dialogue.responseEnd([("Grpc-Status", "0")])
        dialogue.expect("< end Grpc-Status: 0", "finished")
        dialogue.finish()
        #expect(dialogue.messages.responseTrailers.map { String(buffer: $0) } == "Grpc-Status: 0\r\n")
    }

    @Test("A head as written is kept where it differs, even when the exchange ended in one go")
    func headsAsWritten() {
        let stage = ScriptedStage.on(.blockList) { handler in
            handler.onRequestHead = { _, _ in
                .refuse(LocalAnswer(status: 403, contentType: "text/plain", text: "no"))
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.onEffect = { effect, machine in
            if case .sendResponseHead = effect { machine.responseHeadWritten(ByteBuffer(string: "as written")) }
        }
        dialogue.request()
        dialogue.expect("< 403 (2)", "< part 'no'", "< end", "finished")
        dialogue.finish()
        guard case .finished(_, let messages)? = dialogue.sink.events.last else { return }
        #expect(messages.responseHeadSent == ByteBuffer(string: "as written"))
    }

    @Test("An unclean end of a close-delimited response is marked")
    func uncleanEnd() {
        let dialogue = sent()
        dialogue.responseHead(200, .untilClose)
        dialogue.expect("< 200 (close)")
        dialogue.responseEnd(isClean: false)
        dialogue.expect("withhold close_notify response", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.contains(.endedWithoutCloseNotify))
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.trace == ["sluice: the server ended TLS without close_notify: the body may be cut"])
    }

    @Test("Interim responses reach the client, except one of HTTP/1.0, and the recorder", arguments: [true, false])
    func interim(isModern: Bool) {
        let dialogue = Dialogue()
        dialogue.requestHead(version: isModern ? .http11 : .http10)
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.requestEnd()
        dialogue.expect()
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.interim(103)
        if isModern { dialogue.expect("< interim 103") } else { dialogue.expect() }
        answer(dialogue)
        #expect(dialogue.messages.interimHeads?.readableBytes ?? 0 > 0)
    }

    @Test("A response to HEAD has no body, whatever was announced")
    func head() {
        let dialogue = Dialogue(method: "HEAD")
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> HEAD / (none)", "> end", "read client")
        dialogue.responseHead(200, .none, [("Content-Length", "10")])
        dialogue.expect("< 200 (none)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test("Expect: 100-continue goes to the server, and its 100 to the client")
    func expectContinue() {
        let dialogue = Dialogue(method: "PUT")
        dialogue.requestHead(.length(2), [("Expect", "100-Continue")])
        dialogue.expect("connect http://example.com:80", "stop client")
        #expect(dialogue.awaitsContinue)
        dialogue.ready()
        dialogue.expect("> PUT / (2)", "read client")
        dialogue.interim(100)
        dialogue.expect("< interim 100")
        #expect(!dialogue.awaitsContinue)
        dialogue.requestPart("ab")
        dialogue.expect("> part 'ab'")
        dialogue.requestEnd()
        dialogue.expect("> end")
        answer(dialogue)
    }

    @Test("Expect is not minded in HTTP/1.0 (RFC 9110 10.1.1)")
    func expectOldVersion() {
        let dialogue = Dialogue(method: "PUT")
        dialogue.requestHead(.length(2), [("Expect", "100-continue")], version: .http10)
        dialogue.expect("connect http://example.com:80", "stop client")
        #expect(!dialogue.awaitsContinue)
        dialogue.leaveOpen()
    }

    @Test("A refused expectation ends the exchange when the client gives up its body")
    func expectRefused() {
        let dialogue = Dialogue(method: "PUT")
        dialogue.requestHead(.length(2), [("Expect", "100-continue")])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> PUT / (2)", "read client")
        dialogue.responseHead(417, .length(0))
        dialogue.expect("< 417 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        #expect(dialogue.awaitsContinue)
        dialogue.clientGone()
        dialogue.expect("abandon", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
    }

    @Test("Alt-Svc is taken out of responses of decrypted hosts only", arguments: ["https", "http"])
    func altSvc(scheme: String) {
        let dialogue = Dialogue(url: "\(scheme)://example.com/")
        dialogue.request()
        dialogue.expect("connect \(scheme)://example.com:\(scheme == "https" ? 443 : 80)", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(0), [("Alt-Svc", "h3=\":443\""), ("X", "1")])
        dialogue.expect("< 200 (0)")
        #expect(dialogue.responseHead?.fields.contains(.altSvc) == (scheme == "http"))
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace.contains { $0.contains("Alt-Svc") && $0.contains("HTTP/3") } == (scheme == "https"))
        #expect(dialogue.messages.responseHead.map { String(buffer: $0).contains("Alt-Svc") } == true)
    }

    @Test("Times are counted from mark to mark")
    func timings() {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.length(1))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.advance(.milliseconds(10))
        dialogue.ready()
        dialogue.expect("> POST / (1)", "read client")
        dialogue.advance(.milliseconds(4))
        dialogue.requestPart("a")
        dialogue.expect("> part 'a'")
        dialogue.requestEnd()
        dialogue.expect("> end")
        dialogue.advance(.milliseconds(20))
        dialogue.responseHead(200, .length(1))
        dialogue.expect("< 200 (1)")
        dialogue.advance(.milliseconds(30))
        dialogue.responsePart("b")
        dialogue.expect("< part 'b'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        let timings = dialogue.record.timings
        #expect(timings.dns == 1_000)
        #expect(timings.connect == 2_000)
        #expect(timings.tls == nil)
        #expect(timings.blocked == 7_000)
        #expect(timings.send == 4_000)
        #expect(timings.wait == 20_000)
        #expect(timings.receive == 30_000)
        #expect(timings.total == 64_000)
    }

    @Test("A response that begins before its request is sent whole ends the sending: phases do not overlap")
    func overlap() {
        let dialogue = Dialogue(method: "POST")
        _ = dialogue.effects { dialogue in
            dialogue.requestHead(.length(1))
            dialogue.ready()
            dialogue.advance(.milliseconds(4))
            dialogue.responseHead(200, .length(1))
            dialogue.advance(.milliseconds(20))
            dialogue.requestPart("a")
            dialogue.requestEnd()
            dialogue.advance(.milliseconds(10))
            dialogue.responsePart("b")
            dialogue.responseEnd()
        }
        dialogue.finish()
        let timings = dialogue.record.timings
        #expect(timings.send == 4_000 && timings.wait == 0 && timings.receive == 30_000)
        #expect(dialogue.record.phases.sum == timings.total)
    }

    @Test("Events after the end do nothing")
    func afterTheEnd() {
        let dialogue = sent()
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        let record = dialogue.record
        dialogue.requestPart("x")
        dialogue.requestEnd()
        dialogue.ready()
        dialogue.interim(103)
        dialogue.responseHead()
        dialogue.responsePart("x")
        dialogue.responseEnd()
        dialogue.upstreamClosed()
        dialogue.upstreamFailed()
        dialogue.clientGone()
        dialogue.requestFailed()
        dialogue.interrupted()
        dialogue.elapsed(.request, 0)
        dialogue.elapsed(.response, 0)
        #expect(!dialogue.decide(.abort))
        dialogue.tell { machine, _ in
            machine.clientBecameWritable(false)
            machine.upstreamBecameWritable(false)
            machine.recorderBecameFull(true)
            machine.tunnelIsTLS("late")
        }
        dialogue.finish()
        #expect(dialogue.record == record)
    }

    @Test("Events told while effects are carried out take their place behind them")
    func reentrancy() {
        let dialogue = Dialogue()
        dialogue.onEffect = { effect, machine in
            switch effect {
            case .connect:
                let facts = UpstreamFacts(connection: ConnectionID(2), version: .http11, isReused: true)
                machine.upstreamReady(facts, now: .uptimeNanoseconds(0))
            case .sendRequestEnd:
                machine.responseHeadReceived(ResponseHead(status: 204), framing: .none, now: .uptimeNanoseconds(0))
                machine.responseEndReceived(trailers: nil, wireBytes: 1, now: .uptimeNanoseconds(0))
            default: break
            }
        }
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "> GET / (none)", "> end", "< 204 (none)", "< end", "finished")
        dialogue.finish()
    }

    @Test(
        "A response that ends with its head, as HTTP/2 has it, has no body where it may have none, else an empty one",
        arguments: [(204, "none"), (304, "none"), (205, "0"), (200, "0")]
    )
    func withoutBody(status: Int, framing: String) {
        let dialogue = sent()
        dialogue.responseHead(status, .none)
        dialogue.expect("< \(status) (\(framing))")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }
}

/// A GET that is with the server.
func sent(
    _ stages: [any Stage] = [],
    method: String = "GET",
    fields: [(String, String)] = [],
    reused: Bool = false
) -> Dialogue {
    let dialogue = Dialogue(stages, method: method)
    dialogue.request(fields)
    dialogue.expect("connect http://example.com:80", "stop client")
    dialogue.ready(reused: reused)
    dialogue.expect("> \(method) / (none)", "> end", "read client")
    return dialogue
}

/// The server answers with nothing much, and that is all.
func answer(_ dialogue: Dialogue, location: SourceLocation = #_sourceLocation) {
    dialogue.responseHead(200, .length(0), location: location)
    dialogue.expect("< 200 (0)", location: location)
    dialogue.responseEnd(location: location)
    dialogue.expect("< end", "finished", location: location)
    dialogue.finish(location)
}
