import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@Suite("A client's name for the address of its tunnel")
struct NameClaimTests {
    private static let claim = NameClaim(address: "10.0.0.1", isVerified: false)

    /// Says what it was told of the name.
    private static func asking(_ needsVerifiedName: Bool) -> ScriptedStage {
        .on(.rewrite) { handler in
            handler.needsVerifiedName = needsVerifiedName
            handler.onRequestHead = { _, exchange in
                exchange.note("verified: \(exchange.isNameVerified)")
                return .forward
            }
        }
    }

    @Test(
        "is looked up before the first hook where a handler needs it; what the client sends meanwhile waits",
        arguments: [true, false]
    )
    func lookedUp(isVerified: Bool) {
        let dialogue = Dialogue(
            [Self.asking(false), Self.asking(true)],
            url: "http://a.example/",
            method: "POST",
            claim: Self.claim
        )
        dialogue.requestHead(.length(4))
        dialogue.expect("look up a.example for 10.0.0.1", "stop client")
        #expect(dialogue.requestPauses == .working)
        dialogue.tell { $0.requestPartReceived(ByteBuffer(string: "body"), now: $1) }
        dialogue.requestEnd()
        dialogue.expect()
        dialogue.tell { $0.nameLookedUp(isVerified: isVerified, now: $1) }
        dialogue.expect("connect http://a.example:80")
        dialogue.tell { $0.nameLookedUp(isVerified: !isVerified, now: $1) }
        dialogue.ready()
        dialogue.expect("> POST / (4)", "> part 'body'", "> end", "read client")
        dialogue.clientGone()
        _ = dialogue.takePending()
        #expect(dialogue.trace.filter { $0 == "rewrite: verified: \(isVerified)" }.count == 2, "\(dialogue.trace)")
        dialogue.finish()
    }

    @Test("is not looked up where no handler needs it, or it is verified; a connection may need it, too")
    func notLookedUp() {
        let verified = NameClaim(address: "10.0.0.1", isVerified: true)
        let needed = NameClaim(address: "10.0.0.1", isVerified: false, isNeeded: true)
        for (claim, stage, line) in [
            (Self.claim, Self.asking(false), "connect http://a.example:80"),
            (verified, Self.asking(true), "connect http://a.example:80"),
            (needed, Self.asking(false), "look up a.example for 10.0.0.1"),
        ] {
            let dialogue = Dialogue([stage], url: "http://a.example/", claim: claim)
            dialogue.request()
            dialogue.expect(line, "stop client")
            dialogue.leaveOpen()
        }
    }

    @Test("is of no use any more once its client is gone")
    func clientGone() {
        let dialogue = Dialogue([Self.asking(true)], url: "http://a.example/", claim: Self.claim)
        dialogue.request()
        dialogue.expect("look up a.example for 10.0.0.1", "stop client")
        dialogue.clientGone()
        dialogue.expect("abort", "finished")
        dialogue.tell { $0.nameLookedUp(isVerified: true, now: $1) }
        dialogue.finish()
    }

    @Test("lets stages be asked that are for the address alone")
    func preselected() {
        struct ByHost: StagePreselection {
            func candidates(for url: RequestURL) -> UInt64 { url.host == "10.0.0.1" ? 1 : 0 }
            func reader(of url: RequestURL) -> Int? { nil }
        }
        let chain = StageChain([Self.asking(false)], preselection: ByHost())
        for (claim, count) in [(Self.claim, 1), (nil, 0)] {
            let dialogue = Dialogue(chain: chain, url: "http://a.example/", claim: claim)
            dialogue.request()
            dialogue.expect("connect http://a.example:80", "stop client")
            dialogue.clientGone()
            _ = dialogue.takePending()
            #expect(dialogue.trace.count { $0.hasPrefix("rewrite: ") } == count)
            dialogue.finish()
        }
    }
}
