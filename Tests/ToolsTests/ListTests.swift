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

    @Test(
        "A blocked address is blocked in every spelling",
        arguments: [
            "127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.1.",
            "[0:0::1]", "[::1%0]",
        ]
    )
    func addresses(host: String) throws {
        let profile = try RuleProfile("version: 1\nblock: [{ at: 127.0.0.1 }, { at: '[::1]' }]", file: "p.yaml")
        #expect(outcome(profile, "http://\(host)/") == "403")
        #expect(outcome(profile, "\(host):443", kind: .tunnel) == "403")
        let respelt = try RuleProfile("version: 1\nblock: [{ at: 0x7f.1 }, { at: '[0::1]' }]", file: "p.yaml")
        #expect(outcome(respelt, "http://\(host)/") == "403")
        #expect(
            respelt.lints.first?.message.hasSuffix(
                "0x7f.1 is the address 127.0.0.1, which is matched in every spelling"
            ) == true
        )
    }

    @Test(
        "A path that servers read as a blocked one is blocked, and one that they read as not allowed is not let pass",
        arguments: [
            "/%73ecret/x", "//secret/x", "/./secret/x", "/a/../secret/x", "/a/%2e%2E/secret/x", "/a/..\\secret/x",
        ]
    )
    func normalisedPaths(path: String) throws {
        let block = try RuleProfile(
            "version: 1\nblock: { name: b, at: 'h.example/secret*', except: h.example/secret/open }",
            file: "p.yaml"
        )
        let blocked = dialogue(block, "http://h.example\(path)")
        blocked.request()
        #expect(blocked.takePending().last == "finished")
        blocked.finish()
        let reason = "the block list has h.example/secret*, for the normalised path /secret/x; answered 403"
        #expect(blocked.trace == ["block(b): \(reason)"])
        #expect(outcome(block, "http://h.example//secret/open") == "passed")
        let allow = try RuleProfile("version: 1\nallow: { at: ['h.example/a/*', 'h.example/%62//c'] }", file: "p.yaml")
        #expect(outcome(allow, "http://h.example/a\(path)") == "passed")
        #expect(outcome(allow, "http://h.example/a/..\(path)") == "403")
        #expect(outcome(allow, "http://h.example\(path)") == "403")
        for path in ["/a/b", "/a/%7Ec//d", "/%62//c"] { #expect(outcome(allow, "http://h.example\(path)") == "passed") }
    }

    @Test("In a tunnel to an address block rules go by the name and by the address, and say which")
    func claimedBlock() throws {
        let profile = try RuleProfile(
            "version: 1\nblock: [{ at: '10.0.0.1:81' }, { at: evil.example }]",
            file: "p.yaml"
        )
        for isVerified in [false, true] {
            let claim = NameClaim(address: "10.0.0.1", isVerified: isVerified)
            #expect(outcome(profile, "http://harmless.example:81/", claim: claim) == "403")
            #expect(outcome(profile, "harmless.example:81", kind: .tunnel, claim: claim) == "403")
            #expect(outcome(profile, "http://harmless.example/", claim: claim) == "passed")
            #expect(outcome(profile, "http://evil.example/", claim: claim) == "403")
        }
        let claim = NameClaim(address: "10.0.0.1", isVerified: false)
        let blocked = dialogue(profile, "http://harmless.example:81/x", claim: claim)
        blocked.request()
        #expect(blocked.takePending().last == "finished")
        blocked.finish()
        let place = "10.0.0.1:81, for the address 10.0.0.1, where the tunnel leads"
        #expect(blocked.trace == ["block(rule 1): the block list has \(place); answered 403"])
    }

    @Test("In a tunnel to an address the allow list needs both, or the name verified")
    func claimedAllow() throws {
        let profile = try RuleProfile("version: 1\nallow: { at: [allowed.example, 10.0.0.2] }", file: "p.yaml")
        let word = NameClaim(address: "10.0.0.1", isVerified: false)
        let proven = NameClaim(address: "10.0.0.1", isVerified: true)
        let both = NameClaim(address: "10.0.0.2", isVerified: false)
        for (url, kind) in [("http://allowed.example/", ExchangeRecord.Kind.http), ("allowed.example:443", .tunnel)] {
            #expect(outcome(profile, url, kind: kind, claim: word, isNamed: true) == "passed")
            #expect(outcome(profile, url, kind: kind, claim: word, isNamed: false) == "403")
            #expect(outcome(profile, url, kind: kind, claim: proven) == "passed")
            #expect(outcome(profile, url, kind: kind, claim: both) == "passed")
        }
        #expect(outcome(profile, "http://other.example/", claim: both) == "403")
        let refused = dialogue(profile, "http://allowed.example/", claim: word)
        refused.request()
        refused.expect("look up allowed.example for 10.0.0.1", "stop client")
        refused.tell { $0.nameLookedUp(isVerified: false, now: $1) }
        _ = refused.takePending()
        refused.finish()
        #expect(
            refused.trace == [
                "sluice: the client names allowed.example in a tunnel to 10.0.0.1; this is not verified, because a look-up of the "
                    + "name does not give the address",
                "allow(rule 1): no location of the allow list matches the address 10.0.0.1, where the tunnel leads, and that this "
                    + "is allowed.example is only the client's word; answered 403",
            ]
        )
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
                == "Sluice: Blocked\n\nSluice blocked http://a.example/x: "
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
                "2:24 a share of 0 never acts; 'enabled: false' switches the rule off"
            ),
            ("block: { at: a, share: 101 }", "2:24 share must be from 0 to 100 (%), not 101"),
            ("block: { at: a, share: 5, seed: 1.5 }", "2:33 seed must be a whole number"),
            ("block: { at: a, seed: 1 }", "2:23 lint 'seed' has no effect without 'share'"),
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
