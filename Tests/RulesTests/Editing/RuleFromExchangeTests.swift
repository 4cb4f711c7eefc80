import ExchangeCore
import HTTPModel
import Rules
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Rules from recorded exchanges")
struct RuleFromExchangeTests {
    private let empty = EditableProfile(text: "", file: nil)

    @Test("A scope says what of the URL it matches")
    func matched() throws {
        let url = try #require(RequestURL("http://api.example.com:8080/p?a=1"))
        let words = ExchangeScope.all(for: url).map { $0.matched(of: url) }
        #expect(
            words == [
                "/p?a=1", "/p with any query", "/p and /p/*", "everything at api.example.com:8080",
                "example.com and *.example.com",
            ]
        )
        let folder = try #require(RequestURL("http://h/p/"))
        #expect(ExchangeScope.below.matched(of: folder) == "/p/*")
    }

    private func record(
        _ url: String,
        method: String = "GET",
        type: String = "application/json"
    ) throws -> ExchangeRecord {
        let url = try #require(RequestURL(url))
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: method,
            url: url,
            clientConnection: ConnectionID(1)
        )
        record.mediaType = type
        return record
    }

    private func tunnel(_ host: String) -> ExchangeRecord {
        ExchangeRecord(
            id: ExchangeID(1),
            kind: .tunnel,
            startedAt: 0,
            method: "CONNECT",
            url: RequestURL(scheme: "tunnel", host: host, port: 443, path: ""),
            clientConnection: ConnectionID(1)
        )
    }

    @Test(
        "match the exchange they are made from at every breadth, for every tool and any URL",
        arguments: [
            "https://api.example.com/v1/users/7?page=2&q=a*b", "http://localhost:3000/", "http://[::1]:8080/a?b?c",
            "https://example.co.uk/[x]/*/\\y?q=[1]", "http://10.0.0.1/%2A/é", "wss://live.example.com/feed",
            "https://x.example/" + String(repeating: "long*", count: 900) + "?" + String(repeating: "q", count: 5_000),
            "https://x.example/a%20b'\"#f?&a=~{,}: #c",
        ]
    )
    func matches(_ url: String) throws {
        let record = try record(url, method: "POST")
        for section in ToolRegistry.standard.sections {
            let breadths = RuleFromExchange.breadths(for: section, record)
            if section != .tool(.dnsSpoofing) { #expect(!breadths.isEmpty) }
            for breadth in breadths {
                let rule = try #require(RuleFromExchange.rule(for: section, from: RuleSource(record), breadth))
                var profile = EditableProfile(text: "", file: nil)
                try profile.insert(rule, into: section)
                #expect(try profile.rules(of: section).map(\.problem) == [nil])
                let matcher = try RuleMatcher(rule, of: section, in: empty)
                let isExpected = section != .tool(.mirror)  // which is for GET only
                #expect(matcher.matches(record) == isExpected, "\(section) \(breadth): \(rule.yaml)")
            }
        }
    }

    @Test("mean more with every breadth")
    func breadths() throws {
        let record = try record("https://api.example.com/v1/users?page=2")
        let section = ProfileSection.tool(.blockList)
        let others = [
            "https://api.example.com/v1/users?page=2", "https://api.example.com/v1/users?page=3",
            "https://api.example.com/v1/users/7", "https://api.example.com/v1/users2", "http://api.example.com/",
            "https://www.example.com/",
        ]
        let counts = try RuleFromExchange.breadths(for: section, record).map { breadth in
            let rule = try #require(RuleFromExchange.rule(for: section, from: RuleSource(record), breadth))
            let matcher = try RuleMatcher(rule, of: section, in: empty)
            return try others.count { matcher.matches(method: "GET", url: try #require(RequestURL($0))) }
        }
        #expect(counts == [1, 2, 3, 5, 6])
        #expect(ExchangeScope.domain.locations(of: record.url) == ["example.com", "*.example.com"])
        #expect(ExchangeScope.domain(of: "example.co.uk") == "example.co.uk")
        #expect(ExchangeScope.domain(of: "localhost") == nil && ExchangeScope.domain(of: "::1") == nil)
    }

    @Test("read as people would write them")
    func texts() throws {
        let record = try record("https://api.example.com/v1/users?page=2", method: "POST")
        func text(_ section: ProfileSection) throws -> String {
            try #require(RuleFromExchange.rule(for: section, from: RuleSource(record))).yaml
        }
        #expect(try text(.tool(.throttle)) == "preset: 3g\nonly: api.example.com")
        #expect(
            try text(.tool(.breakpoints))
                == "at: \"https://api.example.com/v1/users\"\nmethod: POST\non: [request, response]"
        )
        #expect(
            try text(.tool(.mapLocal))
                == "from: \"https://api.example.com/v1/users\"\nto: local/api.example.com/v1/users.json"
        )
        #expect(
            try text(.tool(.mapRemote)) == "from: \"https://api.example.com/v1/users\"\nto: \"http://localhost:3000\""
        )
        #expect(try text(.intercept) == "except: api.example.com")
        #expect(try text(.tool(.rewrite)).contains("\nrules:\n  - { add: header, "))
        #expect(
            SuggestedFile.name(for: try self.record("https://a.example/")) == "local/a.example/index.json"
        )
    }

    @Test("of bytes that pass unread know no more than the host")
    func tunnels() throws {
        let record = tunnel("a.example")
        #expect(RuleFromExchange.breadths(for: .tool(.rewrite), record).isEmpty)
        #expect(RuleFromExchange.rule(for: .tool(.mapLocal), from: RuleSource(record)) == nil)
        let rule = try #require(RuleFromExchange.rule(for: .tool(.blockList), from: RuleSource(record)))
        #expect(rule.yaml == "at: a.example\naction: 403")
        #expect(try RuleMatcher(rule, of: .tool(.blockList), in: empty).matches(record))
        #expect(try !RuleMatcher(RuleText("only: a.example"), of: .tool(.noCaching), in: empty).matches(record))
        #expect(try RuleMatcher(RuleText("except: \"*.example\""), of: .intercept, in: empty).matches(record))
    }

    @Test("are counted as their tools decide, whatever a rule's form")
    func matcher() throws {
        let url = try #require(RequestURL("https://build-7.example.com/x"))
        func matches(_ rule: String, _ slot: Tool, _ method: String = "GET") throws -> Bool {
            try RuleMatcher(RuleText(rule), of: .tool(slot), in: empty).matches(method: method, url: url)
        }
        let expression = "from: '/^https:..build-(\\d+)/'\nto: \"http://localhost:30$1\""
        #expect(try matches(expression, .mapRemote))
        #expect(try matches(expression + "\nenabled: false", .mapRemote))
        #expect(try !matches(expression.replacing("build", with: "built"), .mapRemote))
        #expect(try matches("{ at: \"*.example.com\", method: POST }", .blockList, "POST"))
        #expect(try !matches("{ at: \"*.example.com\", method: POST }", .blockList))
        #expect(try !matches("{ at: \"*\", except: \"*/x\" }", .blockList))
        #expect(try matches("{ at: \"*\", share: 1, seed: 1 }", .blockList))
        #expect(try matches("true", .noCaching) && !matches("false", .noCaching))
        #expect(throws: ProfileError.self) { try matches("at: [", .blockList) }
    }

    @Test("says of a rule what only the profile shows")
    func shadows() throws {
        let profile = EditableProfile(text: "version: 1\nblock: { at: \"*\", name: all }\n", file: nil)
        let found = RuleCheck.check(RuleText("at: a.example"), of: .tool(.blockList), in: profile)
        #expect(found.map(\.severity) == [.lint] && found.first?.message.contains("is never used") == true)
        let id = EditableRule.ID(.tool(.blockList), 0)
        #expect(RuleCheck.check(RuleText("at: a.example"), of: .tool(.blockList), in: profile, replacing: id).isEmpty)
        let wrong = RuleCheck.check(RuleText("only: a\nat: \"[\""), of: .tool(.blockList), in: profile)
        #expect(wrong.map(\.line) == [1, 2])
    }

    @Test("the throttle's preset is switched in the one rule for all traffic, and off but kept")
    func throttle() throws {
        var profile = EditableProfile(text: "version: 1\nthrottle:\n  - { down: 9, only: a } # a\n", file: nil)
        try profile.setPreset("3g", of: .throttle)
        #expect(profile.text == "version: 1\nthrottle:\n  - { down: 9, only: a } # a\n  - preset: 3g\n")
        try profile.setPreset("lte", of: .throttle)
        #expect(profile.preset(of: .throttle) == "lte" && profile.text.hasSuffix("  - preset: lte\n"))
        try profile.setPreset(nil, of: .throttle)
        #expect(profile.preset(of: .throttle) == nil && profile.text.hasSuffix("  - preset: lte\n    enabled: false\n"))
        try profile.setPreset("4g", of: .throttle)
        #expect(
            profile.preset(of: .throttle) == "4g" && profile.text.hasSuffix("  - preset: \"4g\"\n    enabled: true\n")
        )
        let before = profile
        #expect(throws: ProfileError.self) { try profile.setPreset("6g", of: .throttle) }
        #expect(profile == before)
        var custom = EditableProfile(text: "version: 1\nthrottle: { latency: 9 }\n", file: nil)
        try custom.setPreset("3g", of: .throttle)
        #expect(custom.preset(of: .throttle) == "3g" && custom.issues.filter { $0.severity == .error }.isEmpty)
    }

    @Test("takes a host out of what is left out, in every form of the list, and keeps the rest")
    func include() throws {
        let cases = [
            ("intercept: { except: [ a.example, b.example ] }\n", "intercept: { except: [ a.example ] }\n"),
            ("intercept: { except: [ b.example, a.example ] }\n", "intercept: { except: [ a.example ] }\n"),
            ("intercept:\n  only: a.example\n  except: b.example\n", "intercept:\n  only: a.example\n"),
            (
                "intercept:\n  except:\n    - a.example # ours\n    - b.example\n",
                "intercept:\n  except:\n    - a.example # ours\n"
            ),
            ("intercept: { except: b.example }\nblock: true\n", "block: true\n"),
        ]
        for (before, after) in cases {
            let tail = before.contains("block: true") ? "" : "# end\n"
            let head = "version: 1\n"
            let text = head + before.replacing("block: true", with: "no-caching: true") + tail
            var profile = EditableProfile(text: text, file: nil)
            #expect(try profile.include("b.example"), "\(before)")
            #expect(profile.text == head + after.replacing("block: true", with: "no-caching: true") + tail)
            #expect(try !profile.include("b.example"))
        }
    }

    @Test("lists tools under 'off', changes the list and takes it away")
    func off() throws {
        let text = "version: 1 # first\nname: x\n\nblock: [ { at: a.com } ]\n"
        var profile = EditableProfile(text: text, file: nil)
        try profile.setOff(["block"])
        #expect(profile.text == "version: 1 # first\noff: [block]\nname: x\n\nblock: [ { at: a.com } ]\n")
        try profile.setOff(["block", "throttle"])
        #expect(profile.off == ["block", "throttle"])
        try profile.setOff([])
        #expect(profile.text == text)
        var braced = EditableProfile(text: "{ version: 1 }\n", file: nil)
        #expect(throws: ProfileError.self) { try braced.setOff(["block"]) }
        #expect(braced.text == "{ version: 1 }\n")
    }

    @Test("a host is passed through unread in every form of 'intercept'")
    func exclude() throws {
        for (before, after) in [
            ("", "\nintercept:\n  except: [ b.example ]\n"), ("intercept: {}\n", ""),
            ("intercept: { except: a } # c\n", "intercept: { except: [a, b.example] } # c\n"),
            ("intercept:\n  except: # c\n    - a # d\n", "intercept:\n  except: # c\n    - a # d\n    - b.example\n"),
            (
                "intercept: { only: [ \"*\" ], except: [ a ] }\n",
                "intercept: { only: [ \"*\" ], except: [ a, b.example ] }\n"
            ),
        ] {
            var profile = EditableProfile(text: "version: 1\n" + before, file: nil)
            try profile.exclude("b.example")
            if !after.isEmpty, !before.isEmpty { #expect(profile.text == "version: 1\n" + after) }
            let intercept = try RuleProfile(profile.text, file: "p").intercept
            #expect(!intercept.decrypts(host: "b.example", port: 443) && intercept.decrypts(host: "c", port: 443))
            let again = profile
            try profile.exclude("b.example")
            #expect(profile == again)
        }
    }
}
