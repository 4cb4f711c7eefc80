import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("A profile's own tests")
struct ExpectationTests {
    private static let rules = """
        version: 1
        block:
          - { name: ads, at: "ads.example" }
          - { name: cut, at: "cut.example", action: drop }
        rewrite:
          - name: mark
            at: "a.example"
            rules:
              - { add: header, on: response, name: X-Seen, to: "yes" }
              - { remove: header, on: request, name: Cookie }

        """

    private func differences(_ expectation: String) throws -> [String] {
        let profile = try RuleProfile(ExpectationTests.rules + "expect: " + expectation, file: "p.yaml")
        let results = profile.dryRun()
        return try #require(results.first).differences.map { "\($0.what): expected \($0.expected), came \($0.came)" }
    }

    @Test(
        "What holds passes",
        arguments: [
            "{ request: GET http://b.example/, fires: [] }",
            "{ request: http://b.example/, sends: http://b.example/ }",
            "{ request: GET http://ads.example/, fires: block }",
            "{ request: GET http://ads.example/, fires: [ block/ads ], answers: 403, blocked: true, sends: nothing }",
            "{ request: GET http://cut.example/, fires: [ block/cut ], blocked: true, sends: nothing }",
            "{ request: GET https://a.example/x?y=1, fires: [ rewrite ], sends: https://a.example/x?y=1 }",
            "{ request: { url: http://a.example/, headers: { Cookie: a=1 } }, sends: { headers: { Cookie: ~, Host: a.example } } }",
            "{ request: GET http://a.example/, answers: { status: 2xx, headers: { X-Seen: \"yes\" } } }",
            "{ request: GET http://a.example/, answers: { headers: { x-seen: /^y/ } }, held: false, fails: false }",
            "{ request: GET http://b.example/, response: { status: 404, body: gone }, answers: { status: 404, body: gone } }",
            "{ request: { method: POST, url: http://b.example/, body: abc }, sends: { method: POST, body: /b/, headers: { Content-Length: \"3\" } } }",
            "{ request: CONNECT ads.example:443, fires: [ block/ads ] }",
            "{ request: CONNECT b.example:443, fires: [], sends: b.example:443 }",
            "{ request: HEAD http://b.example/, response: { body: abc }, answers: { status: 200, body: ~ } }",
        ]
    )
    func passes(expectation: String) throws {
        #expect(try differences(expectation) == [])
    }

    @Test(
        "What does not hold is told with what came",
        arguments: [
            ("{ request: GET http://ads.example/, fires: [] }", "fires: expected [], came [block/ads]"),
            ("{ request: GET http://b.example/, fires: block }", "fires: expected [block], came []"),
            ("{ request: GET http://ads.example/, fires: block/cut }", "fires: expected [block/cut], came [block/ads]"),
            ("{ request: GET http://b.example/, blocked: true }", "blocked: expected true, came false"),
            ("{ request: GET http://b.example/, sends: nothing }", "sends: expected nothing, came http://b.example/"),
            (
                "{ request: GET http://b.example/, sends: http://c.example/ }",
                "sends.url: expected http://c.example/, came http://b.example/"
            ),
            (
                "{ request: GET http://ads.example/, sends: http://ads.example/ }",
                "sends: expected http://ads.example/, came nothing"
            ),
            (
                "{ request: GET http://cut.example/, answers: 403 }",
                "answers: expected 403, came the client was cut off"
            ),
            ("{ request: GET http://b.example/, answers: 5xx }", "answers.status: expected 5xx, came 200"),
            (
                "{ request: GET http://b.example/, answers: { headers: { X-Seen: \"yes\" } } }",
                "answers.headers.X-Seen: expected yes, came absent"
            ),
            (
                "{ request: GET http://a.example/, answers: { headers: { X-Seen: ~ } } }",
                "answers.headers.X-Seen: expected absent, came yes"
            ),
            ("{ request: GET http://b.example/, held: true }", "held: expected request, came nothing"),
            ("{ request: GET http://b.example/, fails: true }", "fails: expected true, came false"),
            (
                "{ request: GET http://b.example/, response: { body: abc }, answers: { body: /x/ } }",
                "answers.body: expected /x/, came abc"
            ),
        ]
    )
    func fails(expectation: String, difference: String) throws {
        #expect(try differences(expectation) == [difference])
    }

    @Test(
        "Mistakes are pointed at",
        arguments: [
            ("{ fires: [] }", "2:9 an expectation needs 'request'"),
            (
                "{ request: GET http://a.example/ }",
                "2:9 an expectation needs one of fires, sends, answers, blocked, held, fails"
            ),
            (
                "{ request: a.example, fires: [] }",
                "2:20 request must be METHOD URL, as in GET https://example.com/, not 'a.example'"
            ),
            (
                "{ request: GET http://a.example/, fires: [ blok ] }",
                "2:52 unknown tool 'blok' (did you mean 'block'?)"
            ),
            (
                "{ request: GET http://a.example/, fires: [ block/x ] }",
                "2:9 'block' has no rule 'x'"
            ),
            (
                "{ request: GET http://a.example/, answers: yes }",
                "2:52 answers must be a status such as 200 or 2xx, not 'yes'"
            ),
            (
                "{ request: GET http://a.example/, sends: a.example }",
                "2:50 sends must be a URL, 'nothing' or a mapping, not 'a.example'"
            ),
            (
                "{ request: GET http://a.example/, answers: { body: /(/ } }",
                "2:62 bad regular expression: missing closing parenthesis"
            ),
            (
                "{ request: { url: http://a.example/, headers: { 'a b': c } }, fires: [] }",
                "2:64 'a b' cannot be the name of a header"
            ),
            ("{ request: GET http://a.example/, held: never }", "2:49 held must be request or response, not 'never'"),
        ]
    )
    func mistakes(expectation: String, issue: String) {
        #expect(issues("version: 1\nexpect: " + expectation) == [issue])
    }

    @Test("A host that is not decrypted is dryRun as the tunnel that it is")
    func tunnel() throws {
        let profile = try RuleProfile(
            """
            version: 1
            intercept: { except: bank.example }
            block: { at: "*/login" }
            expect:
              - { request: GET https://bank.example/login, fires: [], sends: bank.example:443 }
              - { request: GET https://shop.example/login, fires: [ block ] }
            """,
            file: "p.yaml"
        )
        #expect(profile.dryRun().flatMap(\.differences).isEmpty)
    }

    @Test("Results are told in TAP 14")
    func tap() throws {
        let profile = try RuleProfile(
            """
            version: 1
            block: { name: "a \\"b\\"", at: ads.example }
            expect:
              - { name: "one # two", request: GET http://ads.example/, blocked: true }
              - { request: GET http://ads.example/, sends: http://ads.example/ }
            """,
            file: "p.yaml"
        )
        var report = TAPReport()
        for result in profile.dryRun() { report.add(result) }
        #expect(report.failures == 1)
        #expect(
            report.text == """
                TAP version 14
                1..2
                ok 1 - one \\# two
                not ok 2 - GET http://ads.example/
                  ---
                  at: "p.yaml:5:5"
                  request: "GET http://ads.example/"
                  differences:
                    - what: "sends"
                      expected: "http://ads.example/"
                      came: "nothing"
                  trace:
                    - "block (a \\"b\\"): the block list has ads.example; answered 403"
                  ...

                """
        )
        #expect(TAPReport().text == "TAP version 14\n1..0 # SKIP the profiles have no 'expect'\n")
    }
}

@Suite("What must hold of the traffic of a run")
struct AssertionTests {
    @Test("Everything that may be said is read")
    func read() throws {
        let profile = try RuleProfile(
            """
            version: 1
            assert:
              - { filter: host:a.example, count: 3, status: 2xx, within: 500ms }
              - { name: none, filter: 'is:error', count: 0 }
              - { filter: "path:/x" }
              - { filter: 'res.json.error.code:42 req.header.x-y:z' }
              - { filter: "" }
            """,
            file: "p.yaml"
        )
        let names = ["host:a.example", "none", "path:/x", "res.json.error.code:42 req.header.x-y:z", "all exchanges"]
        #expect(profile.assertions.map(\.name) == names)
        #expect(profile.assertions.map(\.count.description) == ["3", "0", ">=1", ">=1", ">=1"])
        #expect(profile.assertions[0].limit == .milliseconds(500))
        #expect(profile.assertions[0].status?.passes(204) == true)
        #expect(profile.assertions[0].status?.passes(304) == false)
        #expect(profile.assertions[2].status == nil)
    }

    @Test(
        "Numbers are compared as written",
        arguments: [
            ("3", [3]), (">=3", [3, 4, 5]), ("<=1", [0, 1]), (">3", [4, 5]), ("< 2", [0, 1]), ("0", [0]),
        ]
    )
    func counts(text: String, numbers: [Int]) throws {
        let test = try #require(CountTest(text))
        #expect((0...5).filter { test.passes($0) } == numbers)
    }

    @Test(
        "What is no number or status is refused",
        arguments: ["", "x", "=>1", "-1", "1.5", ">=", "99999999999999999999"]
    )
    func refused(text: String) {
        #expect(CountTest(text) == nil)
        #expect(StatusTest(text) == nil)
    }

    @Test("Status classes", arguments: [("200", [200]), ("4xx", [400, 404, 499])])
    func statuses(text: String, passing: [Int]) throws {
        let test = try #require(StatusTest(text))
        #expect([200, 201, 399, 400, 404, 499, 500].filter { test.passes($0) } == passing)
        #expect(test.description == text)
    }

    @Test(
        "Mistakes are pointed at",
        arguments: [
            ("{ filter: a, count: \"<0\" }", "2:29 count: no count is <0"),
            ("{ count: 1 }", "2:9 an assertion needs 'filter'"),
            ("{ filter: \"host:a hots:b\" }", "2:27"),
            ("{ filter: \"host:a res.jsn.a:1\" }", "2:31 res has no 'jsn', did you mean 'json'?"),
            ("{ filter: 'res.json.a[x]:1' }", "2:31 brackets have"), ("{ filter: 'res.json.a:>x' }", "2:32 'x' is not"),
            ("\n  filter: >\n    host:a\n    res.jsn.a:1", "3:11 res has no 'jsn'"),
            ("{ filter: \"*\", count: some }", "2:31 count must be a number"),
            ("{ filter: \"*\", status: ok }", "2:32 status must be a status such as 200 or 2xx"),
            ("{ filter: \"*\", within: -500 }", "2:32 within must be a time, as"),
        ]
    )
    func mistakes(assertion: String, issue: String) {
        let found = issues("version: 1\nassert: " + assertion)
        #expect(found.count == 1 && found[0].hasPrefix(issue), "\(found)")
    }
}
