import HTTPModel
import Support
import Testing

@Suite("What is hardly meant in a profile")
struct ProfileLintTests {
    private func lints(_ text: String) -> [String] { issues("version: 1\n" + text) }

    @Test(
        "A rule that an earlier one covers is never used",
        arguments: [
            ("*.example.com", "www.example.com"),
            ("a.example", "a.example/path"),
            ("a.example", "https://a.example:8443/path?x"),
            ("a.example/*", "a.example/v1/*/x"),
            ("a.example/v[0-9]/*", "a.example/v1/x"),
            ("a.example:*", "a.example:80"),
            ("*", "b.example"),
            ("*.example", "*.b.example"),
            ("http://a.example", "ws://a.example/x"),
            ("https://a.example/*", "wss://a.example/x"),
        ]
    )
    func shadowed(wide: String, narrow: String) {
        let text = "block:\n  - { at: \"\(wide)\", name: wide }\n  - { at: \"\(narrow)\", name: narrow }"
        #expect(
            lints(text) == [
                "4:5 lint 'narrow' is never used: 'wide' at p.yaml:3:5 already matches everything it matches"
            ],
            "\(wide) \(narrow)"
        )
    }

    @Test(
        "A rule that an earlier one does not cover is let be",
        arguments: [
            ("www.example.com", "*.example.com"),
            ("a.example/path", "a.example"),
            ("a.example/path", "a.example/path/x"),
            ("http://a.example", "a.example"),
            ("a.example:80", "a.example"),
            ("a.example/v?", "a.example/v*"),
            ("a.example/[ab]", "a.example/[abc]"),
            ("a.example?x=1", "a.example?x=2"),
            ("ws://a.example", "http://a.example/x"),
            ("http://a.example", "wss://a.example/x"),
        ]
    )
    func notShadowed(first: String, second: String) {
        #expect(lints("block:\n  - { at: \"\(first)\" }\n  - { at: \"\(second)\" }").isEmpty, "\(first) \(second)")
    }

    @Test("A rule that leaves what it has no file for to the next one shadows nothing")
    func nextRule() {
        func rules(_ miss: String) -> String {
            "map-local: [{ from: 'a.example/*', to: /, on-miss: \(miss) }, { from: 'a.example/*', to: / }]"
        }
        #expect(lints(rules("pass")).contains { $0.contains("is never used") })
        #expect(lints(rules("next")).isEmpty)
    }

    @Test(
        "What a rewrite or a draw does that is easily overlooked",
        arguments: [
            (
                "remove: header, on: [request, response], name: Host",
                "6:58 lint an HTTP/1.1 request without Host is refused by most servers (RFC 9112 §3.2)"
            ),
            (
                "add: header, on: request, name: X, to: null",
                "6:50 lint 'to' is missing, so the value is empty; to set an empty value write \"\""
            ),
            (
                "add: query, name: x, to: ~",
                "6:36 lint 'to' is missing, so the value is empty; to set an empty value write \"\""
            ),
            (
                "modify: header, on: request, name: X, match: /v1/, to: a",
                "6:56 lint /v1/ is a regular expression; the text is written \\/v1/"
            ),
            (
                "modify: body, on: response, match: /old/, to: a",
                "6:46 lint /old/ is a regular expression; the text is written \\/old/"
            ),
            (
                "modify: body, on: response, match: 'a=(x+)', to: '$1'",
                "6:60 lint 'match' is plain text, so $1 is not a group; a regular expression is written /a=(x+)/"
            ),
            (
                "modify: status, match: 200, to: '205 Done'",
                "6:43 lint a response with status 205 has no body (RFC 9110 §15.3.6); a client may take one for the "
                    + "next response"
            ),
        ]
    )
    func overlooked(rule: String, issue: String) {
        #expect(lints(rewriting("{ \(rule) }")) == [issue])
    }

    @Test(
        "A value that is empty on purpose, an expression that is none of a path, and a response without Host are let be"
    )
    func meant() {
        for rule in [
            "add: header, on: request, name: X, to: \"\"", "modify: body, on: response, match: '/o.d/', to: a",
            "remove: header, on: response, name: Host", "modify: status, to: '204'",
        ] {
            #expect(lints(rewriting("{ \(rule) }")).isEmpty, "\(rule)")
        }
    }

    @Test("A seed without a name, whose draws go by the number of the rule")
    func unnamedSeed() {
        let issue = "lint 'seed' needs the rule's name, else a rule put before it changes the random choices"
        #expect(lints("block: { at: a.example, share: 5, seed: 1 }") == ["2:41 \(issue)"])
        #expect(lints("throttle: { reliability: 5, seed: 1 }") == ["2:35 \(issue)"])
        #expect(lints("throttle: { name: a, reliability: 5, seed: 1 }").isEmpty)
        #expect(lints("block: { name: a, at: a.example, share: 5, seed: 1 }").isEmpty)
    }

    @Test("Methods, exceptions and enabled count")
    func shadowConditions() {
        func second(_ first: String, _ second: String) -> Bool {
            lints("block:\n  - { at: a.example, \(first) }\n  - { at: a.example, \(second) }")
                .contains { $0.contains("is never used") }
        }
        #expect(second("name: a", "method: GET"))
        #expect(second("method: [GET, POST]", "method: GET"))
        #expect(!second("method: GET", "name: b"))
        #expect(!second("method: GET", "method: POST"))
        #expect(!second("except: a.example/x", "name: b"))
        #expect(second("except: a.example/x", "except: a.example/*"))
        #expect(second("name: a", "except: a.example/x"))
        #expect(!second("enabled: false", "name: b"))
        #expect(!second("name: a", "enabled: false"))
    }

    @Test("Rules that all act may overlap, but not stand twice")
    func repeated() {
        let rule = "at: \"*\", rules: [{ remove: header, on: request, name: X }]"
        #expect(
            lints("rewrite:\n  - { name: a, \(rule) }\n  - { name: b, \(rule) }")
                == ["4:5 lint the same rule is at p.yaml:3:5; both act"]
        )
        #expect(
            lints("rewrite:\n  - { name: a, \(rule) }\n  - { name: b, method: GET, \(rule) }").isEmpty
        )
    }

    @Test("Names that stand twice in a tool")
    func names() {
        #expect(
            lints("block:\n  - { name: x, at: a.example }\n  - { name: x, at: b.example }")
                == ["4:5 lint the rule at p.yaml:3:5 is also called 'x'; traces cannot distinguish them"]
        )
        #expect(lints("block: { name: x, at: a.example }\nallow: { name: x, at: a.example }").isEmpty)
    }

    @Test("Paths on hosts that are not decrypted")
    func undecrypted() {
        func lint(_ intercept: String, _ location: String) -> String? {
            lints("intercept: \(intercept)\nblock: { at: \"\(location)\" }").first
        }
        let never =
            "3:8 lint https://a.bank.example/x has a path or query, but 'intercept' excludes a.bank.example from decryption: it matches nothing"
        #expect(lint("{ except: \"*.bank.example\" }", "https://a.bank.example/x") == never)
        #expect(
            lint("{ except: \"*.bank.example\" }", "*.a.bank.example/x")?.hasSuffix("it matches plain http only")
                == true
        )
        #expect(lint("{ only: b.example }", "a.example/x")?.hasSuffix("it matches plain http only") == true)
        #expect(lint("{ only: b.example }", "*.c.example/x") != nil)
        #expect(lint("{ only: \"*.example\" }", "a.example/x") == nil)
        #expect(lint("{ only: b.example }", "*.example/x") == nil)
        #expect(lint("{ only: b.example }", "http://a.example/x") == nil)
        #expect(lint("{ only: b.example }", "a.example") == nil)
        #expect(lint("{ only: \"b.example:8443\" }", "https://b.example:8443/x") == nil)
        #expect(lint("{ only: \"b.example:8443\" }", "https://b.example/x") != nil)
    }

    @Test(
        "Patterns that cannot match",
        arguments: [
            (
                ".example.com",
                "2:14 lint host: no host begins with a dot, so this matches nothing; write *.example.com for subdomains"
            ),
            ("a..example", "2:14 lint host: no host has two dots in a row, so this matches nothing"),
            ("a.example//x", "2:14 lint path: '//' matches only requests with both slashes"),
            ("a.example/ü", "2:14 lint path: 'ü' is rarely sent unencoded; write %C3%BC"),
            ("a.example/a b", "2:14 lint path: a space is never sent unencoded; write %20"),
            ("bücher.example", "2:14 lint host: clients send such a name in its ASCII form (xn--…)"),
        ]
    )
    func unmatchable(location: String, lint: String) {
        #expect(lints("block: { at: \"\(location)\" }") == [lint])
    }

    @Test("Lints stand in the order of the file")
    func order() {
        let found = lints(
            "block:\n  - { at: a.example }\n  - { at: a.example/ü }\n  - { at: [] }\nrewrite: { at: [], rules: [] }"
        )
        #expect(found.map { $0.prefix(2) } == found.map { $0.prefix(2) }.sorted())
        #expect(found.count >= 4)
    }
}
