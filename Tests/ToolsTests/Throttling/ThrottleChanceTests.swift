import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Throttle: chance")
struct ThrottleChanceTests {
    /// What became of a GET whose response has a body of that size; `nil` where it passed.
    private func failure(_ profile: RuleProfile, _ url: String, _ count: Int) -> ExchangeFailure? {
        let flow = ThrottledFlow(profile, url)
        flow.tell { $0.request() }
        if !flow.dialogue.isOver {
            flow.tell { $0.ready() }
            flow.respond(count, by: 4_096)
            flow.finish()
        }
        flow.dialogue.finish()
        return flow.dialogue.record.failure
    }

    @Test(
        "So many messages pass as the reliability says for their size",
        arguments: [(50.0, 10_240), (50, 20_480), (50, 1_024), (90, 51_200), (99, 10_240)]
    )
    func reliability(percent: Double, count: Int) throws {
        let profile = try throttle("{ reliability: \(percent), seed: 11 }")
        let number = 1_000
        let passed = (0..<number).count { failure(profile, "http://a.example/\($0)", count) == nil }
        // The head of the request fails by itself, that of the response is part of it.
        let up = Double("GET /123 HTTP/1.1\r\nHost: a.example\r\n\r\n".utf8.count)
        let down = Double("HTTP/1.1 200 OK\r\n\r\n".utf8.count + count)
        let expected = pow(percent / 100, (up + down) / 10_240)
        let deviation = (expected * (1 - expected) / Double(number)).squareRoot()
        #expect(abs(Double(passed) / Double(number) - expected) < 3.5 * deviation)
    }

    @Test("The same seed fails the same requests, in whatever order they come, and no others")
    func reproducible() throws {
        let rule = "{ reliability: 50, seed: 42 }"
        let urls = (0..<60).flatMap { ["http://a.example/\($0 % 20)", "http://b.example/x?n=\($0)"] }
        var runs: [[String: [String]]] = []
        for seed in 0..<3 {
            let profile = try throttle(rule)
            var chance = SplitMix(UInt64(seed))
            var failures: [String: [String]] = [:]
            // Later ones of the same URL stay later.
            let order = urls.map { ($0, chance.next()) }.sorted { $0.1 < $1.1 }.map(\.0)
            for url in order { failures[url, default: []].append(failure(profile, url, 10_240)?.message ?? "passed") }
            runs.append(failures)
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] == runs[2])
        // The second and third request for a URL have fates of their own.
        #expect(runs[0].values.contains { Set($0).count > 1 })
        let other = try throttle("{ reliability: 50, seed: 43 }")
        let differing = urls.suffix(60).filter { url in
            (failure(other, url, 10_240)?.message ?? "passed") != runs[0][url]?.last
        }
        #expect(differing.count > 10)
    }

    @Test("A failure says that the throttle did it, where, and by which seed")
    func words() throws {
        let profile = try throttle("{ name: flaky, reliability: 0, seed: 5 }")
        let flow = ThrottledFlow(profile)
        flow.tell { $0.request() }
        #expect(flow.passed.map(\.line) == ["abort", "finished"])
        flow.dialogue.finish()
        #expect(flow.dialogue.record.failure?.code == .reset)
        #expect(
            flow.dialogue.record.failure?.message
                == "The throttle's reliability of 0 % failed the request after 0 bytes."
        )
        #expect(
            flow.dialogue.trace.last
                == "throttle(flaky): reliability 0 %: the connection failed after 0 bytes of the request "
                + "(seed 5, request 1 for this URL)"
        )
    }

    @Test("Bytes before the failure pass")
    func partial() throws {
        let profile = try throttle("{ down: 1000, reliability: 80, seed: 3 }")
        var lengths: [Int] = []
        for number in 0..<40 {
            let flow = ThrottledFlow(profile, "http://a.example/\(number)")
            flow.tell { $0.request() }
            guard !flow.dialogue.isOver else {
                flow.dialogue.finish()
                continue
            }
            flow.tell { $0.ready() }
            flow.respond(60_000, by: 16_384)
            flow.finish()
            flow.dialogue.finish()
            if let failure = flow.dialogue.record.failure {
                let count = flow.bytes("< part")
                #expect(failure.message.contains("after \(count + "HTTP/1.1 200 OK\r\n\r\n".utf8.count) bytes"))
                lengths.append(count)
            }
        }
        #expect(lengths.count > 20)
        #expect(Set(lengths).count > 15)
    }

    @Test("Each second has one quality, the same for all on the link and in every run of the same seed")
    func stability() throws {
        var runs: [[Int]] = []
        for _ in 1...2 {
            let flow = ThrottledFlow(try throttle("{ down: 800, stability: 50, quality: [10, 50], seed: 9 }"))
            flow.request()
            flow.respond(2_000_000, by: 10_000)
            flow.run(until: .seconds(20))
            runs.append(
                (0..<20).map { flow.bytes("< part", from: .seconds(Int64($0)), until: .seconds(Int64($0) + 1)) }
            )
            flow.finish()
            flow.dialogue.finish()
        }
        #expect(runs[0] == runs[1])
        let stable = runs[0].filter { $0 > 97_000 }
        let unstable = runs[0].filter { (8_000...52_000).contains($0) }
        #expect(stable.count + unstable.count == 20, "\(runs[0])")
        #expect((4...16).contains(stable.count), "\(runs[0])")
        #expect(Set(unstable.map { $0 / 2_000 }).count > 3, "\(runs[0])")
    }

    @Test("A second of no quality passes nothing, and one that never ends can be ended by a switch")
    func stall() throws {
        let profile = try throttle("{ down: 800, stability: 0, quality: 0 }")
        let flow = ThrottledFlow(profile)
        flow.request()
        flow.respond(1_000)
        flow.run(until: .seconds(60))
        #expect(flow.bytes("< part") == 0)
        profile.switchTools(without: [Tool.throttle.id])
        flow.run(until: .milliseconds(60_300))
        flow.finish()
        #expect(flow.time <= .milliseconds(60_300))
        flow.dialogue.finish()
    }
}
