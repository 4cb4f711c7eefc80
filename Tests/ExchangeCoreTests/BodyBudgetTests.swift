import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("What bodies that are gathered or held may take in all")
struct BodyBudgetTests {
    private let budget = ByteBudget(limit: 5)

    /// A POST whose request is held whole by a breakpoint, if it can be.
    private func dialogue() -> Dialogue {
        let stage = ScriptedStage.on(.breakpoints) { handler in
            handler.requestDemand = .whole(limit: 100, decoded: false)
            handler.onRequestWhole = { _, _, _ in .pause(.decision(nil)) }
            handler.onRequestOverflowed = { _, exchange in
                exchange.note(exchange.lacksRoom ? "no room" : "too large")
                return .forward
            }
        }
        return Dialogue([stage], method: "POST", bodyBudget: budget)
    }

    @Test("A body for which nothing is left passes unmodified, and is gathered again once another has left")
    func shared() {
        let first = dialogue()
        first.requestHead(.chunked)
        first.requestPart("abc")
        #expect(budget.bytesInUse == 3)
        first.requestEnd()
        first.expect("hold 1.1 request 'abc'", "stop client")
        #expect(budget.bytesInUse == 3, "what is held counts too")

        let second = dialogue()
        second.requestHead(.chunked)
        second.requestPart("de")
        #expect(budget.bytesInUse == 5)
        second.requestPart("f")
        second.expect("connect http://example.com:80", "stop client")
        second.ready()
        second.expect("> POST / (chunked)", "> part 'def'", "read client")
        #expect(budget.bytesInUse == 3)
        _ = second.effects {
            $0.requestEnd()
            $0.responseHead(200, .length(0))
            $0.responseEnd()
        }
        second.finish()
        #expect(second.trace == ["breakpoints: no room", "breakpoints: \(Self.note)"])

        first.decide(.execute(nil))
        first.expect("connect http://example.com:80")
        #expect(budget.bytesInUse == 3, "it waits for its server")
        first.ready()
        first.expect("> POST / (chunked)", "> part 'abc'", "> end", "read client")
        #expect(budget.bytesInUse == 0)

        let third = dialogue()
        third.requestHead(.chunked)
        third.requestPart("12345")
        third.requestEnd()
        third.expect("hold 1.1 request '12345'", "stop client")
        third.leaveOpen()
        first.leaveOpen()
    }

    @Test("What an exchange took is given back when it is over in whatever way")
    func gone() {
        do {
            let dialogue = dialogue()
            dialogue.requestHead(.chunked)
            dialogue.requestPart("abc")
            dialogue.leaveOpen()
        }
        #expect(budget.bytesInUse == 0)
    }

    @Test("An edited body takes the place of the one that was held")
    func edited() {
        let dialogue = dialogue()
        dialogue.requestHead(.chunked)
        dialogue.requestPart("abc")
        dialogue.requestEnd()
        dialogue.expect("hold 1.1 request 'abc'", "stop client")
        guard case .request(let head, _, let destination)? = dialogue.held else {
            Issue.record("the request is held")
            return
        }
        dialogue.decide(.execute(.request(head, body: ByteBuffer(string: "x"), destination: destination)))
        dialogue.expect("connect http://example.com:80")
        #expect(budget.bytesInUse == 3)
        dialogue.ready()
        dialogue.expect("> POST / (1)", "> part 'x'", "> end", "read client")
        #expect(budget.bytesInUse == 0)
        dialogue.leaveOpen()
    }

    private static let note =
        "the 5 bytes for bodies that are gathered or held, or the 5 of one client, are in use; it passed unmodified"
}
