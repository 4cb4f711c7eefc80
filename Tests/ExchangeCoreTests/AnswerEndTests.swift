import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Answers that end early")
struct AnswerEndTests {
    private static func dialogue(
        _ after: Int64?,
        hangs: Bool = false,
        _ answer: LocalAnswer = LocalAnswer(status: 200, contentType: "text/plain", text: "abcdef"),
        method: String = "GET",
        behind stages: [ScriptedStage] = []
    ) -> Dialogue {
        var answer = answer
        let failure = ExchangeFailure(.aborted, "It was ended on purpose.")
        answer.end = AnswerEnd(after: after, silence: hangs ? .hours(1) : .zero, failure)
        let stage = ScriptedStage.on(.mapLocal) { [answer] in $0.onRequestHead = { _, _ in .respond(answer) } }
        return Dialogue([stage] + stages, method: method)
    }

    @Test(
        "The client gets the head with the whole length, so many bytes of the body, and then an abort",
        arguments: [
            (0, []), (2, ["< part 'ab'"]), (6, ["< part 'abcdef'"]), (7, ["< part 'abcdef'"]),
        ] as [(Int64, [String])]
    )
    func cut(after: Int64, parts: [String]) {
        let dialogue = Self.dialogue(after)
        dialogue.request()
        #expect(dialogue.takePending() == ["< 200 (6)"] + parts + ["abort", "finished"])
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .aborted)
        #expect(dialogue.record.state == .failed)
    }

    @Test("An answer that hangs is cut after its silence, and ends if the client goes away")
    func hang() {
        let dialogue = Self.dialogue(3, hangs: true)
        dialogue.request()
        dialogue.expect("< 200 (6)", "< part 'abc'", "wake response 1")
        dialogue.tell {
            $0.clientBecameWritable(false)
            _ = $1
        }
        dialogue.tell { $0.pauseElapsed(.response, generation: 1, now: $1 + .hours(1)) }
        dialogue.expect("abort", "finished")
        dialogue.finish()
        let silent = Self.dialogue(nil, hangs: true)
        silent.request()
        silent.expect("wake response 1")
        silent.clientGone()
        silent.expect("abort", "finished")
        silent.finish()
        #expect(silent.record.status == 0)
        let gone = Self.dialogue(3, hangs: true)
        gone.request()
        gone.expect("< 200 (6)", "< part 'abc'", "wake response 1")
        gone.clientGone()
        gone.expect("abort", "finished")
        gone.finish()
        #expect(gone.record.failure?.code == .clientGone)
    }

    @Test("Later stages see the whole answer, a file is read up to the end, HEAD has no body")
    func others() {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.responseDemand = .whole(limit: 100, decoded: false)
            handler.onResponseWhole = { _, body, _ in
                body.writeString("!")
                return .forward
            }
        }
        let changed = Self.dialogue(3, behind: [stage])
        changed.request()
        changed.expect("< 200 (7)", "< part 'abc'", "abort", "finished")
        changed.finish()
        let file = AnswerFile(descriptor: -1, offset: 0, length: 9)
        let read = Self.dialogue(4, LocalAnswer(head: ResponseHead(status: 200), file: file))
        read.request()
        read.expect("file 9", "< 200 (9)")
        read.responsePart("abcdef")
        read.expect("< part 'abcd'", "abandon", "abort", "finished")
        read.finish()
        let head = Self.dialogue(3, method: "HEAD")
        head.request()
        head.expect("< 200 (none)", "abort", "finished")
        head.finish()
    }

    @Test("Work may have the hook asked again")
    func again() {
        let stage = ScriptedStage.on(.mapLocal) { handler in
            var isFirst = true
            handler.onRequestHead = { _, _ in
                defer { isFirst = false }
                if !isFirst { return .respond(LocalAnswer(status: 200, contentType: "text/plain", text: "x")) }
                return .perform(ScriptedWork { WorkOutcome(.pause(.again(at: .uptimeNanoseconds(0)))) })
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.request()
        dialogue.expect("work request 1", "stop client")
        guard let work = dialogue.work else { return }
        dialogue.workDone(.request, 1, work.run())
        dialogue.expect("wake request 2")
        dialogue.tell { $0.pauseElapsed(.request, generation: 2, now: $1) }
        dialogue.expect("< 200 (1)", "< part 'x'", "< end", "finished")
        dialogue.finish()
    }
}
