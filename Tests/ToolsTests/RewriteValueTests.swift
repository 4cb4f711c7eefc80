import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Rewriting values at places")
struct RewriteValueTests {
    private static let json = "Content-Type: application/json"

    @Test(
        "In a body the values at a place are set, added and removed, with the types of YAML",
        arguments: [
            (
                "{ set: 'X.json.items[*].plan', to: pro }", #"{"items":[{"plan":1.0},{}]}"#,
                #"{"items":[{"plan":"pro"},{"plan":"pro"}]}"#,
                #"set X.json.items[*].plan to "pro", 2 values (27 → 41 bytes)"#
            ),
            (
                "{ set: X.json.n, to: 12345678901234567890.10 }", #"{"n":"1"}"#, #"{"n":12345678901234567890.10}"#,
                "set X.json.n to 12345678901234567890.10 (9 → 29 bytes)"
            ),
            ("{ set: X.json.n, to: '5' }", #"{"n":1}"#, #"{"n":"5"}"#, #"set X.json.n to "5" (7 → 9 bytes)"#),
            (
                "{ set: X.json.a, to: { b: [1, true, null, ~, x] } }", #"{"a" : 0}"#,
                #"{"a" : {"b":[1,true,null,null,"x"]}}"#,
                #"set X.json.a to {"b":[1,true,null,null,"x"]} (9 → 36 bytes)"#
            ),
            (
                "{ add: X.json.tags, to: x }", #"{"tags":[1]}"#, #"{"tags":[1,"x"]}"#,
                #"added "x" to X.json.tags (12 → 16 bytes)"#
            ),
            (
                "{ remove: X.json.a }", #"{"a":1, "b":2 , "a":3}"#, #"{"b":2}"#,
                "removed X.json.a, 2 values (22 → 7 bytes)"
            ),
            ("{ set: X.json.a, to: 1 }", #"{"a":1}"#, nil, nil),
            ("{ remove: X.json.b.c }", #"{"a":1}"#, nil, "X.json has no member 'b'"),
            ("{ set: 'X.json.items[3]', to: 1 }", #"{"items":[1]}"#, nil, "X.json.items has no element 3"),
            (
                "{ set: X.json.a, to: 1 }", "{\n\"a\": 01}", nil,
                "the body is not JSON: line 2, column 7: ',' or '}' is missing"
            ),
            ("{ set: X.json.a, to: 1 }", "", nil, "the body is not JSON: line 1, column 1: the text ends too early"),
        ] as [(String, String, String?, String?)]
    )
    func json(rule: String, before: String, after: String?, words: String?) throws {
        let exchange = try RewrittenExchange(
            rewriting(rule.replacing("X.", with: "req."), rule.replacing("X.", with: "res.")),
            method: "POST",
            request: Self.json,
            requestBody: ByteBuffer(string: before),
            response: Self.json,
            responseBody: ByteBuffer(string: before)
        )
        #expect(String(buffer: exchange.requestBody) == after ?? before)
        #expect(String(buffer: exchange.responseBody) == after ?? before)
        #expect(exchange.responseLine == "< 200 (\((after ?? before).utf8.count))")
        #expect(
            exchange.record.flags
                == (after == nil ? [] : [.requestChanged, .responseChanged, .requestBodyChanged, .responseBodyChanged])
        )
        let expected = words.map { words in
            [("req", "request", 1), ("res", "response", 2)].map { root, direction, number in
                let text = "\(direction) body: \(words.replacing("X.", with: "\(root)."))"
                return after == nil
                    ? "rewrite: set #\(number): \(text); nothing was changed" : "rewrite(set #\(number)): \(text)"
            }
        }
        #expect(exchange.trace == expected ?? [])
    }

    @Test("Edits act in order, also between rules of text, on decoded bodies in their own character encoding")
    func order() throws {
        let body = "{\"naïve\":1,\"a\":[],\"n\":1e400}"
        let latin = ByteBuffer(bytes: body.unicodeScalars.map { UInt8($0.value) })
        let exchange = try RewrittenExchange(
            rewriting(
                "{ set: res.json.naïve, to: é }",
                "{ modify: body, on: response, match: é, to: è }",
                "{ add: res.json.a, to: 1 }",
                "{ set: 'res.json.a[1]', to: 2 }",
                "{ set: 'res.json.a[*]', to: [] }",
                "{ remove: 'res.json.a[0]' }",
                "{ set: res.json.x, to: '☕' , enabled: false }"
            ),
            response: "Content-Type: application/json; charset=iso-8859-1\nContent-Encoding: gzip\nContent-MD5: x",
            responseBody: try ContentEncoder.encode(latin, coding: .gzip)
        )
        let decoded = ContentDecoder.decode(exchange.responseBody, codings: [.gzip], limit: 1 << 20).bytes
        let after = "{\"naïve\":\"è\",\"a\":[[]],\"n\":1e400}"
        #expect(Array(decoded.readableBytesView) == after.unicodeScalars.map { UInt8($0.value) })
        #expect(
            exchange.trace.count == 7
                && exchange.trace.last == "rewrite: removed content-md5, which the edit made invalid"
        )
    }

    @Test(
        "In heads 'set' leaves one value, 'add' appends and 'remove' takes all",
        arguments: [
            ("{ set: X.header.a, to: '5' }", "A: 1\nB: 2\na: 3", "A: 5\nB: 2", "set X.header.a to 5, 2 values"),
            (
                "{ set: 'X.header.a[*]', to: '5' }", "A: 1\nB: 2\na: 3", "A: 5\nB: 2\na: 5",
                "set X.header.a[*] to 5, 2 values"
            ),
            ("{ set: X.header.c, to: '' }", "A: 1", "A: 1\nc: ", "set X.header.c to nothing"),
            ("{ set: X.header.a, to: 1 }", "A: 1", "A: 1", nil),
            ("{ add: X.header.a, to: b c }", "A: 1", "A: 1\na: b c", "added b c to X.header.a"),
            ("{ remove: X.header.a }", "A: 1\nB: 2\na: 3", "B: 2", "removed X.header.a, 2 values"),
            ("{ remove: X.header.c }", "A: 1", "A: 1", nil),
            ("{ set: 'X.header.a[4]', to: 1 }", "A: 1", "A: 1", "there is no X.header.a[4]; nothing was changed"),
            (
                "{ set: req.cookie.a, to: 9 }", "Cookie: a=1; b=2; a=3", "Cookie: a=9; b=2",
                "set req.cookie.a to 9, 2 values"
            ),
            ("{ remove: req.cookie.a }", "Cookie: a=1; a=3", "", "removed req.cookie.a, 2 values"),
            (
                "{ set: res.cookie.a, to: 9 }", "Set-Cookie: a=1; Path=/\nSet-Cookie: a=2", "Set-Cookie: a=9; Path=/",
                "set res.cookie.a to 9, 2 values"
            ),
            (
                "{ add: res.cookie.a, to: 9 }", "Set-Cookie: a=1", "Set-Cookie: a=1\nSet-Cookie: a=9",
                "added 9 to res.cookie.a"
            ),
        ] as [(String, String, String, String?)]
    )
    func heads(rule: String, before: String, after: String, words: String?) throws {
        for (root, number) in [("req", 1), ("res", 2)] where rule.contains("X.") || rule.contains("\(root).") {
            let rule = rule.replacing("X.", with: "\(root).")
            let none = "{ remove: header, on: request, name: none }"
            let exchange = try RewrittenExchange(
                number == 1 ? rewriting(rule) : rewriting(none, rule),
                request: number == 1 ? before : "",
                response: number == 2 ? before : ""
            )
            let request = exchange.requestFields.replacing("Host: example.com", with: "").drop { $0 == "\n" }
            #expect((number == 1 ? String(request) : exchange.responseFields) == after)
            let text = words?.replacing("X.", with: "\(root).")
            let isNote = text?.hasSuffix("nothing was changed") == true
            #expect(
                exchange.trace
                    == (text.map { [isNote ? "rewrite: set #\(number): \($0)" : "rewrite(set #\(number)): \($0)"] }
                        ?? [])
            )
        }
    }

    @Test("Parameters and form fields are percent-encoded; earlier and later edits of the URL count")
    func pairs() throws {
        let exchange = try RewrittenExchange(
            rewriting(
                "{ modify: path, match: a, to: b }",
                "{ set: req.query.p, to: \"1&\\r\\n\" }",
                "{ add: req.query.q, to: 'ä b' }",
                "{ modify: query, name: q, rename: r }",
                "{ remove: req.query.none }",
                "{ set: req.form.user, to: '=&\"' }",
                "{ remove: req.form.user2 }"
            ),
            url: "http://example.com/a?p=%31&x=+&p=2",
            method: "POST",
            request: "Content-Type: application/x-www-form-urlencoded",
            requestBody: ByteBuffer(string: "user=a&user2=%20&c=+&user=b&user2")
        )
        #expect(exchange.requestLine.hasPrefix("> POST /b?p=1%26%0D%0A&x=+&r=%C3%A4%20b ("))
        #expect(String(buffer: exchange.requestBody) == "user=%3D%26%22&c=+")
        #expect(
            Array(exchange.trace.suffix(2)) == [
                "rewrite(set #6): request body: set req.form.user to =&\", 2 values",
                "rewrite(set #7): request body: removed req.form.user2, 2 values (33 → 18 bytes)",
            ]
        )
    }

    @Test("A body of a type that cannot have the place is not gathered; other edits of the body still act")
    func types() throws {
        let note = "rewrite: set #1: response body: text/html cannot have res.json.a; nothing was changed"
        let profile = try RuleProfile("version: 1\n" + rewriting("{ set: res.json.a, to: 1 }"), file: "p.yaml")
        let dialogue = dialogue(profile, "http://example.com/")
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(200, .length(9), [("Content-Type", "text/html")])
        dialogue.expect("< 200 (9)")
        abandon(dialogue)
        #expect(dialogue.trace == [note])
        let both = try RewrittenExchange(
            rewriting("{ set: res.json.a, to: 1 }", "{ modify: body, on: response, match: a, to: b }"),
            response: "Content-Type: text/html",
            responseBody: ByteBuffer(string: #"{"a":0}"#)
        )
        #expect(String(buffer: both.responseBody) == #"{"b":0}"#)
        #expect(both.trace.first == note && both.trace.count == 2)
        for type in ["", "text/plain", "application/x-www-form-urlencoded", "application/vnd.api+json"] {
            let exchange = try RewrittenExchange(
                rewriting("{ set: res.json.a, to: 1 }"),
                response: type.isEmpty ? "" : "Content-Type: \(type)",
                responseBody: ByteBuffer(string: #"{"a":0}"#)
            )
            #expect(String(buffer: exchange.responseBody) == #"{"a":1}"#, "\(type)")
        }
        let get = try RewrittenExchange(rewriting("{ set: req.json.a, to: 1 }", "{ set: req.form.a, to: 1 }"))
        #expect(get.requestLine == "> GET / (none)" && get.trace.isEmpty)
    }

    @Test("A dry run says why an edit changed nothing, and the heading says what the edits do")
    func explained() throws {
        let rules = [
            "{ set: res.json.a.b, to: 1 }", "{ set: res.json.c, to: 1 }", "{ remove: res.header.x }",
            "{ remove: req.json.a }",
            "{ add: req.header.y, to: '1' }",
        ]
        let profile = try RuleProfile(
            "version: 1\n" + rules.map { rewriting($0).dropFirst(9) }.reduce("rewrite:\n") { $0 + $1 },
            file: "p.yaml"
        )
        let request = try #require(DryRunRequest("http://example.com/"))
        var dryRun = DryRun(profile)
        let response = DryRunResponse(
            fields: [("Content-Type", "application/json")],
            body: ByteBuffer(string: #"{"c":1}"#)
        )
        let (exchange, missed) = MissedEdits.gather { dryRun.play(request, response) }
        #expect(
            missed.map(\.reason) == [
                "request body: there is none", "there is no res.header.x", "response body: res.json has no member 'a'",
                "response body: res.json.c: already has this value",
            ]
        )
        #expect(exchange.sent?.head.fields.values(of: "y") == ["1"])
        #expect(
            profile.tools.flatMap(\.rules).map(\.action) == [
                "set res.json.a.b to 1", "set res.json.c to 1", "remove res.header.x", "remove req.json.a",
                "add \"1\" to req.header.y",
            ]
        )
        let expectation = """
            expect:
              - request: GET http://example.com/
                response: { headers: { Content-Type: application/json }, body: '{"items":[{"plan":"free"}]}' }
                fires: [ rewrite/set ]
                answers: { body: '{"items":[{"plan":"pro"}]}', headers: { x: "1" } }
            """
        let tested = try RuleProfile(
            "version: 1\n" + rewriting("{ set: 'res.json.items[*].plan', to: pro }", "{ set: res.header.x, to: '1' }")
                + expectation,
            file: "p.yaml"
        )
        #expect(tested.dryRun().map(\.passes) == [true])
    }

    @Test("Credentials are not added in a tunnel whose host is only the client's word")
    func credentials() throws {
        for (rule, adds) in [
            ("{ set: req.header.authorization, to: x }", true), ("{ add: req.cookie.sid, to: x }", true),
            ("{ remove: req.cookie.sid }", false), ("{ set: req.header.x, to: x }", false),
            ("{ set: res.cookie.a, to: x }", false),
        ] {
            let profile = try RuleProfile("version: 1\n" + rewriting(rule), file: "p.yaml")
            let opening = ExchangeOpening(
                id: ExchangeID(1),
                url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/x"),
                head: RequestHead(method: "GET", target: "/"),
                clientAddress: "127.0.0.1:1"
            )
            #expect(profile.chain.stages.first?.handler(for: opening)?.needsVerifiedName == adds, "\(rule)")
        }
    }

    @Test(
        "What is wrong with an edit by place is said where it stands",
        arguments: [
            ("{ set: res.json.a }", "6:9 setting res.json.a needs 'to'"),
            ("{ remove: res.json.a, to: 1 }", "6:35 'to' has no effect with 'remove: res.json.a'"),
            (
                "{ set: res.json.a, on: response, to: 1 }",
                "6:32 'on' has no effect with 'set: res.json.a'; the place names the message"
            ),
            ("{ set: res.json.a, match: x, to: 1 }", "6:35 'match' has no effect with 'set: res.json.a'"),
            ("{ set: res.status, to: 1 }", "6:16 res.status cannot be edited by place; write 'modify: status'"),
            ("{ set: req.host, to: 1 }", "6:16 req.host cannot be edited by place; write 'modify: host'"),
            ("{ set: \"res.body\", to: 1 }", "6:17 res.body cannot be edited by place; write 'modify: body'"),
            ("{ remove: res.json }", "6:19 res.json is the whole body; write 'modify: body'"),
            (
                "{ set: res.xml.a, to: 1 }",
                "6:16 res.xml.a cannot be edited; header, cookie, query, form and json can be"
            ),
            (
                "{ remove: res.trailer.a }",
                "6:19 res.trailer.a cannot be edited; header, cookie, query, form and json can be"
            ),
            (
                "{ set: graphql.type, to: 1 }",
                "6:16 graphql.type cannot be edited; header, cookie, query, form and json can be"
            ),
            ("{ remove: sent.req.header.a }", "6:19 sent.req.header.a cannot be edited; begin with req or res"),
            ("{ modify: req.header.a, to: 1 }", "6:19 'modify' has no places; 'set' sets the value of req.header.a"),
            ("{ add: 'req.header.a[1]', to: 1 }", "6:17 'add' appends; leave the brackets out of req.header.a[1]"),
            (
                "{ set: req.header.content-length, to: 1 }",
                "6:16 content-length frames the message; only Sluice sets it"
            ),
            ("{ set: 'req.header.\"a b\"', to: 1 }", "6:17 'a b' cannot be the name of a header"),
            ("{ set: 'res.cookie.\"a;b\"', to: 1 }", "6:17 'a;b' cannot be the name of a cookie"),
            (
                "{ set: req.header.a, to: \"a\\r\\nb\" }",
                "6:34 the value of a header cannot have line breaks or control characters"
            ),
            ("{ set: req.nothing, to: 1 }", "6:20 set: req has no 'nothing'; it has method, url, host, path, body"),
            ("{ set: header, to: 1 }", "6:16 set: a place begins with req, res, sent, message#, graphql or grpc"),
            (
                "{ set: res.json.a, add: header, to: 1 }",
                "6:9 a rewrite rule has one of 'set', 'add', 'modify' and 'remove'"
            ),
            ("{ remove: req.header.Host }", "6:19 lint an HTTP/1.1 request without Host is refused by most servers"),
            ("{ set: [res.json.a], to: 1 }", "6:16 'set' must be a text, not a list"),
        ]
    )
    func mistakes(rule: String, issue: String) {
        let found = issues("version: 1\n" + rewriting(rule))
        #expect(found.first?.hasPrefix(issue) == true, "\(found)")
    }
}
