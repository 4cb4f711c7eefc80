import HTTPModel
import Support
import Testing
import Tools

@testable import Rules

@Suite("What a profile says of replays")
struct ReplayRulesTests {
    private func profile(_ text: String) throws -> RuleProfile {
        try RuleProfile("version: 1\n\(text)", file: "p.yaml")
    }

    @Test("is which exchanges answer and what is compared, gathered over files and listed")
    func reading() throws {
        let none = try profile("").replay
        #expect(none.text == nil && none.afterLast == .last)
        #expect(none.admits(try #require(RequestURL("http://a.example/"))))
        let some = try profile(
            """
            replay:
              only: "*.example"
              except: "*/health"
              ignore: [ port, host ]
              ignore-query: ts
              ignore-body: [ id, "json.items[*].at" ]
              headers: [ X-Tenant ]
              after-last: miss
            """
        )
        #expect(some.replay.ignored == [.host, .port] && some.replay.ignoredQuery == [.name("ts")])
        let path = IgnoreRule.place(try Place("req.json.items[*].at"))
        #expect(some.replay.ignoredBody == [.name("id"), path] && some.replay.headers == ["X-Tenant"])
        #expect(some.replay.afterLast == .miss)
        #expect(try some.replay.admits(#require(RequestURL("http://a.example/x"))))
        #expect(try !some.replay.admits(#require(RequestURL("http://a.example/health"))))
        #expect(try !some.replay.admits(#require(RequestURL("http://a.test/x"))))
        let text =
            "answers: *.example; no answers: */health; ignored: host, port; ignored in queries: ts; "
            + "ignored in bodies: id, req.json.items[*].at; compared headers: X-Tenant; each answer once"
        #expect(some.listing.contains("\nreplay\n      \(text)\n"), "\(some.listing)")
        let both = try RuleProfile(
            sources: [
                ProfileSource(file: "a.yaml", text: "version: 1\nreplay: { ignore-query: a }"),
                ProfileSource(file: "b.yaml", text: "version: 1\nreplay: { ignore-query: b }"),
            ],
            tools: .standard
        )
        #expect(both.replay.ignoredQuery == [.name("a"), .name("b")])
    }

    @Test(
        "Mistakes are told with their place",
        arguments: [
            ("replay: { ignore: path }", "ignore must be scheme or host or port, not 'path'"),
            ("replay: { after-last: 3 }", "after-last must be last or miss, not '3'"),
            (
                "replay: { ignore-body: [ \".items[].at\" ] }",
                "ignore-body '.items[].at': a place begins with req, res, sent, message#, graphql or grpc; for a path in JSON write req.json.items[*].at"
            ),
            ("replay: { ignore-body: [ json.a..b ] }", "ignore-body 'json.a..b': a name is missing here"),
            ("replay: { ignore-body: [ query.a ] }", "no comparison has req.query.a; it may be form, part, json, body"),
            ("replay: { ignore-body: [ res.json.a ] }", "no comparison has res.json.a; begin with req"),
            ("replay: { ignore-query: [ json.a ] }", "no comparison has req.json.a; it may be query"),
            ("replay: { headers: [ req.cookie.sid ] }", "no comparison has req.cookie.sid; write req.header.cookie"),
            ("replay: { headers: [ \" \" ] }", "headers ' ': a name or a place is missing"),
            ("replay: { query: a }", "replay has no key 'query'"),
            ("replay: true", "replay must be a mapping"),
        ]
    )
    func mistakes(text: String, message: String) throws {
        let error = #expect(throws: ProfileError.self) { try profile(text) }
        #expect(
            error?.description.hasPrefix("p.yaml:2:") == true && error?.description.contains(message) == true,
            "\(error?.description ?? "")"
        )
    }
}
