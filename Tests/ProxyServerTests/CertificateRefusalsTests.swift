import NIOCore
import Testing

@testable import ProxyServer

@Suite("Clients that refuse our certificate")
struct CertificateRefusalsTests {
    private let pair = CertificateRefusals.Pair(client: "10.0.0.1", host: "h.example", port: 443)

    private func at(_ minutes: Int64) -> NIODeadline { .uptimeNanoseconds(1) + .minutes(minutes) }

    /// The refusals after the pair was refused twice, at minute 0.
    private func refusedTwice() -> CertificateRefusals {
        var refusals = CertificateRefusals()
        #expect(refusals.refused(pair, now: at(0)) == nil)
        #expect(refusals.remaining(pair, now: at(0)) == nil)
        #expect(refusals.refused(pair, now: at(0)) == .minutes(10))
        return refusals
    }

    @Test("Two refusals begin ten minutes of tunnels, for that client, host and port only")
    func twice() {
        let refusals = refusedTwice()
        #expect(refusals.remaining(pair, now: at(0)) == .minutes(10))
        #expect(refusals.remaining(pair, now: at(9)) == .minutes(1))
        #expect(refusals.remaining(pair, now: at(10)) == nil)
        for other in [
            CertificateRefusals.Pair(client: "10.0.0.2", host: "h.example", port: 443),
            CertificateRefusals.Pair(client: "10.0.0.1", host: "i.example", port: 443),
            CertificateRefusals.Pair(client: "10.0.0.1", host: "h.example", port: 444),
        ] { #expect(refusals.remaining(other, now: at(0)) == nil) }
    }

    @Test("A program that refuses says nothing about the others at its address")
    func programs() {
        var refusals = CertificateRefusals()
        var curl = pair
        curl.program = "curl"
        for _ in 1...2 { _ = refusals.refused(curl, .nothingShared, now: at(0)) }
        #expect(refusals.remaining(curl, now: at(0)) == .minutes(10))
        #expect(refusals.reason(curl) == .nothingShared)
        #expect(refusals.remaining(pair, now: at(0)) == nil)
        // By then it is worth while to find out which program asks.
        #expect(refusals.concernsAddress(of: pair))
        for other in [
            CertificateRefusals.Pair(client: "10.0.0.2", host: "h.example", port: 443),
            CertificateRefusals.Pair(client: "10.0.0.1", host: "i.example", port: 443),
            CertificateRefusals.Pair(client: "10.0.0.1", host: "h.example", port: 444),
        ] { #expect(!refusals.concernsAddress(of: other)) }
        #expect(refusals.forget(host: "h.example", port: nil) == [curl])
        #expect(!refusals.concernsAddress(of: pair))
        #expect((curl.who, pair.who) == ("curl at 10.0.0.1", "10.0.0.1"))
    }

    @Test("One refusal at the next try doubles the time, up to a day")
    func doubling() {
        var refusals = refusedTwice()
        var now = at(10)
        var waits: [TimeAmount] = []
        for _ in 0..<9 {
            #expect(refusals.remaining(pair, now: now) == nil)
            guard let wait = refusals.refused(pair, now: now) else { break }
            waits.append(wait)
            now = now + wait
        }
        #expect(waits == [20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440].map { .minutes($0) })
    }

    @Test("Refusals of handshakes that were begun together count once")
    func together() {
        var refusals = refusedTwice()
        for _ in 0..<5 { #expect(refusals.refused(pair, now: at(1)) == nil) }
        #expect(refusals.remaining(pair, now: at(10)) == nil)
        #expect(refusals.refused(pair, now: at(10)) == .minutes(20))
    }

    @Test("Nothing is tried again while a tunnel of that client to that server is open")
    func openTunnels() {
        var refusals = refusedTwice()
        refusals.opened(pair)
        refusals.opened(pair)
        refusals.closed(pair)
        #expect(refusals.remaining(pair, now: at(500)) == .zero)
        refusals.closed(pair)
        #expect(refusals.remaining(pair, now: at(500)) == nil)
        // One too many does no harm.
        refusals.closed(pair)
        #expect(refusals.refused(pair, now: at(500)) == .minutes(20))
    }

    @Test("A certificate that is accepted when it is tried again ends it; one before counts for nothing")
    func accepted() {
        var refusals = refusedTwice()
        // By a handshake that was under way.
        refusals.accepted(pair, now: at(1))
        #expect(refusals.remaining(pair, now: at(1)) == .minutes(9))
        refusals.accepted(pair, now: at(10))
        #expect(refusals.undecrypted.isEmpty)
        #expect(refusals.refused(pair, now: at(11)) == nil)
        refusals.accepted(pair, now: at(11))
        #expect(refusals.refused(pair, now: at(12)) == .minutes(10))
    }

    @Test("A host is decrypted again on demand: at one port or at all, for every client, open tunnels or not")
    func forget() {
        var refusals = refusedTwice()
        let others = [("10.0.0.2", 443), ("10.0.0.1", 8_443)].map {
            CertificateRefusals.Pair(client: $0.0, host: "h.example", port: $0.1)
        }
        for other in others { for _ in 1...2 { _ = refusals.refused(other, now: at(0)) } }
        refusals.opened(pair)
        #expect(refusals.forget(host: "i.example", port: nil).isEmpty)
        #expect(Set(refusals.forget(host: "h.example", port: 443)) == [pair, others[0]])
        #expect(refusals.remaining(pair, now: at(0)) == nil)
        #expect(refusals.undecrypted == [others[1]])
        #expect(refusals.forget(host: "h.example", port: nil) == [others[1]])
        // The tunnel that is open still counts when the client refuses anew.
        for _ in 1...2 { _ = refusals.refused(pair, now: at(1)) }
        #expect(refusals.remaining(pair, now: at(60)) == .zero)
    }

    @Test("So many are remembered and no more; the oldest go first")
    func bounded() {
        var refusals = CertificateRefusals(capacity: 100)
        func pair(_ number: Int) -> CertificateRefusals.Pair {
            CertificateRefusals.Pair(client: "10.0.0.1", host: "h\(number).example", port: 443)
        }
        for number in 0..<1_000 {
            for _ in 1...2 { _ = refusals.refused(pair(number), now: at(0)) }
            // Those that come and go leave nothing behind.
            _ = refusals.refused(self.pair, now: at(0))
            _ = refusals.refused(self.pair, now: at(0))
            _ = refusals.forget(host: self.pair.host, port: nil)
        }
        #expect(refusals.undecrypted.count >= 98 && refusals.undecrypted.count <= 100)
        #expect(refusals.remaining(pair(999), now: at(0)) != nil)
        #expect(refusals.remaining(pair(0), now: at(0)) == nil)
    }
}
