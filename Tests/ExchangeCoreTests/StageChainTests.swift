import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@Suite("The chain of stages")
struct StageChainTests {
    private struct Chosen: StagePreselection {
        let bits: UInt64

        func candidates(for url: RequestURL) -> UInt64 { url.host == "example.com" ? bits : 0 }
        func reader(of url: RequestURL) -> Int? { url.host == "example.com" ? bits.trailingZeroBitCount : nil }
    }

    private final class Asked: Sendable {
        let names = Mutex<[String]>([])
    }

    /// The names of the stages that are asked about a request.
    private func asked(_ bits: UInt64?, _ slots: [StageID], url: String = "http://example.com/") -> [String] {
        let asked = Asked()
        let stages = slots.map { slot in
            ScriptedStage(slot) { _ in
                asked.names.withLock { $0.append(slot.name) }
                return nil
            }
        }
        let dialogue = Dialogue(chain: StageChain(stages, preselection: bits.map { Chosen(bits: $0) }), url: url)
        _ = dialogue.effects { $0.request() }
        dialogue.leaveOpen()
        return asked.names.withLock { $0 }
    }

    @Test("Only the stages that are preselected are asked, by their places in the fixed order")
    func preselection() {
        let slots: [StageID] = [.throttle, .rewrite, .blockList]
        #expect(asked(nil, slots) == ["block", "rewrite", "throttle"])
        #expect(asked(0b111, slots) == ["block", "rewrite", "throttle"])
        #expect(asked(0b001, slots) == ["block"])
        #expect(asked(0b110, slots) == ["rewrite", "throttle"])
        #expect(asked(0, slots) == [])
        #expect(asked(0b111, slots, url: "http://other.example/") == [])
        #expect(asked(.max, slots) == ["block", "rewrite", "throttle"])
    }

    @Test("A chain of more stages than there are bits is asked in full")
    func manyStages() {
        #expect(asked(1, Array(repeating: .rewrite, count: 65)).count == 65)
        #expect(asked(1 << 63, Array(repeating: .rewrite, count: 64)).count == 1)
    }

    @Test(
        "A tunnel is told from a request by its opening",
        arguments: [("http://example.com/", false), ("example.com:443", true)]
    )
    func tunnels(url: String, isTunnel: Bool) {
        let stage = ScriptedStage(.throttle) { opening in
            #expect(opening.isTunnel == isTunnel)
            return nil
        }
        let dialogue = Dialogue(
            [stage],
            url: url,
            method: isTunnel ? "CONNECT" : "GET",
            kind: isTunnel ? .tunnel : .http
        )
        _ = dialogue.effects { $0.requestHead() }
        dialogue.leaveOpen()
    }

    @Test("Stages around a chain are asked about everything, those of the chain as before", arguments: [true, false])
    func between(isChosen: Bool) {
        let asked = Asked()
        func stage(_ id: StageID) -> ScriptedStage {
            ScriptedStage(id) { _ in
                asked.names.withLock { $0.append(id.name) }
                return nil
            }
        }
        let inner = StageChain([stage(.rewrite), stage(.mapRemote), stage(.mirror)], preselection: Chosen(bits: 0b100))
        let (first, last) = (stage(StageID("first", order: .min)), stage(StageID("last", order: .max)))
        let url = isChosen ? "http://example.com/" : "http://other.example/"
        func names(_ chain: StageChain) -> [String] {
            asked.names.withLock { $0 = [] }
            let dialogue = Dialogue(chain: chain, url: url)
            _ = dialogue.effects { $0.request() }
            dialogue.leaveOpen()
            return asked.names.withLock { $0 }
        }
        let chosen = isChosen ? ["mirror"] : []
        #expect(names(inner.between(first, last)) == ["first"] + chosen + ["last"])
        #expect(names(inner.between(nil, last)) == chosen + ["last"])
        #expect(names(inner.between(first, nil)) == ["first"] + chosen)
        #expect(names(inner.between(nil, nil)) == chosen)
        #expect(names(StageChain().between(first, last)) == ["first", "last"])
        #expect(names(StageChain([stage(.rewrite)]).between(first, last)) == ["first", "rewrite", "last"])
    }
}
