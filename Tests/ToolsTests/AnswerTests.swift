import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Answers of map local")
struct AnswerTests {
    private static let from = "name: r, from: a.example, method: [GET, HEAD]"

    private func profile(_ keys: String, file: String = "p.yaml") throws -> RuleProfile {
        try RuleProfile("version: 1\nmap-local: { \(Self.from), \(keys) }", file: file)
    }

    private func play(
        _ keys: String,
        _ method: String = "GET",
        _ fields: DryRunFields = [],
        in folder: TestFolder? = nil
    ) throws -> DryRunExchange {
        var dryRun = DryRun(try profile(keys, file: folder.map { "\($0.path)/p.yaml" } ?? "p.yaml"))
        var request = try #require(DryRunRequest(method: method, target: "http://a.example/x"))
        request.fields = fields
        return dryRun.play(request)
    }

    private func text(_ exchange: DryRunExchange) -> String {
        guard let answer = exchange.answered, exchange.sent == nil else { return "server" }
        let fields = answer.head.fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        return "\(answer.head.status) [\(fields)] \(String(buffer: answer.body))"
    }

    @Test(
        "An answer has a status, headers, and a body as JSON or text",
        arguments: [
            ("{ status: 503 }", "503 [Content-Length: 0] "),
            ("{ body: hé }", "200 [Content-Type: text/plain; charset=utf-8, Content-Length: 3] hé"),
            (
                "{ status: 429, headers: { Retry-After: '5', Set-Cookie: [a=1, b=2] }, body: '' }",
                "429 [Content-Type: text/plain; charset=utf-8, Retry-After: 5, Set-Cookie: a=1, Set-Cookie: b=2, Content-Length: 0] "
            ),
            (
                "{ headers: { content-type: text/html }, body: <p> }",
                "200 [content-type: text/html, Content-Length: 3] <p>"
            ),
            ("{ headers: { Content-Type: '' }, body: x }", "200 [Content-Length: 1] x"),
            ("{ status: 204, headers: { X: y } }", "204 [X: y] "),
        ]
    )
    func content(answer: String, expected: String) throws {
        let exchange = try play("answer: \(answer)")
        #expect(text(exchange) == expected)
        #expect(exchange.record.flags.contains(.answeredLocally))
        let head = try play("answer: \(answer)", "HEAD")
        #expect(head.answered?.head.fields.description == exchange.answered?.head.fields.description)
        #expect(head.answered?.body.readableBytes == 0)
    }

    @Test("JSON has its media type, and the trace says what was answered")
    func json() throws {
        let exchange = try play("answer: { json: busy }")
        #expect(exchange.answered?.head.fields.value(of: .contentType) == "application/json")
        #expect(exchange.trace.map(\.rule) == ["r"])
        #expect(exchange.trace[0].text.hasPrefix("answered 200 ("))
    }

    @Test(
        "Several answers come in turn",
        arguments: [
            ("answers: [ { status: 503 }, { status: 201 } ]", "503 201 201 201"),
            ("answers: [ { status: 503 }, { status: 201 } ], at-end: repeat", "503 201 503 201"),
            ("answers: [ { status: 503 }, { status: 201 } ], at-end: pass", "503 201 passed passed"),
            ("answers: [ { status: 503 }, pass, { status: 201 } ], at-end: repeat", "503 passed 201 503"),
            ("answers: [ { status: 503 }, pass ]", "503 passed passed passed"),
            ("answer: { status: 503 }, at-end: pass", "503 passed passed passed"),
            ("answer: { status: 503 }", "503 503 503 503"),
        ]
    )
    func turns(keys: String, expected: String) throws {
        let profile = try profile(keys)
        #expect((1...4).map { _ in outcome(profile, "http://a.example/") }.joined(separator: " ") == expected)
        #expect(profile.counts(of: .mapLocal) == [RuleCount(rule: "r", count: 4)])
        // A request that the rule does not match uses nothing up, and nor does a dry run.
        #expect(outcome(profile, "http://b.example/") == "passed")
        var dryRun = DryRun(profile)
        _ = dryRun.play(try #require(DryRunRequest("http://a.example/")))
        #expect(profile.counts(of: .mapLocal).map(\.count) == [4])
        profile.resetCounts(of: [Tool.blockList.id])
        #expect(profile.counts(of: .mapLocal).map(\.count) == [4])
        profile.resetCounts(of: [Tool.mapLocal.id])
        #expect(profile.counts(of: .mapLocal).map(\.count) == [0])
        #expect(outcome(profile, "http://a.example/") == "503")
    }

    @Test("A dry run goes on from the counts")
    func dryRun() throws {
        let profile = try profile("answers: [ { status: 500 }, { status: 501 }, { status: 502 } ]")
        #expect(outcome(profile, "http://a.example/") == "500")
        var dryRun = DryRun(profile)
        let request = try #require(DryRunRequest("http://a.example/"))
        #expect((1...2).map { _ in dryRun.play(request).record.status } == [501, 502])
        #expect(outcome(profile, "http://a.example/") == "501")
    }

    @Test("Requests may be counted by URL or client, of which the oldest are forgotten")
    func keys() throws {
        let profile = try profile("answers: [ { status: 503 }, { status: 201 } ], count-by: url")
        let urls = ["/1", "/2", "/1", "/2?a", "/2"].map { "http://a.example\($0)" }
        #expect(urls.map { outcome(profile, $0) } == ["503", "503", "201", "503", "201"])
        let byClient = try self.profile("answers: [ { status: 503 }, { status: 201 } ], count-by: client")
        #expect(urls.prefix(2).map { outcome(byClient, $0) } == ["503", "201"])
        let counter = KeyCounter()
        #expect((0...KeyCounter.mostKeys).allSatisfy { counter.next("\($0)") == 1 })
        #expect(counter.next("1") == 2)
        #expect(counter.next("0") == 1)
        #expect(counter.next(nil) == KeyCounter.mostKeys + 4)
    }

    @Test("Counts go on over a reload for a rule of the same name")
    func reload() throws {
        let keys = "answers: [ { status: 500 }, { status: 501 }, { status: 502 } ]"
        let old = try profile(keys)
        #expect(outcome(old, "http://a.example/") == "500")
        let new = try RuleProfile(
            "version: 1\nmap-local: [ { from: b.example, answer: { status: 201 } }, { \(Self.from), \(keys) } ]",
            file: "p.yaml"
        )
        new.prepare(toReplace: old)
        #expect(outcome(new, "http://a.example/") == "501")
        // Exchanges of the old rules still count.
        #expect(outcome(old, "http://a.example/") == "502")
        #expect(new.counts(of: .mapLocal) == [RuleCount(rule: "rule 1", count: 0), RuleCount(rule: "r", count: 3)])
        let renamed = try RuleProfile("version: 1\nmap-local: { from: a.example, \(keys) }", file: "p.yaml")
        renamed.prepare(toReplace: new)
        #expect(renamed.counts(of: .mapLocal).map(\.count) == [0])
    }

    @Test("A share of the requests is answered; later rules answer the others, and only drawn ones are counted")
    func share() throws {
        let text = """
            version: 1
            map-local:
              - { name: busy, from: a.example, share: 30%, seed: 7, method: GET, answers: [ { status: 503 }, { status: 504 } ] }
              - { name: rest, from: a.example, answer: { status: 201 } }
            """
        let profile = try RuleProfile(text, file: "p.yaml")
        #expect(profile.lints.isEmpty, "\(profile.lints)")
        #expect(profile.tools[0].rules[0].action == "answer 503, 504 to 30 % of them")
        let statuses = (1...200).map { _ in outcome(profile, "http://a.example/") }
        let (busy, rest) = (profile.counts(of: .mapLocal)[0].count, profile.counts(of: .mapLocal)[1].count)
        #expect((40...80).contains(busy) && busy + rest == 200)
        #expect(statuses.first { $0 != "201" } == "503" && statuses.count { $0 == "503" } == 1)
        let again = try RuleProfile(text, file: "p.yaml")
        #expect((1...200).map { _ in outcome(again, "http://a.example/") } == statuses)
        again.resetCounts(of: [Tool.mapLocal.id])
        #expect((1...200).map { _ in outcome(again, "http://a.example/") } == statuses)
        var dryRun = DryRun(try RuleProfile(text, file: "p.yaml"))
        let request = try #require(DryRunRequest("http://a.example/"))
        let passed = try #require((1...20).lazy.map { _ in dryRun.play(request) }.first { $0.record.status == 201 })
        #expect(passed.trace.map(\.rule) == [nil, "rest"])
        #expect(passed.trace[0].text.contains("was drawn, not below 30 (request "))
    }

    @Test(
        "A rule with a condition or a share waits for later rules' conditions before it counts",
        arguments: ["share: 99.999, seed: 1", "when: 'req.json.a:1'"]
    )
    func conditions(key: String) throws {
        let profile = try RuleProfile(
            """
            version: 1
            map-local:
              - { name: one, from: a.example, method: POST, \(key), answers: [ { status: 503 }, pass ] }
              - { from: a.example, when: 'req.json.b:1', answer: { status: 201 } }
            """,
            file: "p.yaml"
        )
        let dialogue = dialogue(profile, "http://a.example/", method: "POST")
        dialogue.requestHead(.length(7), [("Content-Type", "application/json")])
        dialogue.requestPart(#"{"a":1}"#)
        dialogue.requestEnd()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(dialogue.record.status == 503)
        #expect(profile.counts(of: .mapLocal).map(\.count) == [1, 0])
    }

    @Test(
        "An answer may come late",
        arguments: [
            ("200ms", 200...200), ("300", 300...300), ("100ms..800ms", 100...800),
            ("{ p50: 200ms, p95: 0.8s }", 0...8_000), ("0", 0...0),
        ] as [(String, ClosedRange<Int64>)]
    )
    func delay(delay: String, range: ClosedRange<Int64>) throws {
        let exchange = try play("answer: { status: 503, delay: \(delay) }")
        #expect(exchange.record.status == 503)
        let time = exchange.delay.nanoseconds / 1_000_000
        #expect(range.contains(time))
        let after = ", after \(Int64((Double(exchange.delay.nanoseconds) / 1e6).rounded())) ms"
        #expect(exchange.trace.map(\.text) == ["answered 503 (0 bytes)\(time == 0 ? "" : after)"])
    }

    @Test(
        "An answer without status and body ends at once; else after so many bytes",
        arguments: [
            ("{ end: cut }", "", false, "no answer: the connection is cut"),
            ("{ end: reset, delay: 1s }", "", true, "no answer: the connection is reset, after 1000 ms"),
            ("{ end: hang }", "", false, "no answer: the connection hangs"),
            (
                "{ status: 503, end: reset }", "503 ", true,
                "answered 503 (0 bytes), then the connection is reset after 0 bytes"
            ),
            (
                "{ body: abc, end: cut, end-at: 2 }", "200 ab", false,
                "answered 200 (3 bytes), then the connection is cut after 2 bytes"
            ),
            (
                "{ body: abc, end: hang }", "200 ", false,
                "answered 200 (3 bytes), then the connection hangs after 0 bytes"
            ),
        ]
    )
    func end(answer: String, sent: String, isReset: Bool, trace: String) throws {
        let exchange = try play("answer: \(answer)")
        let answered = exchange.answered.map { "\($0.head.status) \(String(buffer: $0.body))" }
        #expect(answered ?? "" == sent)
        #expect(exchange.isCutOff && exchange.sent == nil)
        #expect(exchange.failure?.code == .aborted)
        #expect(exchange.failure?.isReset == isReset)
        #expect(exchange.trace.map(\.text) == [trace])
        #expect((exchange.delay == .hours(1)) == answer.contains("hang"))
    }

    @Test("A value that cannot be in a head leaves the request to the server; a path with values stays in its folder")
    func values() throws {
        for value in ["a\\r\\nX: y", "a\\0b"] {
            let found = issues("version: 1\nmap-local: { \(Self.from), answer: { headers: { X-A: \"\(value)\" } } }")
            #expect(found.count == 1 && found[0].hasSuffix("headers has a control character in the value of X-A"))
        }
        let folder = TestFolder(["f/a.json": "[1]", "secret": "s"])
        try folder.link("f/out", to: "../secret")
        func play(_ answer: String, _ query: String) throws -> DryRunExchange {
            var dryRun = DryRun(try profile("answer: \(answer)", file: "\(folder.path)/p.yaml"))
            return dryRun.play(try #require(DryRunRequest("http://a.example/x?v=\(query)")))
        }
        let header = "{ headers: { X-A: '${req.query.v}' }, body: 'b ${req.query.v}' }"
        #expect(text(try play(header, "ok")).hasSuffix(" X-A: ok, Content-Length: 4] b ok"))
        for query in ["a%0D%0AX:y", "a%0Ab", "%00"] {
            let exchange = try play(header, query)
            #expect(text(exchange) == "server")
            #expect(exchange.trace.map(\.text).first?.hasPrefix("r: X-A would have a control character") == true)
        }
        for (query, expected) in [
            ("a.json", "[1]"), ("b/../a.json", nil), ("../secret", nil), ("..%2Fsecret", nil), ("out", nil),
            ("/a.json", "[1]"),
            ("", nil), ("%00", nil),
        ] {
            let exchange = try play("{ file: 'f/${req.query.v}' }", query)
            #expect(
                exchange.sent == nil ? exchange.answered.map { String(buffer: $0.body) } == expected : expected == nil
            )
        }
    }

    @Test("A file answers with its sidecar and in ranges; a missing one as on-miss says")
    func files() throws {
        let folder = TestFolder(["f/a.json": "[1,2]", "f/a.json.headers": "418\nX-Side: 1", "f/b.txt": "0123456789"])
        #expect(
            text(try play("answer: { file: f/a.json, headers: { X-Own: '2' } }", in: folder))
                == "418 [Content-Type: application/json, X-Side: 1, X-Own: 2, Content-Length: 5] [1,2]"
        )
        let part = try play("answer: { file: f/b.txt }", "GET", [("Range", "bytes=2-4")], in: folder)
        #expect(part.answered?.head.status == 206 && part.answered.map { String(buffer: $0.body) } == "234")
        let cut = try play("answer: { file: f/b.txt, end: cut, end-at: 4 }", in: folder)
        #expect(cut.isCutOff && cut.answered.map { String(buffer: $0.body) } == "0123")
        #expect(
            cut.trace.map(\.text) == ["answered from f/b.txt (200, 10 bytes), then the connection is cut after 4 bytes"]
        )
        for (keys, expected) in [
            ("answer: { file: none }", "server"), ("answer: { file: f }", "server"),
            ("answer: { file: none }, on-miss: 404", "404"), ("answer: { file: none }, on-miss: error", "502"),
        ] {
            let exchange = try play(keys, in: folder)
            #expect(exchange.sent == nil ? "\(exchange.record.status)" == expected : expected == "server")
        }
    }

    @Test("A rule without a file may leave the request to a rule with answers, which is counted then")
    func next() throws {
        let folder = TestFolder(["f/a": "a"])
        let profile = try RuleProfile(
            "version: 1\nmap-local: [ { from: 'a.example/*', to: f, on-miss: next }, { name: r, from: 'a.example/*', "
                + "method: GET, answers: [ { status: 503, delay: 5 }, pass ] } ]",
            file: "\(folder.path)/p.yaml"
        )
        var dryRun = DryRun(profile)
        let statuses = try ["a", "b", "a", "b"].map { name in
            dryRun.play(try #require(DryRunRequest("http://a.example/\(name)")), DryRunResponse(status: 299)).record
                .status
        }
        #expect(statuses == [200, 503, 200, 299])
    }

    @Test(
        "Mistakes are said with their place",
        arguments: [
            ("to: f, answer: { status: 200 }", "2:12 'to' and 'answer' exclude each other; remove one"),
            (
                "answer: { status: 200 }, answers: [ pass ]",
                "2:12 'answer' and 'answers' exclude each other; remove one"
            ),
            ("answer: { body: a, json: b }", "2:42 'json' and 'body' exclude each other; remove one"),
            ("answer: { status: 100 }", "2:52 status must be from 200 to 599, not 100"),
            ("answer: { sttus: 503 }", "2:44 an answer has no key 'sttus' (did you mean 'status'?)"),
            ("answer: pass", "2:42 an answer must be a mapping, as in { status: … }, not a text"),
            ("answers: []", "2:43 answers needs from 1 to 1000 answers"),
            ("answers: [ next ]", "2:45 an answer must be a mapping, as in { status: … }, not a text"),
            ("answer: { body: a }, at-end: never", "2:63 at-end must be stay or repeat or pass, not 'never'"),
            ("answer: { body: a }, count-by: ip", "2:65 count-by must be url or client, not 'ip'"),
            ("to: /, at-end: pass", "2:49 'at-end' needs 'answer' or 'answers'"),
            ("answer: { body: a }, status: 503", "2:63 'status' belongs inside the answer"),
            ("answer: { body: a }, index: x", "2:62 lint 'index' has no effect without 'to'"),
            ("answer: { body: a, end: stop }", "2:58 end must be hang or cut or reset, not 'stop'"),
            ("answer: { body: a, end-at: 1 }", "2:61 'end-at' needs 'end': hang, cut or reset"),
            (
                "answer: { end: cut, end-at: 1 }",
                "2:62 'end-at' needs a body: without 'status' and body nothing is sent"
            ),
            (
                "answer: { body: abc, end: cut, end-at: -1 }",
                "2:73 end-at must be from 0 to 1000000000000 (bytes), not -1"
            ),
            (
                "answer: { body: abc, end: cut, end-at: 3 }",
                "2:73 lint the body has 3 bytes, so the client gets all of it"
            ),
            ("answer: { body: a, delay: 11m }", "2:60 delay must be from 0 to 600000 (ms), not 11m"),
            ("answer: { body: a, delay: 3s..2s }", "2:60 delay must begin with the shorter time, as in 100ms..800ms"),
            (
                "answer: { body: a, delay: 1s..2s..3s }",
                "2:60 delay must be a number (ms), or with its unit, as 300ms or 2s, not '1s..2s..3s'"
            ),
            ("answer: { body: a, delay: { p50: 1s } }", "2:60 delay needs 'p95'"),
            ("answer: { body: a, delay: { p50: 0, p95: 1s } }", "2:67 p50 must be from 0.001 to 600000 (ms), not 0"),
            ("answer: { body: a, delay: { p50: 2s, p95: 1s } }", "2:60 p50 must not be longer than p95"),
            ("answer: {}", "2:42 lint the answer is an empty 200; 'status', 'json', 'body' or 'file' say more"),
            ("answer: { headers: { Connection: close } }", "2:67 headers has Connection, which only Sluice sets"),
            ("answer: { body: a }, seed: 1", "2:61 lint 'seed' has no effect without 'share'"),
            ("answer: { body: a }, share: 0", "2:62 a share of 0 never acts; 'enabled: false' switches the rule off"),
        ]
    )
    func mistakes(keys: String, issue: String) {
        let found = issues("version: 1\nmap-local: { from: a, method: A, \(keys) }")
        #expect(found.contains(issue), "\(found)")
    }

    @Test("A preflight that uses an answer up is a lint, unless the rule has methods or nothing is counted")
    func preflight() {
        let lint = "lint a CORS preflight (OPTIONS) uses up an answer, too; add 'method' to exclude it"
        for (keys, found) in [
            ("answers: [ { status: 503 }, pass ]", ["2:32 \(lint)"]),
            ("answer: { status: 503 }, at-end: pass", ["2:31 \(lint)"]),
            ("method: GET, answers: [ { status: 503 }, pass ]", []), ("answer: { status: 503 }", []),
        ] { #expect(issues("version: 1\nmap-local: { from: a, \(keys) }") == found) }
    }

    @Test("The example of the guide has no lint, and does what it says")
    func guide() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "Sources/Rules/Rules.docc/Guide/profile.md"),
            encoding: .utf8
        )
        let section = try #require(page.components(separatedBy: "\n## Answers\n").last)
        let example = section.components(separatedBy: "```yaml\n")[1].components(separatedBy: "```")[0]
        let profile = try RuleProfile(example, file: "p.yaml")
        #expect(profile.lints.isEmpty, "\(profile.lints)")
        let results = profile.dryRun()
        #expect(results.count == 3)
        for result in results { #expect(result.passes, "\(result.differences)") }
    }
}
