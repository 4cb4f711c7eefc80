import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Throttle: presets and grammar")
struct ThrottleProfileTests {
    private func action(_ rule: String, _ rest: String = "") throws -> String {
        try throttle(rule, rest).tools.first?.rules.first?.action ?? ""
    }

    @Test("Charles' eleven names are known, whatever their case, and every preset says where its numbers come from")
    func presets() throws {
        let names = [
            "56 kbps Modem", "256 kbps ISDN/DSL", "512 kbps ISDN/DSL", "2 Mbps ADSL", "8 Mbps ADSL2", "16 Mbps ADSL2+",
            "32 Mbps VDSL", "32 Mbps Fibre", "100 Mbps Fibre", "3G", "4G",
        ]
        #expect(Set(ThrottlePreset.all.compactMap(\.charlesName)) == Set(names))
        for name in names { #expect(ThrottlePreset.named(name.lowercased())?.charlesName == name) }
        #expect(Set(ThrottlePreset.all.map(\.name)).count == ThrottlePreset.all.count)
        #expect(ThrottlePreset.all.allSatisfy { !$0.source.isEmpty && $0.name == $0.name.lowercased() })
        for name in ["offline", "3g", "4g", "5g", "edge", "satellite", "wifi-lossy", "modem-56k", "adsl"] {
            #expect(ThrottlePreset.named(name) != nil, "\(name)")
        }
        let modem = try #require(ThrottlePreset.named("56 kbps Modem")?.conditions)
        #expect(modem.text == "down 57.6 kbit/s at 70 %, up 33.6 kbit/s at 70 %, latency 250 ms, MTU 576")
        let adsl2 = try #require(ThrottlePreset.named("8 Mbps ADSL2")?.conditions)
        #expect(adsl2.text == "down 8192 kbit/s, up 1024 kbit/s, latency 40 ms")
    }

    @Test("Keys beside a preset override it; presets of the user's own are found from every file")
    func overriding() throws {
        #expect(
            try action("{ preset: 3G, latency: 10, reliability: 99.5 }")
                == "3G: down 1600 kbit/s, up 768 kbit/s, latency 10 ms, reliability 99.5 %"
        )
        #expect(
            try action("{ preset: VPN, up: 1 }", "presets: { vpn: { down: 2000, up: 500, latency: 80 } }")
                == "VPN: down 2000 kbit/s, up 1 kbit/s, latency 80 ms"
        )
        let profile = try RuleProfile(sources: [
            ProfileSource(file: "a.yaml", text: "version: 1\nthrottle: { preset: vpn }"),
            ProfileSource(file: "b.yaml", text: "version: 1\npresets: { vpn: { down: 7 } }"),
        ])
        #expect(profile.tools.first?.rules.first?.action == "vpn: down 7 kbit/s")
    }

    @Test("Every key has a meaning")
    func keys() throws {
        #expect(
            try action(
                """
                { down: 8192, up: 1024.5, utilisation: 70, latency: 250, mtu: 576, reliability: 98, stability: 90,
                  quality: [20, 60], seed: 7, event-gap: 200ms }
                """
            )
                == """
                down 8192 kbit/s at 70 %, up 1024.5 kbit/s at 70 %, latency 250 ms, MTU 576, reliability 98 %, \
                stability 90 % (else 20 to 60 %), events 200 ms apart
                """
        )
    }

    /// What is wrong with a rule.
    private func problems(_ rule: String) -> [String] { issues("version: 1\nthrottle: \(rule)") }
    /// What is wrong with presets.
    private func problems(presets: String) -> [String] { issues("version: 1\npresets: \(presets)") }

    @Test("What is wrong is said where it stands")
    func mistakes() {
        #expect(problems("{ preset: 3q }") == ["2:21 there is no preset '3q' (did you mean '3g'?)"])
        #expect(
            problems("{ down: -1 }") == ["2:19 down must be from 0 to 10000000 (kbit/s), not -1"]
        )
        #expect(
            problems("{ down: 5, seed: 1.5, reliability: 9 }") == [
                "2:28 seed must be a whole number"
            ]
        )
        #expect(problems("{ utilisation: { down: 0 } }").first?.contains("from 1 to 100") == true)
        #expect(
            problems("{ down: 5, stability: 1, quality: [60, 20] }")
                == ["2:45 quality needs the lowest and the highest value, as in [20, 60]"]
        )
        #expect(problems(presets: "{ 3G: { down: 5 } }").first?.contains("already") == true)
        #expect(problems(presets: "{ x: { seed: 5 } }").first?.contains("no key 'seed'") == true)
        #expect(problems(presets: "[ x ]").first?.contains("must be a mapping") == true)
        #expect(problems("{ event-gap: soon }").first?.contains("must be a time, as 500ms") == true)
    }

    @Test("What is allowed but hardly meant is pointed out")
    func lints() {
        #expect(problems("{ only: a.example }").first?.contains("has no effect") == true)
        #expect(problems("{ preset: 3g, seed: 1 }").first?.contains("nothing is random") == true)
        #expect(problems("{ down: 9, stability: 50 }").first?.contains("without 'quality'") == true)
        #expect(
            problems("{ down: 9, quality: [1, 2] }").first?.contains("'stability' is 100") == true
        )
        #expect(problems("{ name: a, preset: wifi-lossy, seed: 3 }").isEmpty)
    }
}
