import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

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
        #expect(profile.tools.flatMap(\.rules).count(where: \.isEnabled) == 2)
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
            "allow: []", "allow: { at: x.example, enabled: false }", "block: []", "off: block\nblock: { at: '*' }",
        ] {
            let profile = try RuleProfile("version: 1\n\(text)", file: "p.yaml")
            #expect(profile.chain.stages.isEmpty)
            #expect(outcome(profile, "http://a.example/") == "passed")
        }
    }

    @Test("A rule answers with any error status, and the page explains it", arguments: [404, 418, 500, 503, 599])
    func statuses(status: Int) throws {
        let profile = try RuleProfile("version: 1\nblock: { at: a.example, action: \(status) }", file: "p.yaml")
        let blocked = dialogue(profile, "http://a.example/x")
        blocked.request([("Accept", "application/json")])
        #expect(blocked.takePending().last == "finished")
        blocked.finish()
        #expect(blocked.record.status == status)
        #expect(blocked.record.state == .blocked)
        #expect(blocked.responseHead?.fields.value(of: .contentType) == "text/plain; charset=utf-8")
        #expect(
            String(buffer: blocked.responseBody)
                == "Sluice: Blocked\n\nSluice was told not to let http://a.example/x pass: "
                + "the block list has a.example.\n"
        )
    }

    @Test("A share of requests is refused, the same ones for the same seed whatever their order")
    func shares() throws {
        let text = "version: 1\nblock: { at: '*', action: 503, share: 20, seed: 42 }"
        func refused(_ urls: [String]) throws -> [String: [Bool]] {
            let profile = try RuleProfile(text, file: "p.yaml")
            var refused: [String: [Bool]] = [:]
            for url in urls { refused[url, default: []].append(outcome(profile, url) == "503") }
            return refused
        }
        let urls = (0..<2_000).map { "http://h\($0 % 40).example/" }
        let inOrder = try refused(urls)
        #expect(try refused(urls.reversed()) == inOrder)
        let count = inOrder.values.reduce(0) { $0 + $1.count { $0 } }
        // Five standard deviations of 2,000 draws of one in five are 90.
        #expect((310...490).contains(count), "\(count)")
        let other = try RuleProfile(text.replacing("42", with: "43"), file: "p.yaml")
        #expect(urls.map { outcome(other, $0) == "503" } != urls.indices.map { inOrder[urls[$0]]?[$0 / 40] == true })
    }

    @Test("A share goes on counting when the profile is read again, by the rule's name")
    func countingOn() throws {
        func profile(_ name: String, _ more: String = "") throws -> RuleProfile {
            try RuleProfile(
                "version: 1\nblock: [{ name: \(name), at: '*', share: 99.999999, seed: 1 }\(more)]",
                file: "p.yaml"
            )
        }
        func count(_ profile: RuleProfile) -> String? {
            let blocked = dialogue(profile, "http://a.example/")
            blocked.request()
            _ = blocked.takePending()
            blocked.finish()
            return blocked.trace.first?.firstMatch(of: /request \d+/).map { String($0.0) }
        }
        let old = try profile("a")
        #expect(count(old) == "request 1")
        let new = try profile("a", ", { at: b.example }")
        new.prepare(toReplace: old)
        #expect(count(new) == "request 2")
        // What began under the old rules counts, too.
        #expect(count(old) == "request 3")
        #expect(count(new) == "request 4")
        let other = try profile("b")
        other.prepare(toReplace: new)
        #expect(count(other) == "request 1")
    }

    @Test("On this machine the port, which tests leave to chance, has no part in a draw; elsewhere it has")
    func ports() throws {
        func refused(_ host: String, _ port: Int) throws -> [Bool] {
            let profile = try RuleProfile("version: 1\nblock: { name: a, at: '*', share: 50, seed: 1 }", file: "p.yaml")
            return (0..<64).map { _ in outcome(profile, "http://\(host):\(port)/") == "403" }
        }
        for host in ["localhost", "127.0.0.1", "[::1]", "app.localhost"] {
            #expect(try refused(host, 3_000) == refused(host, 40_000))
        }
        #expect(try refused("a.example", 3_000) != refused("a.example", 40_000))
    }

    @Test("Requests that a share spares go on to later rules, and the trace tells both")
    func spared() throws {
        let profile = try RuleProfile(
            """
            version: 1
            block:
              - { name: rare, at: "*", action: 500, share: 0.5, seed: 1 }
              - { name: ads, at: ads.example }
            """,
            file: "p.yaml"
        )
        let passed = dialogue(profile, "http://a.example/")
        passed.request()
        passed.expect("connect http://a.example:80", "stop client")
        abandon(passed)
        #expect(passed.trace.count == 1)
        #expect(passed.trace.first?.hasPrefix("block: rare: ") == true)
        #expect(
            passed.trace.first?.hasSuffix("was drawn, not below 0.5 (request 1 for it, seed 1), so it passed") == true
        )
        #expect(outcome(profile, "http://ads.example/") == "403")
        let drawn = try RuleProfile(
            "version: 1\nblock: { name: most, at: '*', share: 99.99999, seed: 1 }",
            file: "p.yaml"
        )
        let refused = dialogue(drawn, "http://a.example/")
        refused.request()
        _ = refused.takePending()
        refused.finish()
        #expect(refused.trace.first?.contains("the block list has *, and ") == true)
        #expect(refused.trace.first?.hasSuffix("below 99.99999 (request 1 for it, seed 1); answered 403") == true)
        #expect(drawn.tools.first?.rules.first?.action == "answer 403 to 99.99999 % of them")
    }

    @Test(
        "What is wrong with a rule is said where it stands",
        arguments: [
            ("block: { at: a, action: 200 }", "2:25 action must be drop or a status from 400 to 599, not '200'"),
            ("block: { at: a, action: cut }", "2:25 action must be drop or a status from 400 to 599, not 'cut'"),
            (
                "block: { at: a, share: 0 }",
                "2:24 a share of 0 refuses nothing; to switch the rule off there is 'enabled: false'"
            ),
            ("block: { at: a, share: 101 }", "2:24 share must be from 0 to 100 (percent), not 101"),
            ("block: { at: a, share: 5, seed: 1.5 }", "2:33 seed must be a whole number"),
            ("block: { at: a, seed: 1 }", "2:23 lint 'seed' means nothing without 'share'"),
            ("allow: { at: a, share: 5 }", "2:17 an allow rule has no key 'share'"),
        ]
    )
    func mistakes(rule: String, issue: String) {
        #expect(issues("version: 1\n\(rule)").first?.hasPrefix(issue) == true)
    }

    @Test("An allow rule without a location is remarked on, since it lets nothing pass")
    func emptyAllow() throws {
        #expect(
            issues("version: 1\nallow: { at: [] }").contains(
                "2:8 lint an allow rule without a location lets nothing pass"
            )
        )
        let profile = try RuleProfile("version: 1\nallow: { at: [] }", file: "p.yaml")
        #expect(outcome(profile, "http://a.example/") == "403")
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
