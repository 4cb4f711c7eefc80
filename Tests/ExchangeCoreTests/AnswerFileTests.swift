import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Answers from files")
struct AnswerFileTests {
    /// An answer that says it has a file of this length; nothing reads it here.
    private static func answer(_ length: Int64, status: Int = 200) -> LocalAnswer {
        LocalAnswer(
            head: ResponseHead(status: status, fields: [("Content-Type", "text/plain")]),
            file: AnswerFile(descriptor: -1, offset: 0, length: length)
        )
    }

    private static func mapping(_ length: Int64, status: Int = 200) -> ScriptedStage {
        .on(.mapLocal) { $0.onRequestHead = { _, _ in .respond(answer(length, status: status)) } }
    }

    private static let stamping = ScriptedStage.on(.throttle) { handler in
        handler.onResponseHead = { head, _ in
            head.fields.append("X-Chain", "yes")
            return .forward
        }
    }

    @Test("A file is read as a server's response would be, with back-pressure, and recorded like one")
    func streamed() {
        let dialogue = Dialogue([AnswerFileTests.mapping(6), AnswerFileTests.stamping])
        dialogue.request()
        dialogue.expect("file 6", "< 200 (6)")
        dialogue.tell { machine, _ in machine.clientBecameWritable(false) }
        dialogue.expect("stop upstream")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.tell { machine, _ in machine.clientBecameWritable(true) }
        dialogue.expect("read upstream")
        dialogue.responsePart("def")
        dialogue.expect("< part 'def'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.value(of: .contentLength) == "6")
        #expect(dialogue.responseHead?.fields.value(of: "x-chain") == "yes")
        #expect(dialogue.sink.body(.responseReceived) == "abcdef")
        #expect(dialogue.record.sizes.responseBody == 6)
        #expect(dialogue.record.flags == [.answeredLocally, .responseChanged])
        #expect(dialogue.record.mediaType == "text/plain")
        #expect(dialogue.record.state == .complete)
    }

    @Test("A stage after it may want it whole")
    func whole() {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.responseDemand = .whole(limit: 100, decoded: false)
            handler.onResponseWhole = { _, body, _ in
                body.writeString("!")
                return .forward
            }
        }
        let dialogue = Dialogue([AnswerFileTests.mapping(3), stage])
        dialogue.request()
        dialogue.expect("file 3")
        dialogue.responsePart("abc")
        dialogue.expect()
        dialogue.responseEnd()
        dialogue.expect("< 200 (4)", "< part 'abc!'", "< end", "finished")
        dialogue.finish()
    }

    @Test(
        "A response that has no body reads no file",
        arguments: [("HEAD", 200, "6"), ("GET", 204, nil), ("GET", 304, nil)]
    )
    func noBody(method: String, status: Int, length: String?) {
        let dialogue = Dialogue([AnswerFileTests.mapping(6, status: status)], method: method)
        dialogue.request()
        dialogue.expect("< \(status) (none)", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.value(of: .contentLength) == length)
    }

    @Test("An empty file is not read either")
    func empty() {
        let dialogue = Dialogue([AnswerFileTests.mapping(0)])
        dialogue.request()
        dialogue.expect("< 200 (0)", "< end", "finished")
        dialogue.finish()
    }

    @Test("A file that cannot be read to its end fails the exchange and cuts the client off")
    func short() {
        let dialogue = Dialogue([AnswerFileTests.mapping(6)])
        dialogue.request()
        dialogue.expect("file 6", "< 200 (6)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.upstreamClosed()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
    }

    @Test("A client that goes away stops the reading")
    func clientGone() {
        let dialogue = Dialogue([AnswerFileTests.mapping(6)])
        dialogue.request()
        dialogue.expect("file 6", "< 200 (6)")
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
    }

    @Test("A request that is still being sent goes nowhere, and the exchange is over when both are")
    func upload() {
        let dialogue = Dialogue([AnswerFileTests.mapping(3)], method: "POST")
        dialogue.requestHead(.length(2))
        dialogue.expect("file 3", "< 200 (3)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.requestPart("..")
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
    }

    @Test("Blocking work may come to a file")
    func fromWork() {
        let stage = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in
                .perform(ScriptedWork { WorkOutcome(.respond(AnswerFileTests.answer(3))) })
            }
        }
        let dialogue = Dialogue([stage, AnswerFileTests.stamping])
        dialogue.request()
        dialogue.expect("work request 1", "stop client")
        guard let work = dialogue.work else { return }
        dialogue.workDone(.request, 1, work.run())
        dialogue.expect("file 3", "< 200 (3)", "read client")
        #expect(dialogue.responseHead?.fields.value(of: "x-chain") == "yes")
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
    }

    @Test("A refusal may have a file too, past the response chain")
    func refused() {
        let stage = ScriptedStage.on(.blockList) { handler in
            handler.onRequestHead = { _, _ in .refuse(AnswerFileTests.answer(3, status: 403)) }
        }
        let dialogue = Dialogue([stage, AnswerFileTests.stamping])
        dialogue.request()
        dialogue.expect("file 3", "< 403 (3)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.contains("x-chain") == false)
        #expect(dialogue.sink.body(.responseReceived) == "abc")
        #expect(dialogue.record.state == .blocked)
    }

    @Test("In place of a server's response a file is recorded as what was sent")
    func replacing() {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onResponseHead = { _, _ in .respond(AnswerFileTests.answer(3)) }
        }
        let dialogue = sent([stage, AnswerFileTests.stamping])
        dialogue.responseHead(500, .length(9))
        dialogue.expect("abandon", "file 3", "< 200 (3)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseReceived) == "")
        #expect(dialogue.sink.body(.responseSent) == "abc")
        #expect(dialogue.record.sizes.responseBody == 0)
        #expect(dialogue.responseHead?.fields.value(of: "x-chain") == "yes")
    }

    @Test("The descriptor is closed when nobody has the file any more")
    func closed() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[1]) }
        var file: AnswerFile? = AnswerFile(descriptor: ends[0], offset: 0, length: 1)
        #expect(file.map { fcntl($0.descriptor, F_GETFD) } != -1)
        file = nil
        // Nobody reads from the pipe any more; with another descriptor's number that could not be seen.
        signal(SIGPIPE, SIG_IGN)
        #expect(write(ends[1], "x", 1) == -1 && errno == EPIPE)
    }
}
