import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Bodies larger than a stage asked for")
struct OverflowTests {
    private static let note = "the body is larger than the limit of 3 bytes; it passed unmodified"

    /// A breakpoint that wants the response whole, and holds at least its head.
    private static let holding = ScriptedStage.on(.breakpoints) { handler in
        handler.responseDemand = .whole(limit: 3, decoded: false)
        handler.onResponseWhole = { _, _, _ in .pause(.decision(nil)) }
        handler.onResponseOverflowed = { _, _ in .pause(.decision(nil)) }
    }

    @Test("A strict rule can refuse what is too large", arguments: [BodyFraming.length(4), .chunked])
    func refuse(framing: BodyFraming) {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.requestDemand = .whole(limit: 3, decoded: false)
            handler.onRequestOverflowed = { _, _ in
                .refuse(LocalAnswer(status: 413, contentType: "text/plain", text: "large"))
            }
        }
        let dialogue = Dialogue([stage], method: "POST")
        dialogue.requestHead(framing)
        if framing == .chunked {
            dialogue.expect()
            dialogue.requestPart("abcd")
        }
        dialogue.expect("< 413 (5)", "< part 'large'", "< end")
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.trace.isEmpty)
    }

    @Test(
        "The head alone can be held and edited; the body streams on behind it",
        arguments: [BodyFraming.length(4), .chunked]
    )
    func holdHead(framing: BodyFraming) {
        let dialogue = sent([OverflowTests.holding])
        let effects = dialogue.effects {
            $0.responseHead(200, framing)
            $0.responsePart("abcd")
        }
        #expect(effects == ["hold 1.1 response", "stop upstream"])
        guard case .response(var head, nil)? = dialogue.held else {
            Issue.record("the head alone is held")
            return
        }
        head.status = 206
        dialogue.decide(.execute(.response(head, body: nil)))
        #expect(dialogue.takePending().filter { $0.hasPrefix("<") }.count == 2)
        #expect(dialogue.responseHead?.status == 206)
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(String(buffer: dialogue.responseBody) == "abcd")
        #expect(
            dialogue.trace == [
                "breakpoints: the response was edited: status 200 OK to 206 OK", "breakpoints: \(OverflowTests.note)",
            ]
        )
    }

    @Test("The demand is read once more, so that a handler can at least look on")
    func newDemand() {
        let stage = ScriptedStage.on(.mirror) { handler in
            handler.responseDemand = .whole(limit: 3, decoded: false)
            handler.onResponseOverflowed = { [unowned handler] fields, _ in
                handler.responseDemand = .observe
                fields.append("X-Large", "yes")
                return .forward
            }
            handler.onResponsePart = { part, exchange in
                exchange.note("saw \(part.readableBytes)")
                return .forward
            }
        }
        let dialogue = sent([stage])
        dialogue.responseHead(200, .length(6))
        dialogue.expect("< 200 (6)")
        dialogue.responsePart("abcd")
        dialogue.expect("< part 'abcd'")
        dialogue.responsePart("ef")
        dialogue.expect("< part 'ef'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.value(of: "x-large") == "yes")
        #expect(dialogue.trace == ["mirror: saw 4", "mirror: saw 2"])
        #expect(dialogue.record.flags.contains(.responseChanged))
        #expect(!dialogue.record.flags.contains(.responseBodyChanged))
    }

    @Test("What was gathered is not given to the hook for whole bodies")
    func notWhole() {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.requestDemand = .whole(limit: 3, decoded: false)
            handler.onRequestWhole = { _, _, _ in
                Issue.record("the body is not whole")
                return .forward
            }
        }
        let dialogue = Dialogue([stage], method: "POST")
        dialogue.requestHead(.chunked)
        dialogue.requestPart("ab")
        dialogue.requestPart("cd")
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.requestEnd()
        dialogue.ready()
        dialogue.expect("> POST / (chunked)", "> part 'abcd'", "> end", "read client")
        dialogue.leaveOpen()
    }
}
