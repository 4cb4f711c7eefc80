import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Throttle: profiles that come with Sluice")
struct ThrottleShippedTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Profiles")

    private func load(_ name: String) throws -> RuleProfile {
        try RuleProfile.load(paths: [ThrottleShippedTests.folder.appending(path: name).path])
    }

    /// What the trace says first about a GET; empty where no rule is for it.
    private func rule(_ profile: RuleProfile, _ url: String, method: String = "GET") -> String {
        let flow = ThrottledFlow(profile, url, method: method)
        flow.request()
        flow.tell { $0.interrupted() }
        flow.dialogue.finish()
        return flow.dialogue.trace.first ?? ""
    }

    @Test("slow-3g.yaml and slow-modem.yaml slow down, but for what is excepted")
    func slow() throws {
        let mobile = try load("slow-3g.yaml")
        #expect(
            rule(mobile, "https://a.example/") == "throttle(3G): down 400 kbit/s, up 400 kbit/s, latency 400 ms"
        )
        #expect(rule(mobile, "http://localhost:3000/").isEmpty)
        let modem = try load("slow-modem.yaml")
        #expect(rule(modem, "https://a.example/").hasPrefix("throttle(modem): down 57.6 kbit/s at 70 %"))
        #expect(rule(modem, "https://a.satellite.example/").hasPrefix("throttle(far out): down 512 kbit/s at 80 %"))
    }

    @Test("flaky-wifi.yaml fails the same downloads in every run, and not all")
    func flaky() throws {
        let runs = try (1...2).map { _ in
            let profile = try load("flaky-wifi.yaml")
            return (1...30).map { number -> Bool in
                let flow = ThrottledFlow(profile, "https://a.example/\(number)")
                flow.request()
                flow.respond(1 << 20)
                flow.finish()
                flow.dialogue.finish()
                return flow.dialogue.record.state == .complete
            }
        }
        #expect(runs[0] == runs[1])
        // 0.99 to the power of 102 is 36 %.
        #expect((3...20).contains(runs[0].count { $0 }))
    }

    @Test("offline.yaml does nothing until it is switched on")
    func offline() throws {
        let profile = try load("offline.yaml")
        #expect(rule(profile, "https://a.example/").isEmpty)
        profile.switchTools(without: [])
        let flow = ThrottledFlow(profile, "https://a.example/")
        flow.tell { $0.request() }
        flow.dialogue.finish()
        #expect(flow.dialogue.trace == ["throttle(plane mode): no network"])
        #expect(flow.dialogue.record.failure?.code == .connect)
    }

    @Test("bandwidth-per-host.yaml has a rule for each")
    func perHost() throws {
        let profile = try load("bandwidth-per-host.yaml")
        #expect(rule(profile, "https://api.example.com/v1").hasPrefix("throttle(API): down 1000 kbit/s"))
        #expect(rule(profile, "https://api.example.com/health").isEmpty)
        #expect(rule(profile, "https://a.cdn.example.com/x", method: "PUT").contains("(uploads to the CDN)"))
        #expect(rule(profile, "https://a.cdn.example.com/x") == "throttle(CDN): down 20000 kbit/s")
        #expect(rule(profile, "https://news.example.com/events") == "throttle(ticker): events 500 ms apart")
        #expect(rule(profile, "https://other.example/").isEmpty)
    }
}
