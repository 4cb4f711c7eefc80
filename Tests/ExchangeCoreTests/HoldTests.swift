import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Holds")
struct HoldTests {
    private static let onHeads = ScriptedStage.on(.breakpoints) { handler in
        handler.onRequestHead = { _, _ in .pause(.decision(nil)) }
        handler.onResponseHead = { _, _ in .pause(.decision(nil)) }
    }

    private static let onWhole = ScriptedStage.on(.breakpoints) { handler in
        handler.requestDemand = .whole(limit: 1_000, decoded: false)
        handler.responseDemand = .whole(limit: 1_000, decoded: false)
        handler.onRequestWhole = { _, _, _ in .pause(.decision(nil)) }
        handler.onResponseWhole = { _, _, _ in .pause(.decision(nil)) }
    }

    @Test("A held head goes on as edited, and its body streams behind it")
    func editedHead() {
        let dialogue = Dialogue([HoldTests.onHeads], method: "POST")
        dialogue.requestHead(.length(2))
        dialogue.expect("hold 1.1 request", "stop client")
        #expect(dialogue.requestPauses == .held)
        dialogue.requestPart("ab")
        dialogue.requestEnd()
        dialogue.expect()
        guard case .request(var head, _, let destination)? = dialogue.held else { return }
        head.target = "/edited"
        #expect(
            dialogue.decide(.execute(.request(head, body: ByteBuffer(string: "not used"), destination: destination)))
        )
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> POST /edited (2)", "> part 'ab'", "> end", "read client")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("hold 1.2 response", "stop upstream")
        dialogue.responseEnd()
        dialogue.expect()
        #expect(!dialogue.decide(.cancel, ordinal: 1))
        dialogue.expect()
        #expect(dialogue.decide(.cancel, ordinal: 2))
        dialogue.expect("< 200 (0)", "< end", "finished")
        #expect(!dialogue.decide(.cancel, ordinal: 2))
        dialogue.finish()
        #expect(dialogue.record.flags == [.held, .requestChanged])
        #expect(dialogue.record.sentURL?.path == "/edited")
        #expect(
            dialogue.trace == [
                "breakpoints: the request was edited: target / to /edited", "breakpoints: sent unedited",
            ]
        )
    }

    @Test("A whole held message goes on with the edited body, framed anew")
    func editedBody() {
        let dialogue = Dialogue([HoldTests.onWhole], method: "POST")
        dialogue.requestHead(.chunked)
        dialogue.requestPart("ab")
        dialogue.requestEnd()
        dialogue.expect("hold 1.1 request 'ab'", "stop client")
        guard case .request(let head, _, let destination)? = dialogue.held else { return }
        dialogue.decide(.execute(.request(head, body: ByteBuffer(string: "longer"), destination: destination)))
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> POST / (6)", "> part 'longer'", "> end", "read client")
        dialogue.responseHead(200, .length(3))
        dialogue.responsePart("old")
        dialogue.responseEnd([("X-T", "1")])
        dialogue.expect("hold 1.2 response 'old'")
        // What waits can be looked at.
        guard case .updated(let shown, let heads)? = dialogue.sink.events.last else {
            Issue.record("The held response is not recorded.")
            return
        }
        #expect(shown.flags.contains(.held) && shown.status == 200 && heads.responseHead != nil)
        guard case .response(var response, _)? = dialogue.held else { return }
        response.status = 404
        dialogue.decide(.execute(.response(response, body: ByteBuffer())), ordinal: 2)
        dialogue.expect("< 404 (chunked)", "< end X-T: 1", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.requestReceived) == "ab")
        #expect(dialogue.sink.body(.requestSent) == "longer")
        #expect(dialogue.sink.body(.responseReceived) == "old")
        #expect(dialogue.record.flags.isSuperset(of: [.requestBodyChanged, .responseBodyChanged, .responseChanged]))
        #expect(dialogue.record.status == 404)
    }

    @Test("Executing without an edit, or cancelling, lets the message go on as it was", arguments: [true, false])
    func unedited(executes: Bool) {
        let dialogue = Dialogue([HoldTests.onWhole], method: "POST")
        dialogue.requestHead(.length(2))
        dialogue.requestPart("ab")
        dialogue.requestEnd()
        dialogue.expect("hold 1.1 request 'ab'", "stop client")
        dialogue.decide(executes ? .execute(nil) : .cancel)
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> POST / (2)", "> part 'ab'", "> end", "read client")
        #expect(dialogue.sink.body(.requestSent) == "")
        #expect(!dialogue.record.flags.contains(.requestBodyChanged))
        dialogue.leaveOpen()
    }

    @Test("Aborting cuts the client off")
    func abort() {
        let dialogue = Dialogue([HoldTests.onHeads], method: "POST")
        dialogue.requestHead(.length(2))
        dialogue.expect("hold 1.1 request", "stop client")
        dialogue.decide(.abort)
        dialogue.expect("abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .aborted)
    }

    @Test("A client that goes away releases its hold")
    func clientGone() {
        let dialogue = Dialogue([HoldTests.onHeads])
        dialogue.request()
        dialogue.expect("hold 1.1 request", "stop client")
        dialogue.clientGone()
        dialogue.expect("abort", "release 1.1", "finished")
        #expect(!dialogue.decide(.cancel))
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .clientGone)
    }

    @Test("A hold whose server fails is released, though the client still sends")
    func serverFailed() {
        let stage = ScriptedStage.on(.breakpoints) { $0.onResponseHead = { _, _ in .pause(.decision(nil)) } }
        let dialogue = Dialogue([stage], method: "POST")
        dialogue.requestHead(.length(9))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (9)", "read client")
        dialogue.responseHead(200, .length(5))
        dialogue.expect("hold 1.1 response", "stop upstream")
        dialogue.upstreamFailed(.reset)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "release 1.1", "< 502 (\(size))", "< part \(size) bytes", "< end")
        #expect(!dialogue.decide(.cancel))
        dialogue.clientGone()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
    }

    @Test("What process the client is, is recorded as soon as it is known, also of a held message")
    func identified() {
        let dialogue = Dialogue([HoldTests.onHeads])
        let process = ClientProcess(id: 7, name: "curl")
        dialogue.request()
        dialogue.expect("hold 1.1 request", "stop client")
        let before = dialogue.sink.events.count
        dialogue.tell { machine, _ in
            machine.clientIdentified(process)
            machine.readCompleted()
        }
        guard case .updated(let shown, _)? = dialogue.sink.events.last, dialogue.sink.events.count == before + 1 else {
            Issue.record("it is not recorded, or more than once")
            return
        }
        #expect(shown.extras.process == process)
        // It stays that one, and is not recorded again.
        dialogue.tell { machine, _ in
            machine.clientIdentified(ClientProcess(id: 8, name: "wget"))
            machine.readCompleted()
        }
        #expect(dialogue.sink.events.count == before + 1)
        #expect(dialogue.decide(.abort))
        dialogue.expect("abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.extras.process == process)
    }

    @Test("What process the client is, is recorded with the head where it is known before that")
    func identifiedBefore() {
        let dialogue = Dialogue([HoldTests.onHeads])
        dialogue.tell { machine, _ in
            machine.clientIdentified(ClientProcess(id: 7, name: "curl"))
            machine.readCompleted()
        }
        #expect(dialogue.sink.events.isEmpty)
        dialogue.request()
        dialogue.expect("hold 1.1 request", "stop client")
        guard case .opened(let record, _)? = dialogue.sink.events.first else {
            Issue.record("the exchange does not begin")
            return
        }
        #expect(record.extras.process?.id == 7)
        #expect(dialogue.decide(.abort))
        dialogue.expect("abort", "finished")
        dialogue.finish()
    }
}
