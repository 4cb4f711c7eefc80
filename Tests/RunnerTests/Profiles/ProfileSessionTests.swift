import Dispatch
import ExchangeCore
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Rules
import Testing
import Text
import Tools

@testable import Jobs
@testable import Runner

/// A session with some exchanges, and a directory that goes with the test.
private final class SampleSession {
    let directory: String
    var path: String { directory + "/test.sluice" }

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        directory = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Records exchanges, with rules that are in force from the start.
    func record(
        _ exchanges: [(record: ExchangeRecord, trace: [TraceEntry])],
        rules: [(String, String)]? = nil,
        mediaType: String = "text/plain",
        json: String? = nil
    ) throws {
        let recorder = try Recorder(RecorderConfiguration(path: path, sluiceVersion: "1"))
        if let rules {
            let sources = rules.map { ProfileSource(file: $0.0, text: $0.1) }
            recorder.noteRules(sources: sources, switchedOff: [], at: 1)
        }
        let producer = recorder.makeProducer {}
        for (record, trace) in exchanges {
            var messages = ExchangeMessages()
            let head = RequestHead(
                method: record.method,
                target: record.url.pathAndQuery,
                fields: [("Host", record.url.authority), ("Cookie", "a=1")]
                    + (json == nil ? [] : [("Content-Type", "application/json")])
            )
            messages.requestHead = head.serialized()
            if record.status > 0 {
                let fields = [("Content-Type", mediaType), ("Content-Length", "5")]
                messages.responseHead = ResponseHead(status: record.status, fields: fields).serialized()
            }
            messages.trace = trace
            let events: [RecordEvent] = [
                .opened(record, messages), .body(record.id, .requestReceived, ByteBuffer(string: json ?? "")),
                .body(record.id, .responseReceived, ByteBuffer(string: "hello")), .finished(record, messages),
            ]
            _ = producer.submit(events, cost: events.reduce(0) { $0 + $1.cost })
        }
        #expect(recorder.close().error == nil)
    }

    func write(_ text: String, as name: String) throws -> String {
        let file = directory + "/" + name
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    static func exchange(
        _ id: Int64,
        _ url: String,
        method: String = "GET",
        status: Int = 200,
        milliseconds: Int64 = 10
    ) throws -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(id),
            kind: .http,
            startedAt: 1_000 + id,
            method: method,
            url: try #require(RequestURL(url)),
            clientConnection: ConnectionID(1)
        )
        record.status = status
        record.state = .complete
        record.timings.total = milliseconds * 1_000
        return record
    }
}

@Suite("Assertions on the traffic of a run")
struct AssertionsTests {
    private func check(_ assertion: String) throws -> AssertionResult {
        let session = try SampleSession()
        try session.record([
            (try SampleSession.exchange(1, "http://a.example/login", method: "POST", status: 201), []),
            (try SampleSession.exchange(2, "http://a.example/users", milliseconds: 900), []),
            (try SampleSession.exchange(3, "http://a.example/users", status: 500, milliseconds: 20), []),
            (try SampleSession.exchange(4, "http://b.example/", status: 404), []),
        ])
        let profile = try RuleProfile("version: 1\nassert: " + assertion, file: "p.yaml")
        return try Assertions.check(try #require(profile.assertions.first), sessions: [session.path])
    }

    @Test(
        "What holds passes",
        arguments: [
            "{ filter: host:a.example, count: 3 }",
            "{ filter: host:a.example }",
            "{ filter: \"host:a.example path:/login\", count: 1, status: 201, within: 10ms }",
            "{ filter: host:c.example, count: 0 }",
            "{ filter: method:POST, status: 2xx }",
            "{ filter: \"header:cookie\", count: 4 }",
        ]
    )
    func passes(assertion: String) throws {
        let result = try check(assertion)
        #expect(result.passes, "\(result.text)")
        #expect(result.text.hasSuffix("as expected\n"))
    }

    @Test(
        "What does not is told with the exchanges that offend",
        arguments: [
            (
                "{ name: three, filter: host:a.example, count: 2 }",
                """
                p.yaml:2:9: assertion failed: three
                  count: expected 2, found 3
                    #1 POST http://a.example/login → 201
                    #2 GET http://a.example/users → 200
                    #3 GET http://a.example/users → 500

                """
            ),
            (
                "{ name: some, filter: host:c.example }",
                "p.yaml:2:9: assertion failed: some\n  count: expected >=1, found 0\n"
            ),
            (
                "{ name: ok, filter: host:a.example, status: 2xx, within: 500ms }",
                """
                p.yaml:2:9: assertion failed: ok
                  status: expected 2xx, different in 1 of 3
                    #3 GET http://a.example/users → 500
                  within: expected 500 ms, longer in 1 of 3
                    #2 GET http://a.example/users: 900 ms

                """
            ),
        ]
    )
    func fails(assertion: String, text: String) throws {
        #expect(try check(assertion).text == text)
    }

    @Test(
        "Filters with places look into heads and bodies",
        arguments: [
            ("req.json.user.id:7", 2), ("req.json.user.id:>7", 0), ("req.json.tags[*]:b", 2), ("req.cookie.a:1", 2),
            ("res.header.content-type:text/plain res.body:hello", 2), ("req.query.q:x or req.path:/none", 1),
            ("not req.json.user.plan:*", 2),
        ]
    )
    func places(filter: String, count: Int) throws {
        let session = try SampleSession()
        try session.record(
            [
                (try SampleSession.exchange(1, "http://a.example/?q=x"), []),
                (try SampleSession.exchange(2, "http://a.example/"), []),
            ],
            json: #"{"user": {"id": 7}, "tags": ["a", "b"]}"#
        )
        let profile = try RuleProfile("version: 1\nassert: { filter: '\(filter)', count: \(count) }", file: "p.yaml")
        let result = try Assertions.check(profile.assertions[0], sessions: [session.path])
        #expect(result.passes, "\(result.text)")
    }

    @Test("A search that takes too long fails, since it may have missed an exchange")
    func unfinished() throws {
        let session = try SampleSession()
        let url = "http://a.example/?q=" + String(repeating: "a", count: 40) + "b"
        try session.record([(try SampleSession.exchange(1, url), [])])
        let text = "version: 1\nassert: { filter: 'req.query.q:/^(a+)+$/', count: 0 }"
        let result = try Assertions.check(try RuleProfile(text, file: "p.yaml").assertions[0], sessions: [session.path])
        #expect(result.text.contains("\n  filter: the search stopped in 1 exchange"), "\(result.text)")
    }

    @Test("Secrets are masked in the report for build systems, not in the text", arguments: [false, true])
    func masked(isMasked: Bool) throws {
        let session = try SampleSession()
        let url = "http://a.example/?token=Xk29dkL1qpz83hf"
        try session.record([(try SampleSession.exchange(1, url, milliseconds: 900), [])])
        let text = "version: 1\nassert: { name: a, filter: host:a.example, count: 2, within: 1ms }"
        let assertion = try RuleProfile(text, file: "p.yaml").assertions[0]
        let mask = isMasked ? RecordMask(MaskRules()) : nil
        let result = try Assertions.check(assertion, sessions: [session.path], mask: mask)
        #expect(result.text.ranges(of: url).count == 2)
        var report = JUnitReport()
        report.add(result)
        let written = report.text(suite: "")
        #expect(written.ranges(of: "Xk29dkL1qpz83hf").count == (isMasked ? 0 : 2), "\(written)")
        let shown = isMasked ? "sluice-token-1" : "Xk29dkL1qpz83hf"
        let failure = """
            <failure type="failed" message="count: expected 2, found 1; within: expected 1 ms, longer in 1 of 1">p.yaml:2:9: \
            assertion failed: a
              count: expected 2, found 1
                #1 GET http://a.example/?token=\(shown) → 200
              within: expected 1 ms, longer in 1 of 1
                #1 GET http://a.example/?token=\(shown): 900 ms
            </failure>
            """
        #expect(written.contains(failure), "\(written)")
    }

    @Test("Exchanges of earlier runs in the same session do not count")
    func start() throws {
        let session = try SampleSession()
        try session.record([
            (try SampleSession.exchange(1, "http://a.example/"), []),
            (try SampleSession.exchange(2, "http://a.example/"), []),
        ])
        let profile = try RuleProfile("version: 1\nassert: { filter: host:a.example, count: 1 }", file: "p.yaml")
        #expect(try !Assertions.check(profile.assertions[0], sessions: [session.path]).passes)
        #expect(try Assertions.check(profile.assertions[0], sessions: [session.path], from: ExchangeID(2)).passes)
    }
}

@Suite("Rules and recorded requests")
struct RuleUsageTests {
    private static let rules = """
        version: 1
        block:
          - { name: ads, at: "*.ads.example" }
          - { name: all of b, at: b.example }
          - { name: never, at: c.example }
          - { name: posts, at: "*", method: POST }
          - { name: asleep, at: "*", enabled: false }
        rewrite: { name: mark, at: "*", rules: [{ add: header, on: response, name: X, to: "1" }] }
        """
    private static let expected = """
        5 requests

        block
          ads  (p.yaml:3:5): 1
              3 GET http://x.ads.example/
          all of b  (p.yaml:4:5): none
          never  (p.yaml:5:5): none
          posts  (p.yaml:6:5): 1
              5 POST https://a.example/4
          asleep  (p.yaml:7:5): disabled

        rewrite
          mark  (p.yaml:8:10): 5
              1 GET https://a.example/1?x
              2 GET https://a.example/2
              3 GET http://x.ads.example/

        matched no request: block/all of b, block/never

        """

    @Test("Each rule is told with how many requests it is for, and the first three")
    func session() throws {
        let session = try SampleSession()
        try session.record([
            (try SampleSession.exchange(1, "https://a.example/1?x"), []),
            (try SampleSession.exchange(2, "https://a.example/2"), []),
            (try SampleSession.exchange(3, "http://x.ads.example/"), []),
            (try SampleSession.exchange(4, "https://a.example/3"), []),
            (try SampleSession.exchange(5, "https://a.example/4", method: "POST"), []),
        ])
        var usage = RuleUsage(try RuleProfile(RuleUsageTests.rules, file: "p.yaml"))
        try usage.add(archive: session.path)
        #expect(usage.text == RuleUsageTests.expected)
    }

    @Test("A HAR will do, whatever else is in it")
    func har() throws {
        let session = try SampleSession()
        func entry(_ method: String, _ url: String) -> String {
            """
            {"startedDateTime": "x", "time": -1.5e3, "response": {"content": {"text": "\\u00fc\\"}]\\\\"}, "a": [1, [2], {}]},
             "request": {"headers": [{"name": "A", "value": "\\ud83e\\udd86"}], "url": "\(url)", "method": "\(method)"}}
            """
        }
        let entries = [
            entry("GET", "https://a.example/1?x"), entry("GET", "https://a.example/2"),
            entry("GET", "http://x.ads.example/"),
            entry("GET", "https://a.example/3"), entry("POST", "https:\\/\\/a.example\\u002f4"),
        ]
        let file = try session.write(
            "\u{FEFF} {\"log\": {\"version\": \"1.2\", \"entries\": [\(entries.joined(separator: ","))], \"pages\": []}, \"x\": null}",
            as: "x.har"
        )
        var usage = RuleUsage(try RuleProfile(RuleUsageTests.rules, file: "p.yaml"))
        try usage.add(archive: file)
        #expect(usage.text == RuleUsageTests.expected)
        var duck = ""
        try RequestArchive.forEach(file) { duck = $0.fields.first?.value ?? "" }
        #expect(duck == "🦆")
    }

    @Test(
        "What is no HAR says so",
        arguments: [
            ("{", "ends too early"), ("{}", "has no 'log'"),
            (
                "{\"log\": {\"entries\": [{\"request\": {\"url\": \"x",
                ":1:44: the HAR cannot be read: the string does not end"
            ),
            ("{\"log\": [", "ends too early"), ("{]", "a member's name is missing"),
            ("{\"log\": ?", "a value is missing"),
            // What is passed over may be nested as deep as it likes.
            ("{\"a\":" + String(repeating: "[", count: 100_000), "ends too early"),
        ]
    )
    func badHAR(text: String, reason: String) throws {
        let session = try SampleSession()
        let file = try session.write(text, as: "x.har")
        var usage = RuleUsage(try RuleProfile("version: 1", file: "p.yaml"))
        do {
            try usage.add(archive: file)
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    @Test("A large HAR is read in pieces")
    func large() throws {
        let session = try SampleSession()
        let body = String(repeating: "x", count: 5_000_000)
        let entry =
            "{\"request\": {\"method\": \"GET\", \"url\": \"http://a.example/\", \"postData\": {\"text\": \"\(body)\"}}}"
        let file = try session.write("{\"log\": {\"entries\": [\(entry), \(entry)]}}", as: "x.har")
        var count = 0
        try RequestArchive.forEach(file) { _ in count += 1 }
        #expect(count == 2)
    }
}

@Suite("Why, of a recorded exchange")
struct RecordedWhyTests {
    private static let profile = """
        version: 1
        block: { name: ads, at: ads.example }
        rewrite: { name: mark, at: "a.example", rules: [{ add: header, on: response, name: X, to: "1" }] }
        """

    private func session(rules: [(String, String)]?) throws -> SampleSession {
        let session = try SampleSession()
        let trace = [
            TraceEntry(stage: "rewrite", rule: "mark #1", outcome: .fired, text: "response header: added X: 1"),
            TraceEntry(stage: "sluice", outcome: .note, text: "something was noticed"),
        ]
        try session.record([(try SampleSession.exchange(1, "http://a.example/x"), trace)], rules: rules)
        return session
    }

    @Test("Rules of the time are read from the session, and what fired from the trace")
    func ofTheTime() throws {
        let session = try session(rules: [("p.yaml", RecordedWhyTests.profile)])
        let text = try RecordedWhy.text(session: session.path, id: 1)
        #expect(
            text == """
                #1 GET http://a.example/x

                block
                  1. ads  (p.yaml:2:8)
                       not matched: host: pattern ads.example does not match a.example

                rewrite
                ✓ 1. mark  (p.yaml:3:10)
                       response header: added X: 1

                sluice
                  • something was noticed

                It was answered with 200.

                """
        )
    }

    @Test("What a session holds steers no terminal and breaks no line")
    func hidden() throws {
        let (session, any) = (try SampleSession(), "\u{1B}[31m\u{9B}\u{202E}\n")
        let entry = TraceEntry(stage: "rewrite", rule: any, outcome: .fired, text: any)
        let remark = TraceEntry(stage: "sluice", outcome: .note, text: any)
        var record = try SampleSession.exchange(1, "http://a.example/\u{9B}\u{202E}")
        record.failure = ExchangeFailure(.reset, any)
        record.state = .failed
        for rules in [nil, [("p\u{1B}.yaml", "version: 1\nblock: { name: \"\u{202E}\", at: a.example }\n")]] {
            try? FileManager.default.removeItem(atPath: session.path)
            try session.record([(record, [entry, remark])], rules: rules)
            let text = try RecordedWhy.text(session: session.path, id: 1)
            #expect(VisibleText.lines(text) == text)
            #expect(text.contains("^[[31m<U+009B><U+202E>^J\n"))
        }
    }

    @Test("Where a session has no rules, that is said")
    func without() throws {
        func why(_ rules: [(String, String)]?) throws -> String {
            let session = try session(rules: rules)
            return try withExtendedLifetime(session) { try RecordedWhy.text(session: session.path, id: 1) }
        }
        let noted = try why(nil)
        #expect(noted.contains("The session does not say which rules were in force."))
        #expect(noted.contains("rewrite (mark #1): response header: added X: 1"))
        let none = try why([])
        #expect(none.contains("No rules were in force"))
        let other = try why([("p.yaml", "version: 7")])
        #expect(other.contains("p.yaml:1:10: this Sluice does not know version '7'"))
    }

    @Test("Another profile is asked by playing request and response again")
    func otherProfile() throws {
        let session = try session(rules: nil)
        let profile = try session.write(
            """
            version: 1
            rewrite:
              name: strip
              at: a.example
              rules: [ { remove: header, on: request, name: Cookie }, { modify: header, on: response, name: Content-Type, to: text/x } ]
            """,
            as: "other.yaml"
        )
        let text = try RecordedWhy.text(session: session.path, id: 1, profiles: [profile])
        #expect(text.contains("✓ 1. strip"))
        #expect(text.contains("goes out: GET http://a.example/x\n  - Cookie: a=1\n"))
        #expect(text.hasSuffix("answered: 200 (edited)\n"))
    }

    @Test("A body that is declared as JSON and is not: where it breaks, for the terms that cannot match")
    func brokenBody() throws {
        let session = try SampleSession()
        let exchange = (try SampleSession.exchange(1, "http://a.example/x"), [TraceEntry]())
        let sources = [("p.yaml", RecordedWhyTests.profile)]
        try session.record([exchange], rules: sources, mediaType: "application/json", json: "[1")
        let profile = try session.write(RecordedWhyTests.profile, as: "p.yaml")
        for profiles in [[], [profile]] {
            let text = try RecordedWhy.text(session: session.path, id: 1, profiles: profiles)
            let request = "req.json has no values: the body is not valid JSON: line 1, column 3: "
            #expect(text.contains("\nbodies\n  • \(request)"), "\(text)")
            let response = "res.json has no values: the body is not valid JSON: line 1, column 1: "
            #expect(text.contains("\n  • \(response)"), "\(text)")
        }
    }

    @Test("An exchange or a session that is not there")
    func missing() throws {
        let session = try session(rules: nil)
        #expect(throws: StartError.self) { try RecordedWhy.text(session: session.path, id: 9) }
        #expect(throws: (any Error).self) { try RecordedWhy.text(session: session.path + "x", id: 1) }
    }
}
