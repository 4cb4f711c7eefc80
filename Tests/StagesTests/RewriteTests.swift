import ExchangeCore
import HTTPModel
import Stages
import Support
import Testing

@Suite("Rewriting headers")
struct RewriteTests {
    /// The fields of a request after a rule, one line each.
    private func edited(_ rule: String, _ fields: [(String, String)]) throws -> String {
        let profile = try RuleProfile(
            "version: 1\nrewrite: { at: '*', rules: [\(rule)] }",
            file: "p.yaml"
        )
        let dialogue = dialogue(profile, "http://example.com/")
        dialogue.request(fields)
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.leaveOpen()
        return dialogue.requestHead?.fields.filter { $0.name != "Host" }.map { "\($0.name): \($0.value)" }.joined(
            separator: "\n"
        ) ?? ""
    }

    @Test(
        "Rules edit what they match and leave the rest alone",
        arguments: [
            ("{ add: header, on: request, name: X, to: new }", "X: a", "X: a\nX: new"),
            ("{ remove: header, on: request, name: x }", "X: a\nY: b\nx: c", "Y: b"),
            ("{ remove: header, on: request, name: X, match: B }", "X: a\nX: abc", "X: a"),
            ("{ remove: header, on: request, name: X, match: B, case: true }", "X: abc", "X: abc"),
            ("{ remove: header, on: request, match: b, whole: true }", "X: abc\nY: B", "X: abc"),
            ("{ remove: header, on: response, name: X }", "X: a", "X: a"),
            ("{ modify: header, on: request, name: X, to: new }", "X: a\nX: b\nY: a", "X: new\nX: new\nY: a"),
            ("{ modify: header, on: request, name: X, match: a, to: o }", "X: banana", "X: bonono"),
            ("{ modify: header, on: request, name: X, match: a, to: '', replace: first }", "X: banana", "X: bnana"),
            ("{ modify: header, on: request, match: a, to: $1 }", "X: a", "X: $1"),
            ("{ modify: header, on: request, name: X, rename: Z }", "X: a", "Z: a"),
            (
                "{ modify: header, on: request, name: X, match: '/(\\w+)=(\\w+)/', to: $2=$1 }", "X: a=b; c=d",
                "X: b=a; d=c"
            ),
            ("{ modify: header, on: request, name: X, match: '/a*/', to: '-' }", "X: baac", "X: -b--c-"),
            ("{ modify: header, on: request, name: X, match: '/é/', to: e$$ }", "X: aéb", "X: ae$b"),
            (
                "{ modify: header, on: request, name: X, match: '/A+/', whole: true, to: z }", "X: aa\nX: ab",
                "X: z\nX: ab"
            ),
            ("{ modify: header, on: request, match: '\\/x/', to: z }", "X: a/x/", "X: az"),
            ("{ modify: header, on: request, name: X, to: '' }", "X: a", "X: a"),
        ]
    )
    func edits(rule: String, before: String, after: String) throws {
        let fields = before.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
            return (parts[0], parts[1])
        }
        #expect(try edited(rule, fields) == after)
    }

    @Test("Sets apply in order where a location of theirs matches; the trace names set and rule")
    func sets() throws {
        let profile = try RuleProfile(
            """
            version: 1
            rewrite:
              - name: one
                at: ["http://a.example/*", "http://*.example/x"]
                rules:
                  - { add: header, on: [request, response], name: X-One, to: 1 }
                  - { add: header, on: request, name: X-Off, to: 1, enabled: false }
              - { at: b.example, rules: { add: header, on: request, name: X-Two, to: 2 } }
              - { name: off, enabled: false, at: "*", rules: { add: header, on: request, name: X-Off, to: 3 } }
            """,
            file: "p.yaml"
        )
        #expect(profile.summary == "2 rewrite rules")
        let dialogue = dialogue(profile, "http://a.example/x")
        dialogue.request()
        dialogue.expect("connect http://a.example:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET /x (none)", "> end", "read client")
        #expect(dialogue.requestHead?.fields.map(\.name) == ["Host", "X-One"])
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        #expect(dialogue.responseHead?.fields.map(\.name) == ["X-One"])
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(
            dialogue.trace == [
                "rewrite(one #1): request header: added X-One: 1", "rewrite(one #1): response header: added X-One: 1",
            ]
        )
        #expect(dialogue.record.flags == [.requestChanged, .responseChanged])
        #expect(outcome(profile, "http://c.example/") == "passed")
    }

    @Test("A regular expression that would run away is stopped; the message passes as it was", .timeLimit(.minutes(1)))
    func runaway() throws {
        let profile = try RuleProfile(
            "version: 1\nrewrite: { at: '*', rules: { modify: header, on: request, match: '/^(a+)+$/', to: x } }",
            file: "p.yaml"
        )
        let dialogue = dialogue(profile, "http://example.com/")
        let value = String(repeating: "a", count: 3_000) + "b"
        dialogue.request([("X", value)])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.isEmpty)
        #expect(
            dialogue.trace == [
                "rewrite: set 1 #1: the regular expression took too long and was stopped; nothing was changed"
            ]
        )
    }

    @Test("Fields that frame the message are out of a rule's reach")
    func framing() throws {
        let rule = "{ remove: header, on: request, match: '/./' }"
        #expect(
            try edited(rule, [("Connection", "close"), ("Content-Length", "0")])
                == "Connection: close\nContent-Length: 0"
        )
    }
}
