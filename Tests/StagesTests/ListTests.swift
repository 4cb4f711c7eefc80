import ExchangeCore
import HTTPModel
import NIOCore
import Stages
import Support
import Testing

@Suite("Allow list and block list")
struct ListTests {
    @Test("The first block rule that matches decides, and the trace names it")
    func block() throws {
        let profile = try RuleProfile(
            """
            version: 1
            block:
              - { at: "*.tracker.example", action: drop }
              - { at: ["a.tracker.example", "http://site.example/ads/*"], name: ads }
              - { at: "off.example", enabled: false }
            """,
            file: "p.yaml"
        )
        #expect(profile.ruleCount == 2)
        #expect(profile.summary == "2 block rules")
        #expect(outcome(profile, "http://a.tracker.example/") == "dropped")
        #expect(outcome(profile, "http://b.a.tracker.example/x") == "dropped")
        #expect(outcome(profile, "http://tracker.example/") == "passed")
        #expect(outcome(profile, "http://site.example/ads/1") == "403")
        #expect(outcome(profile, "http://site.example/") == "passed")
        #expect(outcome(profile, "http://off.example/") == "passed")

        let blocked = dialogue(profile, "http://site.example/ads/1")
        blocked.request([("Accept", "text/html")])
        #expect(blocked.takePending().last == "finished")
        blocked.finish()
        #expect(blocked.record.state == .blocked)
        #expect(blocked.trace == ["block(ads): the block list has http://site.example/ads/*; answered 403"])
        #expect(String(buffer: blocked.responseBody).contains("<h1>Blocked</h1>"))
    }

    @Test("A tunnel that is not decrypted is blocked by host, never by path")
    func tunnels() throws {
        let profile = try RuleProfile(
            "version: 1\nblock: [{ at: a.example }, { at: b.example/secret }]",
            file: "p.yaml"
        )
        #expect(outcome(profile, "a.example:443", kind: .tunnel) == "403")
        #expect(outcome(profile, "b.example:443", kind: .tunnel) == "passed")
    }

    @Test("Only what the allow list has passes; what is on both lists does not")
    func allow() throws {
        let profile = try RuleProfile(
            """
            version: 1
            allow: { at: ["*.example.com", "localhost"], action: drop }
            block: { at: "bad.example.com" }
            """,
            file: "p.yaml"
        )
        #expect(outcome(profile, "http://www.example.com/") == "passed")
        #expect(outcome(profile, "http://localhost:3000/") == "passed")
        #expect(outcome(profile, "http://example.com/") == "dropped")
        #expect(outcome(profile, "http://bad.example.com/") == "403")
    }

    @Test("Lists that are empty or off are not in force")
    func notInForce() throws {
        for text in [
            "allow: []", "allow: { at: x.example, enabled: false }", "block: []", "enabled: false\nblock: { at: '*' }",
        ] {
            let profile = try RuleProfile("version: 1\n\(text)", file: "p.yaml")
            #expect(profile.chain.stages.isEmpty)
            #expect(outcome(profile, "http://a.example/") == "passed")
        }
    }

    @Test("Ten thousand rules are looked up by host: exact, by suffix, or one by one")
    func manyRules() throws {
        var text = "version: 1\nblock:\n"
        for number in 0..<3_000 { text += "  - { at: 'h\(number).example', name: e\(number) }\n" }
        for number in 0..<3_000 { text += "  - { at: '*.s\(number).example', name: s\(number) }\n" }
        text += "  - { at: '*any*', name: any }\n"
        let profile = try RuleProfile(text, file: "p.yaml")
        for (url, rule) in [
            ("http://h2999.example/", "e2999"), ("http://a.b.s17.example/", "s17"), ("http://many.org/", "any"),
        ] {
            let blocked = dialogue(profile, url)
            blocked.request()
            _ = blocked.takePending()
            blocked.finish()
            #expect(blocked.trace.first?.hasPrefix("block(\(rule))") == true)
        }
        #expect(outcome(profile, "http://s17.example/") == "passed")
    }
}
