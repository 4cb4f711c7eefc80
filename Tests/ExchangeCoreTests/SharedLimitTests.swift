import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Limits of all clients")
struct SharedLimitTests {
    private let one = ClientKey.process(1)
    private let other = ClientKey.address([192, 0, 2, 1])

    @Test("One client has seven eighths at most, and what it gives back may be taken again")
    func part() {
        var limit = SharedLimit(total: 80)
        #expect(limit.perClient == 70)
        let taken = [
            limit.take(70, for: one), limit.take(for: one), limit.take(10, for: other), limit.take(for: other),
        ]
        #expect(taken == [true, false, true, false])
        limit.give(5, from: one)
        #expect(limit.used == 75 && limit.hasRoom(for: one, count: 5) && !limit.hasRoom(for: one, count: 6))
        let more = limit.take(5, for: other)
        #expect(more)
        limit.give(65, from: one)
        limit.give(15, from: other)
        let again = limit.take(70, for: one)
        #expect(limit.used == 70 && again)
    }

    @Test("A client that holds bodies leaves others room for theirs")
    func bodies() {
        let budget = ByteBudget(limit: 16)
        let stage = ScriptedStage.on(.breakpoints) { handler in
            handler.requestDemand = .whole(limit: 100, decoded: false)
            handler.onRequestWhole = { _, _, _ in .pause(.decision(nil)) }
            handler.onRequestOverflowed = { _, exchange in
                #expect(exchange.lacksRoom)
                return .forward
            }
        }
        func send(_ text: String, _ client: ClientKey, _ expected: String...) -> Dialogue {
            let dialogue = Dialogue([stage], method: "POST", client: client, bodyBudget: budget)
            let effects = dialogue.effects {
                $0.requestHead(.chunked)
                $0.requestPart(text)
                $0.requestEnd()
            }
            #expect(effects.first == expected.first)
            return dialogue
        }
        let held = send("12345678901234", one, "hold 1.1 request '12345678901234'")
        let crowdedOut = send("1", one, "connect http://example.com:80")
        let others = send("ab", other, "hold 1.1 request 'ab'")
        for dialogue in [held, crowdedOut, others] { dialogue.leaveOpen() }
    }
}
