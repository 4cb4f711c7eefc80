import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Paced bytes")
struct PaceTests {
    /// Lets `count` bytes go on at a time, each time after a millisecond, in both directions.
    private static func pacing(_ count: Int) -> ScriptedStage {
        .on(.throttle) { handler in
            handler.requestDemand = .pace
            handler.responseDemand = .pace
            handler.onPace = { _, _, exchange in .pass(count, at: exchange.now + .milliseconds(1)) }
        }
    }

    /// Decides with a closure, for responses only.
    private static func deciding(_ decide: @escaping @Sendable (ByteBuffer, NIODeadline) -> Pace) -> ScriptedStage {
        .on(.throttle) { handler in
            handler.responseDemand = .pace
            handler.onPace = { _, waiting, exchange in decide(waiting, exchange.now) }
        }
    }

    @Test("Bytes go on so many at a time, in order, and the end behind them; nothing is read meanwhile")
    func response() {
        let dialogue = sent([PaceTests.pacing(2)])
        dialogue.responseHead(200, .length(5))
        dialogue.expect("< 200 (5)")
        dialogue.responsePart("abc")
        dialogue.expect("wake response 1", "stop upstream")
        #expect(dialogue.responsePauses == .paced)
        #expect(dialogue.wakeTime == dialogue.now + .milliseconds(1))
        // What was on its way when reading stopped.
        dialogue.responsePart("de")
        dialogue.responseEnd()
        dialogue.expect()
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'ab'", "wake response 2")
        dialogue.elapsed(.response, 1)
        dialogue.expect()
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'c'", "wake response 3")
        dialogue.elapsed(.response, 3)
        dialogue.expect("< part 'de'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.isEmpty)
        #expect(dialogue.sink.body(.responseReceived) == "abcde")
        #expect(dialogue.sink.body(.responseSent) == "")
    }

    @Test("The time that pacing adds to a response is its delivery, also after a stage", arguments: [false, true])
    func delivery(isLocal: Bool) {
        let local = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in .respond(LocalAnswer(status: 200, contentType: "a/b", text: "ab")) }
        }
        let dialogue = Dialogue([PaceTests.pacing(2)] + (isLocal ? [local] : []))
        _ = dialogue.effects { dialogue in
            dialogue.advance(.milliseconds(5))
            dialogue.request()
            if !isLocal {
                dialogue.ready()
                dialogue.responseHead(200, .length(2))
                dialogue.advance(.milliseconds(30))
                dialogue.responsePart("ab")
                dialogue.responseEnd()
            }
            dialogue.advance(.milliseconds(500))
            dialogue.elapsed(.response, 1)
        }
        dialogue.finish()
        let (record, phases) = (dialogue.record, dialogue.record.phases)
        #expect(phases.deliver == 500_000 && record.timings.receive == (isLocal ? 0 : 30_000))
        #expect(phases.sum == record.timings.total && record.timings.blocked != nil)
    }

    @Test("Reading goes on as soon as nothing waits")
    func readingResumes() {
        let dialogue = sent([PaceTests.pacing(9)])
        dialogue.responseHead(200, .length(4))
        dialogue.expect("< 200 (4)")
        dialogue.responsePart("ab")
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'ab'", "read upstream")
        dialogue.responsePart("cd")
        dialogue.expect("wake response 2", "stop upstream")
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.elapsed(.response, 2)
        dialogue.expect()
        dialogue.finish()
    }

    @Test("Bytes that wait for a server that has answered and gone are not waited for")
    func requestDiscarded() {
        let dialogue = Dialogue([PaceTests.pacing(9)], method: "POST")
        dialogue.requestHead(.length(4))
        dialogue.expect("bound client", "connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (4)", "read client")
        dialogue.requestPart("ab")
        dialogue.expect("wake request 1", "stop client")
        dialogue.responseHead(413, .length(0))
        dialogue.expect("< 413 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.upstreamClosed()
        dialogue.expect("abandon", "read client")
        dialogue.elapsed(.request, 1)
        dialogue.requestPart("cd")
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
    }

    @Test("A moment that has come already is not waited for", arguments: [0, -5])
    func past(milliseconds: Int64) {
        let dialogue = sent([PaceTests.deciding { .pass($0.readableBytes, at: $1 + .milliseconds(milliseconds)) }])
        dialogue.responseHead(200, .length(4))
        dialogue.expect("< 200 (4)")
        dialogue.responsePart("abcd")
        dialogue.expect("< part 'abcd'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test("At least one byte goes on and at most what is there", arguments: [Int.min, -1, 0, 1])
    func few(count: Int) {
        let dialogue = sent([PaceTests.deciding { .pass(count, at: $1) }])
        dialogue.responseHead(200, .length(2))
        dialogue.expect("< 200 (2)")
        dialogue.responsePart("ab")
        dialogue.expect("< part 'a'", "< part 'b'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test("Some at once, the rest later: the slices are of one buffer, and each question is about the rest")
    func mixed() {
        let dialogue = sent([
            PaceTests.deciding { waiting, now in
                waiting.readableBytes == 6 ? .pass(4, at: now) : .pass(.max, at: now + .milliseconds(3))
            }
        ])
        dialogue.responseHead(200, .length(6))
        dialogue.expect("< 200 (6)")
        dialogue.responsePart("abcdef")
        dialogue.expect("< part 'abcd'", "wake response 1", "stop upstream")
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'ef'", "read upstream")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test("Reading goes on only when the other reasons are gone too")
    func otherReasons() {
        let dialogue = sent([PaceTests.pacing(9)])
        dialogue.responseHead(200, .length(4))
        dialogue.expect("< 200 (4)")
        dialogue.responsePart("ab")
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.tell { machine, _ in machine.clientBecameWritable(false) }
        dialogue.tell { machine, _ in machine.recorderBecameFull(true) }
        dialogue.expect("stop client")
        #expect(dialogue.responsePauses == [.paced, .peerFull, .recorderFull])
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'ab'")
        dialogue.tell { machine, _ in machine.recorderBecameFull(false) }
        dialogue.expect("read client")
        dialogue.tell { machine, _ in machine.clientBecameWritable(true) }
        dialogue.expect("read upstream")
        dialogue.leaveOpen()
    }

    @Test("A request is paced likewise, its trailers too, and little of it is let into the sockets' buffers")
    func request() {
        let dialogue = Dialogue([PaceTests.pacing(2)], method: "POST")
        dialogue.requestHead(.chunked)
        dialogue.expect("bound client", "connect http://example.com:80", "stop client")
        dialogue.requestPart("abc")
        dialogue.ready()
        dialogue.expect("> POST / (chunked)", "wake request 1")
        dialogue.requestEnd([("X-T", "1")])
        dialogue.expect()
        dialogue.elapsed(.request, 1)
        dialogue.expect("> part 'ab'", "wake request 2")
        dialogue.elapsed(.request, 2)
        dialogue.expect("> part 'c'", "> end X-T: 1", "read client")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test(
        "An answer that comes before the paced request is out lets that go on, though the client leaves with it",
        arguments: [false, true]
    )
    func earlyAnswer(clientLeaves: Bool) {
        let dialogue = Dialogue([PaceTests.pacing(2)], method: "POST")
        dialogue.requestHead(.length(3))
        dialogue.expect("bound client", "connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (3)", "read client")
        dialogue.requestPart("abc")
        dialogue.expect("wake request 1", "stop client")
        dialogue.requestEnd()
        dialogue.responseHead(413, .length(0))
        dialogue.expect("< 413 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        if clientLeaves { dialogue.clientGone() }
        dialogue.expect()
        dialogue.elapsed(.request, 1)
        dialogue.expect("> part 'ab'", "wake request 2")
        dialogue.elapsed(.request, 2)
        dialogue.expect("> part 'c'", "> end", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
    }

    @Test("A body that an earlier stage wanted whole, or that a stage answered with, is paced like any other")
    func ownBodies() {
        let rewriting = ScriptedStage.on(.rewrite) { handler in
            handler.responseDemand = .whole(limit: 100, decoded: false)
            handler.onResponseWhole = { _, body, _ in
                body = ByteBuffer(string: "edited")
                return .forward
            }
        }
        let dialogue = sent([rewriting, PaceTests.pacing(4)])
        dialogue.responseHead(200, .length(1))
        dialogue.responsePart("x")
        dialogue.responseEnd()
        dialogue.expect("< 200 (6)", "wake response 1")
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'edit'", "wake response 2")
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'ed'", "< end", "finished")
        dialogue.finish()

        let answering = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in .respond(LocalAnswer(status: 200, contentType: "a/b", text: "local")) }
        }
        let local = Dialogue([answering, PaceTests.pacing(4)])
        local.request()
        local.expect("< 200 (5)", "wake response 1")
        local.elapsed(.response, 1)
        local.expect("< part 'loca'", "wake response 2")
        local.elapsed(.response, 2)
        local.expect("< part 'l'", "< end", "finished")
        local.finish()
    }

    @Test("A failure while pacing ends the exchange as though the network had failed")
    func failure() {
        let dialogue = sent([PaceTests.deciding { _, _ in .fail(ExchangeFailure(.reset, "The link broke.")) }])
        dialogue.responseHead(200, .length(4))
        dialogue.expect("< 200 (4)")
        dialogue.responsePart("ab")
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
        #expect(dialogue.record.failure?.message == "The link broke.")
    }

    // MARK: - Tunnels

    private func tunnel() -> Dialogue {
        let dialogue = Dialogue([PaceTests.pacing(2)], url: "example.com:443", method: "CONNECT", kind: .tunnel)
        dialogue.requestHead()
        dialogue.expect("connect tunnel://example.com:443", "stop client")
        dialogue.ready()
        dialogue.expect("bound client", "< 200 (none)", "tunnel", "read client")
        return dialogue
    }

    @Test("Both directions of a tunnel are paced, each by itself")
    func bothWays() {
        let dialogue = tunnel()
        dialogue.requestPart("abc")
        dialogue.expect("wake request 1", "stop client")
        dialogue.responsePart("xyz")
        dialogue.expect("wake response 2", "stop upstream")
        dialogue.requestEnd()
        dialogue.elapsed(.request, 1)
        dialogue.expect("> part 'ab'", "wake request 3")
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'xy'", "wake response 4")
        dialogue.elapsed(.request, 3)
        dialogue.expect("> part 'c'", "> end", "read client")
        dialogue.elapsed(.response, 4)
        dialogue.expect("< part 'z'", "read upstream")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }

    @Test("A tunnel is over only when what both ends sent is out")
    func bothEnd() {
        let dialogue = tunnel()
        dialogue.requestPart("abc")
        dialogue.expect("wake request 1", "stop client")
        dialogue.requestEnd()
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.elapsed(.request, 1)
        dialogue.expect("> part 'ab'", "wake request 2")
        dialogue.elapsed(.request, 2)
        dialogue.expect("> part 'c'", "> end", "finished")
        dialogue.finish()
    }

    @Test("What a server sent before it closed its tunnel still goes to the client at its pace")
    func serverCloses() {
        let dialogue = tunnel()
        dialogue.responsePart("xyz")
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.responseEnd()
        dialogue.upstreamClosed()
        dialogue.expect("abandon")
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 'xy'", "wake response 2")
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'z'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
    }

    @Test("What a client sent before it closed its tunnel still goes to the server at its pace")
    func clientCloses() {
        let dialogue = tunnel()
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.requestPart("abc")
        dialogue.expect("wake request 1", "stop client")
        dialogue.requestEnd()
        dialogue.clientGone()
        dialogue.expect()
        dialogue.elapsed(.request, 1)
        dialogue.expect("> part 'ab'", "wake request 2")
        dialogue.elapsed(.request, 2)
        dialogue.expect("> part 'c'", "> end", "finished")
        dialogue.finish()
    }

    @Test("A tunnel fails as a stage wants, even where half of it has ended")
    func tunnelFails() {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.requestDemand = .pace
            handler.onPace = { _, _, _ in .fail(ExchangeFailure(.reset, "The link broke.")) }
        }
        let dialogue = Dialogue([stage], url: "example.com:443", method: "CONNECT", kind: .tunnel)
        _ = dialogue.effects {
            $0.requestHead()
            $0.ready()
            $0.responseEnd()
        }
        dialogue.requestPart("abc")
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
    }

    @Test("The frames of a WebSocket are paced")
    func webSocket() {
        let dialogue = sent([PaceTests.pacing(2)], fields: [("Upgrade", "websocket")])
        dialogue.responseHead(101, .none, [("Upgrade", "websocket")])
        dialogue.expect("< 101 (none)", "bound client", "tunnel")
        dialogue.responsePart(ByteBuffer(bytes: [0x81, 0x01, 0x61]))
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.elapsed(.response, 1)
        dialogue.expect("< part 2 bytes", "wake response 2")
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'a'", "read upstream")
        dialogue.requestPart("..")
        dialogue.expect("wake request 3", "stop client")
        dialogue.elapsed(.request, 3)
        dialogue.expect("> part '..'", "read client")
        dialogue.leaveOpen()
        #expect(dialogue.record.kind == .webSocket)
        #expect(dialogue.record.tally.fromServer == 1)
    }
}
