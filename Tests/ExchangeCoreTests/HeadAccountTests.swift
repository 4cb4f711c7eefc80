import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("What heads may take")
struct HeadAccountTests {
    private static let mebibyte = String(repeating: "x", count: (1 << 20) - 1_000)
    private let budget = ByteBudget(limit: 32 << 20)

    private func account(_ client: ClientKey = .process(1)) -> HeadAccount { HeadAccount(budget: budget) { client } }

    /// A request with a field of so many mebibytes; returns its failure, once it is refused.
    private func ask(_ heads: HeadAccount, mebibytes: Int = 1, takesResets: Bool = true) -> Dialogue {
        let dialogue = Dialogue(takesResets: takesResets, heads: heads)
        _ = dialogue.effects { $0.request([("x", String(repeating: Self.mebibyte, count: mebibytes))]) }
        return dialogue
    }

    @Test("A connection's requests are refused once its heads take 16 MiB, with a small record, until others are over")
    func connection() {
        let heads = account()
        let open = (0..<16).map { _ in ask(heads) }
        #expect(open.allSatisfy { $0.record.failure == nil })
        let refused = ask(heads)
        #expect(refused.record.failure?.code == .overload && refused.record.failure?.resetCode == .refusedStream)
        #expect(refused.messages.requestHead?.readableBytes == 512)
        #expect(refused.trace.contains { $0.contains("the first 512 bytes") })
        refused.finish()
        // Heads of HTTP/1 get an answer.
        let answered = ask(heads, takesResets: false)
        #expect(answered.responseHead?.status == 503)
        answered.finish()
        _ = open[0].effects { $0.clientGone() }
        open[0].finish()
        let next = ask(heads)
        #expect(next.record.failure == nil)
        for dialogue in open.dropFirst() + [next] { dialogue.leaveOpen() }
    }

    @Test("All connections of a client leave others a part of the budget, and give back what they took")
    func all() {
        do {
            let connections = (0..<4).map { _ in account() }
            let open = connections.map { ask($0, mebibytes: 9) }
            #expect(open.count { $0.record.failure == nil } == 3, "28 MiB are one client's")
            let other = ask(account(.process(2)), mebibytes: 3)
            #expect(other.record.failure == nil)
            for dialogue in open + [other] where !dialogue.isOver { dialogue.leaveOpen() }
            for dialogue in open where dialogue.isOver { dialogue.finish() }
        }
        #expect(budget.bytesInUse == 0)
    }

    @Test("Ordinary heads take nothing of the budget")
    func ordinary() {
        let heads = account()
        let dialogue = Dialogue(heads: heads)
        _ = dialogue.effects { $0.request([("cookie", String(repeating: "x", count: 8_000))]) }
        #expect(budget.bytesInUse == 0)
        dialogue.leaveOpen()
    }

    @Test("A response's head and trailers count too; over the limit the exchange fails, as not to be repeated")
    func response() {
        for isTrailer in [false, true] {
            let heads = account()
            let filling = ask(heads, mebibytes: 15)
            let dialogue = Dialogue(takesResets: true, heads: heads)
            let large = [("x", Self.mebibyte + Self.mebibyte)]
            _ = dialogue.effects {
                $0.request()
                $0.ready()
                $0.responseHead(200, .chunked, isTrailer ? [] : large)
                if isTrailer { $0.responseEnd(large) }
            }
            #expect(dialogue.record.failure?.code == .overload && dialogue.record.failure?.resetCode == nil)
            dialogue.finish()
            filling.leaveOpen()
        }
    }

    @Test("Interim responses beyond 256 KiB are neither recorded nor passed on, which the trace says once")
    func interims() {
        let dialogue = Dialogue(heads: account())
        let link = ("link", String(repeating: "x", count: 100 << 10))
        let effects = dialogue.effects {
            $0.request()
            $0.ready()
            for _ in 0..<5 { $0.interim(103, [link]) }
            $0.responseHead(200, .length(0))
            $0.responseEnd()
        }
        #expect(effects.count { $0.hasPrefix("< interim 103") } == 2)
        #expect(dialogue.record.failure == nil)
        #expect(dialogue.trace == ["sluice: further interim responses were dropped: they are larger than 262144 bytes"])
        dialogue.finish()
    }
}
