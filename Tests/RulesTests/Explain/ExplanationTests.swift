import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Testing
import Tools

@Suite("Why a rule acted or did not")
struct ExplanationTests {
    private func explain(_ rules: String, _ request: String) throws -> [String] {
        let profile = try RuleProfile("version: 1\n" + rules, file: "p.yaml")
        let explanation = try #require(DryRunRequest(request)).explained(by: profile).explanation
        return explanation.tools.flatMap { tool in
            tool.remarks.map { "\(tool.tool.tool.key): \($0)" }
                + tool.lines.map { "\($0.rule.name) \($0.verdict.word): \($0.verdict.texts.joined(separator: "; "))" }
        }
    }

    @Test(
        "The first field that does not match is named, with both values and a hint",
        arguments: [
            ("a.example/v1/users", "host: pattern a.example does not match b.example"),
            ("b.example/v1/users", "path: pattern /v1/users does not match /v1/users/ (add /*?)"),
            ("http://b.example", "protocol: pattern http does not match https"),
            ("b.example:8080", "port: pattern 8080 does not match 443"),
            ("b.example/v1/users/?x=1", "query: pattern x=1 does not match an empty one (there is no query)"),
            (
                "*.b.example",
                "host: pattern *.b.example does not match b.example (*. needs a subdomain; add b.example as well?)"
            ),
        ]
    )
    func mismatch(location: String, reason: String) throws {
        #expect(
            try explain("block: { at: \"\(location)\" }", "GET https://b.example/v1/users/")
                == ["rule 1 not matched: \(reason)"]
        )
    }

    @Test("Of several locations the nearest is named")
    func nearest() throws {
        #expect(
            try explain("block: { at: [ c.example, b.example/x, \"a.example\" ] }", "GET https://b.example/")
                == [
                    "rule 1 not matched: no match in 3 locations; the nearest is b.example/x: path: pattern /x does not match /"
                ]
        )
    }

    @Test("Of several locations that match, the one that decided is named: the first in the list")
    func decidingLocation() throws {
        let profile = try RuleProfile(
            "version: 1\nmap-remote: { from: ['*.example/*', a.example/x/*], to: 'http://h/p/' }",
            file: "p.yaml"
        )
        let text = try #require(DryRunRequest("http://a.example/x/y")).explained(by: profile).explanation.text()
        #expect(text.contains("       sent to http://h/p/x/y in place of http://a.example/x/y"), "\(text)")
        #expect(text.hasSuffix("       by its location *.example/*\n"), "\(text)")
    }

    @Test("Methods, exceptions, disabled rules and tools that are off")
    func others() throws {
        let request = "GET http://b.example/x"
        #expect(
            try explain("block: { at: b.example, method: [POST, PUT] }", request)
                == ["rule 1 not matched: method: the rule is for POST, PUT, not GET"]
        )
        #expect(
            try explain("block: { at: b.example, except: \"*/x\" }", request)
                == ["rule 1 not matched: except: */x matches http://b.example/x"]
        )
        #expect(
            try explain("block: { at: b.example, enabled: false }", request)
                == ["rule 1 disabled: the rule has 'enabled: false'"]
        )
        #expect(
            try explain("off: block\nblock: { at: b.example }", request) == ["rule 1 off: its tool is switched off"]
        )
        #expect(try explain("block: { at: [] }", request) == ["rule 1 not matched: the rule has no location"])
    }

    @Test("What fired says what it changed, what it shadows says by whom")
    func firedAndShadowed() throws {
        #expect(
            try explain(
                "block:\n  - { name: a, at: c.example }\n  - { name: b, at: b.example }\n  - { name: c, at: \"*\" }",
                "GET http://b.example/x"
            ) == [
                "a not matched: host: pattern c.example does not match b.example",
                "b fired: the block list has b.example; answered 403",
                "c shadowed: 'b' at p.yaml:4:5 decided before it",
            ]
        )
    }

    @Test("A rule that matches and finds nothing to do says so")
    func idle() throws {
        #expect(
            try explain(
                "rewrite: { at: \"*\", rules: [{ remove: header, on: request, name: X-None }] }",
                "GET http://b.example/x"
            ) == ["rule 1 matched: changed nothing"]
        )
    }

    @Test("A rule that was not asked is told from one that left the request to later rules")
    func notAsked() throws {
        let rewrite = "rewrite: { at: \"*\", rules: [{ remove: header, on: request, name: X-None }] }"
        #expect(
            try explain("block: { at: b.example, action: 503 }\n\(rewrite)", "GET http://b.example/x").last
                == "rule 1 not asked: block answered before it"
        )
        #expect(
            try explain("block: { name: few, at: b.example, share: 0.5, seed: 1 }", "GET http://b.example/x").last
                == "few matched: left to later rules: answer 403 to 0.5 % of them"
        )
    }

    @Test(
        "Each edit that changed nothing is named, with what it looked for, in how many bytes, and the nearest reason",
        arguments: [
            (
                "{ modify: body, on: response, match: '\"plan\": \"free\"', to: x }",
                "response body: text '\"plan\": \"free\"' not found in 22 bytes; "
                    + "it is there with different white space: '\"plan\":\"free\"'"
            ),
            (
                "{ modify: body, on: response, match: 'pla(\\w+)', to: x }",
                "response body: text 'pla(\\w+)' not found in 22 bytes; /…/ would be a regular expression"
            ),
            (
                "{ modify: body, on: response, match: PLAN, case: true, to: x }",
                "response body: text 'PLAN' not found in 22 bytes; "
                    + "'case: true' distinguishes case, and the text differs in case"
            ),
            (
                "{ modify: body, on: response, match: plan, whole: true, to: x }",
                "response body: text 'plan' not found in 22 bytes; 'whole: true' requires the whole text"
            ),
            ("{ modify: body, on: response, match: /x+y/, to: x }", "response body: /x+y/ not found in 22 bytes"),
            ("{ modify: body, on: request, match: a, to: x }", "request body: there is none"),
            ("{ modify: status, match: '404', to: '200' }", "the status is 200"),
            ("{ modify: query, name: page, to: '2' }", "there is no parameter 'page'"),
            ("{ modify: query, name: q, match: zebra, to: '2' }", "parameter q: text 'zebra' not found in 1 byte"),
            ("{ modify: query, name: q, to: '1' }", "parameter: already has this value"),
            ("{ remove: header, on: request, name: ^Y-, name-regex: true }", "no request header has a name like /^Y-/"),
            ("{ remove: cookie, on: request, name: sid }", "cookie: no cookie of that name or value; there are a, b"),
            ("{ remove: cookie, on: response, name: sid }", "there is no set-cookie"),
            ("{ modify: host, match: c.example, to: d.example }", "host: text 'c.example' not found in 9 bytes"),
            ("{ modify: path, to: /x }", "path: already has this value"),
            (
                "{ add: header, on: response, name: X, to: y, if: { name: Server, match: nginx } }",
                "there is no response header 'server'"
            ),
        ]
    )
    func missedEdits(edit: String, reason: String) throws {
        let text = """
            version: 1
            rewrite:
              name: set
              at: "*"
              rules:
                - { add: header, on: request, name: X-Added, to: y }
                - \(edit)
            """
        let profile = try RuleProfile(text, file: "p.yaml")
        var request = try #require(DryRunRequest("GET http://b.example/x?q=1"))
        request.fields = [("Cookie", "a=1; b=2")]
        let response = DryRunResponse(
            fields: [("Content-Type", "application/json")],
            body: ByteBuffer(string: #"{"id":1,"plan":"free"}"#)
        )
        let explanation = request.explained(by: profile, answered: response).explanation
        #expect(explanation.tools.flatMap(\.lines).flatMap(\.missedEdits) == ["edit 2: \(reason)"])
        let lines = "✓ 1. set  (p.yaml:3:3)\n       request header: added X-Added: y\n       edit 2: "
        #expect(explanation.text().contains(lines))
    }

    @Test("A stream says of each edit of its body that it is not made")
    func stream() throws {
        let profile = try RuleProfile(
            "version: 1\nrewrite: { at: \"*\", rules: [{ modify: body, on: response, match: a, to: b }] }",
            file: "p.yaml"
        )
        let response = DryRunResponse(fields: [("Content-Type", "text/event-stream")])
        let explained = try #require(DryRunRequest("http://b.example/")).explained(by: profile, answered: response)
        let text = explained.explanation.text()
        #expect(text.contains("edit 1: response body: a stream"), "\(text)")
    }

    @Test("What a list does to what no rule matches is told of the tool")
    func allowList() throws {
        #expect(
            try explain("allow: { at: a.example }", "GET http://b.example/")
                == [
                    "allow: no location of the allow list matches; answered 403",
                    "rule 1 not matched: host: pattern a.example does not match b.example",
                ]
        )
    }

    @Test("The text ends with what goes out")
    func text() throws {
        let profile = try RuleProfile(
            """
            version: 1
            rewrite: { name: strip, at: "*", rules: [{ remove: header, on: request, name: Cookie }] }
            """,
            file: "p.yaml"
        )
        var request = try #require(DryRunRequest("GET http://b.example/x"))
        request.fields = [("Cookie", "a=1")]
        let text = request.explained(by: profile).text()
        #expect(text.contains("✓ 1. strip  (p.yaml:2:10)\n"))
        #expect(
            text.hasSuffix(
                "goes out: GET http://b.example/x\n  - Cookie: a=1\nanswered: 200 (as the server answered)\n"
            )
        )
    }

    @Test("Of a host that is not decrypted just the tunnel is told")
    func tunnel() throws {
        let profile = try RuleProfile(
            "version: 1\nintercept: { except: bank.example }\nblock: { at: \"*/login\" }",
            file: "p.yaml"
        )
        let text = try #require(DryRunRequest("GET https://bank.example/login")).explained(by: profile).text()
        #expect(text.hasPrefix("bank.example is not decrypted ('intercept'), so only host and port are known.\n"))
        #expect(text.contains("not decrypted, so the path is not known"))
        #expect(text.hasSuffix("goes out: CONNECT bank.example:443\nanswered: bytes pass unread\n"))
    }

    @Test("Of many rules those for other hosts are counted")
    func many() throws {
        let rules = (0..<100).map { "  - { at: [h\($0).example, x\($0).example/y] }" }.joined(separator: "\n")
        let profile = try RuleProfile("version: 1\nblock:\n" + rules, file: "p.yaml")
        let explained = try #require(DryRunRequest("GET http://h7.example/")).explained(by: profile)
        #expect(explained.text().contains("✓ 8. rule 8"))
        #expect(explained.text().contains("… and 99 rules for other locations"))
        let path = try #require(DryRunRequest("GET http://x7.example/")).explained(by: profile)
        #expect(path.text().contains("the nearest is x7.example/y: path: "), "\(path.text())")
        #expect(path.text().contains("… and 99 rules for other locations"))
        #expect(explained.text(isWhole: true).contains("100. rule 100"))
    }
}
