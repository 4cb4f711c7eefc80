import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Pauses and back-pressure")
struct PauseTests {
    @Test("A full server stops the client, room lets it go on; saying it twice changes nothing")
    func serverFull() {
        let dialogue = posting()
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect("stop client")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect()
        #expect(dialogue.requestPauses == .peerFull)
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(true) }
        dialogue.expect("read client")
        dialogue.leaveOpen()
    }

    @Test("A full client stops the server")
    func clientFull() {
        let dialogue = posting()
        dialogue.tell { machine, _ in machine.clientBecameWritable(false) }
        dialogue.expect("stop upstream")
        dialogue.tell { machine, _ in machine.clientBecameWritable(true) }
        dialogue.expect("read upstream")
        dialogue.leaveOpen()
    }

    @Test("Reading goes on only when the last reason is gone")
    func severalReasons() {
        let dialogue = posting()
        dialogue.tell { machine, _ in machine.recorderBecameFull(true) }
        dialogue.expect("stop client", "stop upstream")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect()
        dialogue.tell { machine, _ in machine.recorderBecameFull(false) }
        dialogue.expect("read upstream")
        #expect(dialogue.requestPauses == .peerFull)
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(true) }
        dialogue.expect("read client")
        dialogue.leaveOpen()
    }

    @Test("A head paused until a moment goes on then; timers of older generations are ignored")
    func pausedHead() {
        let dialogue = Dialogue([ScriptedStage.delaying(.throttle, by: .milliseconds(50))])
        dialogue.request()
        dialogue.expect("wake request 1", "stop client")
        #expect(dialogue.requestPauses == .paced)
        dialogue.elapsed(.request, 0)
        dialogue.elapsed(.response, 1)
        dialogue.expect()
        dialogue.elapsed(.request, 1)
        dialogue.expect("connect http://example.com:80")
        dialogue.elapsed(.request, 1)
        dialogue.expect()
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(0))
        dialogue.expect("wake response 2", "stop upstream")
        dialogue.responseEnd()
        dialogue.expect()
        dialogue.elapsed(.response, 2)
        dialogue.expect("< 200 (0)", "< end", "finished")
        dialogue.finish()
    }

    @Test("What is paused when the server fails never comes after the page that says so")
    func pausedThenFailed() {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.onResponseHead = { _, exchange in .pause(.again(at: exchange.now + .milliseconds(1))) }
        }
        let dialogue = Dialogue([stage], method: "POST")
        dialogue.requestHead(.length(9))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (9)", "read client")
        dialogue.responseHead(200, .length(5))
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.upstreamFailed(.reset)
        dialogue.expect(
            "abandon",
            "< 502 (\(dialogue.responseBody.readableBytes))",
            "< part \(dialogue.responseBody.readableBytes) bytes",
            "< end"
        )
        dialogue.elapsed(.response, 1)
        dialogue.expect()
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.messages.responseHead.map { String(buffer: $0).hasPrefix("HTTP/1.1 200") } == true)
        #expect(dialogue.messages.responseHeadSent.map { String(buffer: $0).hasPrefix("HTTP/1.1 502") } == true)
    }

    @Test("A connection that is gone leaves no pause behind")
    func pauseOfLostConnection() {
        let dialogue = posting()
        dialogue.responseHead(413, .length(0))
        dialogue.expect("< 413 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect("stop client")
        dialogue.upstreamClosed()
        dialogue.expect("abandon", "read client")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.requestPart("more")
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.failure == nil)
    }

    /// A POST whose head is with the server.
    private func posting() -> Dialogue {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.length(100))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (100)", "read client")
        return dialogue
    }
}
