import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Holds with a limit")
struct HoldLimitTests {
    private static func holding(_ limit: HoldLimit) -> ScriptedStage {
        .on(.breakpoints) { handler in
            handler.onRequestHead = { _, _ in .pause(.decision(limit)) }
            handler.onResponseHead = { _, _ in .pause(.decision(limit)) }
        }
    }

    private func held(_ resolution: HoldResolution, after: TimeAmount = .seconds(30)) -> Dialogue {
        let dialogue = Dialogue([HoldLimitTests.holding(HoldLimit(after: after, resolution: resolution))])
        dialogue.request()
        dialogue.expect("hold 1.1 request", "wake request 1", "stop client")
        #expect(dialogue.wakeTime == dialogue.now + after)
        #expect(dialogue.requestPauses == .held)
        return dialogue
    }

    @Test("A message that nobody decides about goes on unedited, in both directions")
    func cancel() {
        let dialogue = held(.cancel)
        dialogue.elapsed(.response, 1)
        dialogue.elapsed(.request, 0)
        dialogue.expect()
        dialogue.elapsed(.request, 1)
        dialogue.expect("release 1.1", "connect http://example.com:80")
        #expect(!dialogue.decide(.abort))
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("hold 1.2 response", "wake response 2", "stop upstream")
        dialogue.responseEnd()
        dialogue.elapsed(.response, 2)
        dialogue.expect("release 1.2", "< 200 (0)", "< end", "finished")
        dialogue.finish()
        let lines = ["breakpoints: no decision within 30 s: cancelled", "breakpoints: sent unedited"]
        #expect(dialogue.trace == lines + lines)
    }

    @Test("A message that nobody decides about is aborted where the rule says so")
    func abort() {
        let dialogue = held(.abort, after: .milliseconds(1_500))
        dialogue.elapsed(.request, 1)
        dialogue.expect("release 1.1", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .aborted)
        #expect(dialogue.trace == ["breakpoints: no decision within 1500 ms: aborted"])
    }

    @Test("A decision in time counts, and the limit then does nothing")
    func inTime() {
        let dialogue = held(.abort)
        #expect(dialogue.decide(.cancel))
        dialogue.expect("connect http://example.com:80")
        dialogue.elapsed(.request, 1)
        dialogue.expect()
        dialogue.leaveOpen()
        #expect(dialogue.trace.isEmpty)
    }

    @Test("The limit of one hold does not end the next")
    func nextHold() {
        let first = HoldLimitTests.holding(HoldLimit(after: .seconds(1), resolution: .abort))
        let second = ScriptedStage.on(.throttle) { $0.onRequestHead = { _, _ in .pause(.decision(nil)) } }
        let dialogue = Dialogue([first, second])
        dialogue.request()
        dialogue.expect("hold 1.1 request", "wake request 1", "stop client")
        dialogue.decide(.cancel)
        dialogue.expect("hold 1.2 request")
        dialogue.elapsed(.request, 1)
        dialogue.expect()
        dialogue.decide(.cancel, ordinal: 2)
        dialogue.expect("connect http://example.com:80")
        dialogue.leaveOpen()
    }

    @Test("An edited destination is where the request goes; its Host stays as it is")
    func destination() {
        let stage = ScriptedStage.on(.breakpoints) { $0.onRequestHead = { _, _ in .pause(.decision(nil)) } }
        let dialogue = Dialogue([stage])
        dialogue.request()
        dialogue.expect("hold 1.1 request", "stop client")
        guard case .request(let head, nil, var destination)? = dialogue.held else {
            Issue.record("a request head is held")
            return
        }
        #expect(destination == Destination(scheme: "http", host: "example.com", port: 80))
        destination = Destination(scheme: "https", host: "staging.example", port: 8443)
        dialogue.decide(.execute(.request(head, body: nil, destination: destination)))
        dialogue.expect("connect https://staging.example:8443")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.leaveOpen()
        #expect(dialogue.requestHead?.fields.value(of: .host) == "example.com")
        #expect(dialogue.record.sentURL?.description == "https://staging.example:8443/")
    }

    // MARK: - Bodies

    private static let head = ResponseHead(status: 200, fields: [("Content-Encoding", "gzip"), ("X-A", "b")])

    @Test("A held body is shown without its content coding, and an edited one gets it again")
    func codedBody() throws {
        var message = HeldMessage.response(HoldLimitTests.head, body: ByteBuffer())
        try message.setBody(decoded: ByteBuffer(string: "plain text"))
        guard case .response(let head, let body?) = message else {
            Issue.record("a response with a body")
            return
        }
        #expect(String(buffer: body) != "plain text")
        #expect(head.fields.value(of: .contentEncoding) == "gzip")
        let decoded = try #require(message.decodedBody(limit: 1_000))
        #expect(String(buffer: decoded.0) == "plain text")
        #expect(decoded.problem == nil)
        let cut = try #require(message.decodedBody(limit: 5))
        #expect(cut.0.readableBytes <= 5)
        #expect(cut.problem != nil)
    }

    @Test("A coding that cannot be put on again is taken off the head")
    func unknownCoding() throws {
        let head = RequestHead(method: "POST", target: "/", fields: [("Content-Encoding", "compress"), ("X-A", "b")])
        let destination = Destination(scheme: "http", host: "a", port: 80)
        var message = HeldMessage.request(head, body: ByteBuffer(string: "?"), destination: destination)
        #expect(message.decodedBody(limit: 100)?.problem != nil)
        try message.setBody(decoded: ByteBuffer(string: "plain"))
        guard case .request(let edited, let body?, _) = message else {
            Issue.record("a request with a body")
            return
        }
        #expect(String(buffer: body) == "plain")
        #expect(edited.fields.map(\.name) == ["X-A"])
    }

    @Test("A head that is held alone has no body to see or set")
    func headAlone() {
        var message = HeldMessage.response(HoldLimitTests.head, body: nil)
        #expect(message.decodedBody(limit: 10) == nil)
        #expect(throws: HeldMessage.NoBodyHeldError.self) { try message.setBody(decoded: ByteBuffer()) }
    }

    @Test("A body that was edited without its coding goes on framed anew")
    func editedBody() throws {
        let stage = ScriptedStage.on(.breakpoints) { handler in
            handler.responseDemand = .whole(limit: 1_000, decoded: false)
            handler.onResponseWhole = { _, _, _ in .pause(.decision(nil)) }
        }
        var source = HeldMessage.response(HoldLimitTests.head, body: ByteBuffer())
        try source.setBody(decoded: ByteBuffer(string: "old"))
        guard case .response(_, let coded?) = source else { return }
        let dialogue = sent([stage])
        let effects = dialogue.effects {
            $0.responseHead(200, .length(Int64(coded.readableBytes)), [("Content-Encoding", "gzip")])
            $0.responsePart(coded)
            $0.responseEnd()
        }
        #expect(effects.last?.hasPrefix("hold 1.1 response") == true)
        var held = try #require(dialogue.held)
        try held.setBody(decoded: ByteBuffer(string: "something new"))
        guard case .response(_, let edited?) = held else { return }
        dialogue.decide(.execute(held))
        let size = edited.readableBytes
        dialogue.expect("< 200 (\(size))", "< part \(size) bytes", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.responseBody == edited)
        #expect(dialogue.responseHead?.fields.value(of: .contentEncoding) == "gzip")
    }
}
