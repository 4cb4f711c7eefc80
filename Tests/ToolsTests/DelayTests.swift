import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Times of rules")
struct DelayTests {
    /// Many draws, in order.
    private func times(_ delay: Delay) throws -> [Double] {
        let draw = SeededDraw(seed: 1, rule: "r")
        let url = try #require(RequestURL("http://a.example/"))
        return (1...20_000).map { nth in delay.drawn { draw.uniform("GET", url, nth: nth, index: $0) } }.sorted()
    }

    @Test("A range is uniform; p50 and p95 are those of a log-normal distribution with a longest time")
    func distributions() throws {
        let uniform = try times(.uniform(100...800))
        #expect(uniform.allSatisfy { (100...800).contains($0) })
        #expect(abs(uniform[10_000] - 450) < 15)
        let normal = try times(.logNormal(p50: 200, p95: 800))
        #expect(abs(normal[10_000] - 200) < 10)
        #expect(abs(normal[19_000] - 800) < 60)
        #expect(try times(.logNormal(p50: 1, p95: 600_000)).last == 6_000_000)
        #expect(try Set(times(.logNormal(p50: 5, p95: 5))) == [5])
        #expect(try Set(times(.fixed(3))) == [3])
    }

    @Test("The latency of a throttle is drawn for each request, and the same in every run")
    func latency() throws {
        func delays(_ latency: String) throws -> [Double] {
            let text = "version: 1\nthrottle: { name: t, latency: \(latency), seed: 4 }"
            var dryRun = DryRun(try RuleProfile(text, file: "p.yaml"))
            let request = try #require(DryRunRequest("http://a.example/"))
            return (1...20).map { _ in Double(dryRun.play(request).delay.nanoseconds) / 1e6 }
        }
        let drawn = try delays("100ms..0.8s")
        #expect(drawn.allSatisfy { (100...800).contains($0) } && Set(drawn).count > 15)
        #expect(try delays("100..800") == drawn)
        #expect(Set(try delays("{ p50: 20, p95: 80ms }")).count > 15)
        #expect(Set(try delays("0.2s")) == [200])
        let profile = try RuleProfile(
            "version: 1\nthrottle: [{ latency: 10..20 }, { latency: { p50: 1, p95: 2.5 } }]",
            file: "p"
        )
        #expect(profile.tools[0].rules.map(\.action) == ["latency 10 to 20 ms", "latency p50 1 ms, p95 2.5 ms"])
        #expect(issues("version: 1\nthrottle: { name: t, latency: 300, seed: 1 }").count == 1)
    }
}
