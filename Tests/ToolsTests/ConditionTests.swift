import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Conditions of rules (when)")
struct ConditionTests {
    private static let url = "http://a.example/v1/items?page=2"

    private func play(
        _ rules: String,
        _ request: (method: String, fields: DryRunFields, body: String?) = ("GET", [], nil),
        _ response: (status: Int, fields: DryRunFields, body: String) = (200, [], "")
    ) throws -> DryRunExchange {
        var dryRun = DryRun(try RuleProfile("version: 1\n\(rules)", file: "p.yaml"))
        var played = try #require(DryRunRequest(method: request.method, target: Self.url))
        (played.fields, played.body) = (request.fields, request.body.map { ByteBuffer(string: $0) })
        let body = ByteBuffer(string: response.body)
        return dryRun.play(played, DryRunResponse(status: response.status, fields: response.fields, body: body))
    }

    private static let json: DryRunFields = [("Content-Type", "application/json")]

    @Test(
        "A request's terms are decided on what the client sent",
        arguments: [
            ("req.header.x-user:alice", true), ("req.header.x-user:bob", false), ("not req.header.x-user:bob", true),
            ("reqheader:\"x-user: ali\"", true), ("req.cookie.sid:7", true), ("req.query.page:>1", true),
            ("host:*.example path:/v1/* method:post port:80", true), ("mode:socks5", false), ("version:h1", true),
            ("client:127.0.0.1", true), ("req.json.user.plan:free", true), ("req.json.user.plan:pro", false),
            ("req.json.user.plan:pro or req.header.x-user:alice", true), ("!req.json.nothing:*", true),
            ("reqbody:\"FREE\"", true), ("graphql:AddItem", true), ("graphql.type:mutation", true),
            ("graphql:Other", false),
            ("process:curl", false), ("items", true),
        ]
    )
    func request(condition: String, holds: Bool) throws {
        let body = #"{"operationName":"AddItem","query":"mutation AddItem { a }","user":{"plan":"free"}}"#
        let fields: DryRunFields = [("X-User", "alice"), ("Cookie", "a=1; sid=7")] + Self.json
        let exchange = try play(
            "block: { at: a.example, when: '\(condition)' }\nrewrite: { at: '*', rules: [ { remove: header, on: request, name: X-User } ] }",
            ("POST", fields, body)
        )
        #expect(exchange.isBlocked == holds, "\(exchange.trace)")
    }

    @Test(
        "A response's terms are decided on what the server sent, before any rule of the tool acts",
        arguments: [
            ("status:5xx", true), ("status:200", false), ("res.json.error.code:42", true), ("res.header.x-a:b", true),
            ("resbody:code req.query.page:2", true), ("res.json.error.code:1", false),
            ("not res.json.error.code:1", true),
            ("req.json.a:1", false), ("res.status:503", true),
        ]
    )
    func response(condition: String, holds: Bool) throws {
        let exchange = try play(
            """
            rewrite:
              - { at: '*', rules: [ { modify: status, to: 200 }, { modify: body, on: response, match: code, to: key } ] }
              - { at: '*', when: '\(condition)', rules: [ { add: header, on: response, name: X-Was, to: seen } ] }
            breakpoints: { at: '*', on: response, when: '\(condition)' }
            """,
            ("GET", [], nil),
            (503, [("X-A", "b")] + Self.json, #"{"error":{"code":42}}"#)
        )
        #expect(exchange.answered?.head.fields.contains("x-was") == holds, "\(exchange.trace)")
        #expect(exchange.held == (holds ? [.response] : []))
    }

    @Test("Rules keep their order: a rule that waits for the body holds later rules back")
    func order() throws {
        let rules = """
            map-local:
              - { name: first, from: a.example, to: /nothing, on-miss: 404, when: 'req.json.a:1' }
              - { name: second, from: a.example, to: /nothing, on-miss: error }
            allow: { at: a.example, when: 'req.header.x:y' }
            """
        let allowed: DryRunFields = Self.json + [("X", "y")]
        #expect(try play(rules, ("POST", allowed, #"{"a":1}"#)).answered?.head.status == 404)
        #expect(try play(rules, ("POST", allowed, #"{"a":2}"#)).answered?.head.status == 502)
        #expect(try play(rules, ("POST", Self.json, #"{"a":1}"#)).isBlocked)
    }

    @Test("A share is drawn once, though its rule is asked twice")
    func counts() throws {
        var dryRun = DryRun(
            try RuleProfile(
                """
                version: 1
                block:
                  - { name: half, at: a.example, share: 50, seed: 1 }
                  - { name: body, at: a.example, when: 'req.json.a:1' }
                """,
                file: "p.yaml"
            )
        )
        var request = try #require(DryRunRequest(method: "POST", target: Self.url))
        (request.fields, request.body) = (Self.json, ByteBuffer(string: "{}"))
        let drawn = (1...4).map { _ in dryRun.play(request).trace.map(\.text).joined() }
        for (number, text) in drawn.enumerated() { #expect(text.contains("request \(number + 1) for it"), "\(text)") }
    }

    @Test(
        "A body that cannot be waited for makes its terms false, and the trace says why",
        arguments: [
            ("application/json", 2_000_000, 200, "the body is longer than 1 MiB"),
            ("image/png", 5, 200, "of the type image/png"),
            ("text/event-stream", 5, 200, "the body is a stream (text/event-stream)"),
            ("application/json", 5, 206, "the body is a part (206)"),
            ("application/json", 5, 200, "the body is not valid JSON: line 1, column 1"),
        ]
    )
    func unread(type: String, size: Int, status: Int, reason: String) throws {
        let exchange = try play(
            "rewrite: { name: r, at: '*', when: 'res.json.a:1', rules: [ { add: header, on: response, name: X, to: y } ] }",
            ("GET", [], nil),
            (status, [("Content-Type", type)], String(repeating: "x", count: size))
        )
        #expect(exchange.answered?.body.readableBytes ?? 0 == min(size, DryRun.bodyLimit))
        #expect(exchange.answered?.head.fields.contains("x") == false)
        let notes = exchange.trace.map { "\($0.stage) \($0.text)" }
        #expect(notes.contains { $0.hasPrefix("rewrite r: when res.json.a:1: ") && $0.contains(reason) }, "\(notes)")
    }

    @Test(
        "What cannot be decided when the rule acts is an error with its place",
        arguments: [
            (
                "block: { at: '*', when: 'status:500' }",
                "2:26 when: 'status' needs the response, and a block rule acts before"
            ),
            ("block: { at: '*', when: 'host:a time:>1s' }", "2:33 when: 'time:' is not known before a rule acts"),
            (
                "block: { at: '*', when: 'body:x' }",
                "2:26 when: 'body:' is not known before a rule acts: write reqbody or"
            ),
            (
                "block: { at: '*', when: 'sent.req.header.a:b' }",
                "2:26 when: conditions are decided on messages as received"
            ),
            ("block: { at: '*', when: 'hots:a' }", "2:26 when: unknown key 'hots'; did you mean 'host'?"),
            ("block: { at: '*', when: 'id:5' }", "2:26 when: 'id:' is not known"),
            ("block: { at: '*', when: 'req.trailer.a:b' }", "2:26 when: req.trailer.a comes only after the message"),
            ("block: { at: '*', when: '' }", "2:25 'when' is empty"),
            (
                "throttle: { latency: 3, when: 'req.json.a:1' }",
                "2:32 when: 'req.json.a' needs a body, and a throttle rule"
            ),
            ("mirror: { to: m, when: 'res.json.a:1' }", "2:25 when: 'res.json.a' needs a body, and a mirror rule"),
            (
                "rewrite: { at: '*', when: 'status:200', rules: [ { add: header, on: [request, response], name: A, to: b } ] }",
                "2:27 when: it has terms of the response, and this rule acts on the request, too"
            ),
            ("breakpoints: { at: '*', when: 'status:200', on: request }", "2:31 when: it has terms of the response"),
        ]
    )
    func mistakes(rules: String, issue: String) {
        #expect(issues("version: 1\n\(rules)").contains { $0.hasPrefix(issue) }, "\(issues("version: 1\n\(rules)"))")
    }

    @Test(
        "Why names the first term that did not hold, and the value that was there",
        arguments: [
            ("req.header.x-user:bob host:a.example", #"req.header.x-user:bob does not hold: it is "alice""#),
            (
                "host:a.example not req.header.x-user:alice",
                #"not req.header.x-user:alice does not hold: it is "alice""#
            ),
            ("req.header.nothing:*", "req.header.nothing:* does not hold: it is missing"),
            ("method:POST,PUT", "method:post,put does not hold: it is GET"),
            ("req.header.x-user:bob or method:POST", "method:post does not hold: it is GET"),
            ("not (req.header.x-user:alice or method:POST)", "not req.header.x-user:alice does not hold"),
        ]
    )
    func why(condition: String, text: String) throws {
        let profile = try RuleProfile("version: 1\nblock: { at: '*', when: '\(condition)' }", file: "p.yaml")
        var request = try #require(DryRunRequest(Self.url))
        request.fields = [("X-User", "alice")]
        let lines = request.explained(by: profile).explanation.text()
        #expect(lines.contains("not matched: when: \(text)"), "\(lines)")
    }
}
