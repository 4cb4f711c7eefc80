import Content
import HTTPModel
import NIOCore
import Testing

@testable import Description

struct DifferenceTests {
    private func json(_ old: String, _ new: String) throws -> [String] {
        var writer = DetailWriter(DetailOptions())
        let type = MediaType("application/json")
        let bodies = [old, new].map { LoadedBody(bytes: ByteBuffer(string: $0), mediaType: type) }
        BodyDifference(root: .response, old: bodies[0], new: bodies[1]).write(into: &writer)
        return writer.document().lines.map(\.plain)
    }

    private func text(_ old: String, _ new: String) -> [String] {
        var writer = DetailWriter(DetailOptions())
        LineDifference(old: old, new: new).write(into: &writer)
        return writer.document().lines.map(\.plain)
    }

    @Test func `JSON is compared by what it means`() throws {
        #expect(try json(#"{"a":1,"b":[1,2]}"#, #"{ "b": [1, 2], "a": 1 }"#) == ["The JSON means the same."])
        #expect(
            try json(
                #"{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"gone":true,"n":1.0}"#,
                #"{"items":[{"id":0},{"id":1,"name":"a"},{"id":2,"name":"c"}],"n":1.5,"a b":null}"#
            ) == [
                "+ res.json.items[0]       {\"id\":0}",
                "~ res.json.items[2].name  \"b\" → \"c\"",
                "− res.json.gone           true",
                "~ res.json.n              1.0 → 1.5",
                "+ res.json.\"a b\"          null",
            ]
        )
    }

    @Test(arguments: [
        (#"{"n":1.0}"#, #"{"n":1.00}"#, true), (#"[100]"#, #"[1e2]"#, true), (#"[2.5]"#, #"[25E-1]"#, true),
        (#"[-0]"#, #"[0]"#, true), (#"{"v":"\u00e9\/"}"#, #"{"v":"é/"}"#, true), (#"{"\u0061":1}"#, #"{"a":1}"#, true),
        (#"[1]"#, #"["1"]"#, false), (#"["1.0"]"#, #"["1"]"#, false), (#"[0.1]"#, #"[0.10000000000000000001]"#, false),
        (#"[12345678901234567890]"#, #"[12345678901234567891]"#, false), (#"["\\u00e9"]"#, #"["é"]"#, false),
    ])
    func `the spelling of numbers and strings is no difference, their value is`(
        _ old: String,
        _ new: String,
        isSame: Bool
    ) throws {
        #expect((try json(old, new) == ["The JSON means the same."]) == isSame, "\(old) \(new)")
    }

    @Test func `duplicate members are compared one by one`() throws {
        #expect(try json(#"{"a":1,"a":2}"#, #"{"a":1,"a":3,"a":4}"#) == ["~ res.json.a  2 → 3", "+ res.json.a  4"])
    }

    @Test func `lines around a difference are shown, those far from it are not`() {
        let old = (1...20).map { "line \($0)" }.joined(separator: "\n")
        let new = old.replacing("line 10\n", with: "line ten\nline 10b\n")
        #expect(
            text(old, new) == [
                "line 7 → line 7", "  line 7", "  line 8", "  line 9", "− line 10", "+ line ten", "+ line 10b",
                "  line 11", "  line 12", "  line 13",
            ]
        )
        #expect(text(old, old + "\n") == ["The text is the same."])
    }

    @Test func `an edit script turns one sequence into the other`() throws {
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<300 {
            let old = (0..<random(30)).map { _ in random(5) }
            let new = (0..<random(30)).map { _ in random(5) }
            let hunks = try #require(EditScript.hunks(old, new))
            var rebuilt: [Int] = []
            var place = 0
            for hunk in hunks {
                #expect(!(hunk.old.isEmpty && hunk.new.isEmpty))
                rebuilt += old[place..<hunk.old.lowerBound]
                rebuilt += new[hunk.new]
                place = hunk.old.upperBound
            }
            rebuilt += old[place...]
            #expect(rebuilt == new)
        }
    }

    @Test func `texts without a line in common are not compared for ever`() {
        let old = (0..<3000).map { "a\($0)" }.joined(separator: "\n")
        let new = (0..<3000).map { "b\($0)" }.joined(separator: "\n")
        let lines = text(old, new)
        #expect(lines.first == "They differ in too many lines to be compared; the beginnings of both follow.")
        #expect(lines.last == "Only the first 200 lines of each text are shown.")
        #expect(EditScript.hunks(Array(0..<1500), Array(10_000..<11_500)) == nil)
    }

    @Test func `what a rule changed is labelled with it`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"plan":"free","id":7}"#.utf8)
        source.set(.responseSent, #"{"plan":"pro","id":7}"#.utf8)
        let exchange = Example.exchange { exchange in
            exchange.record.sentURL = RequestURL("http://localhost:3000/v1/items")
            exchange.record.flags = [.responseChanged, .responseBodyChanged, .requestChanged]
            exchange.record.sizes.responseBody = 22
            exchange.messages.requestHeadSent = ByteBuffer(
                string: "GET /v1/items HTTP/1.1\r\nHost: localhost:3000\r\n\r\n"
            )
            exchange.messages.responseHeadSent = ByteBuffer(
                string: "HTTP/1.1 418 I'm a teapot\r\nContent-Type: application/json\r\nX-Sluice: 1\r\n\r\n"
            )
            exchange.messages.trace = [
                TraceEntry(stage: "map-remote", rule: "local", outcome: .fired, text: "http://localhost:3000"),
                TraceEntry(
                    stage: "rewrite",
                    rule: "tea",
                    outcome: .fired,
                    text: "response: status 200 OK to 418; added X-Sluice: 1"
                ),
                TraceEntry(stage: "rewrite", rule: "plan", outcome: .fired, text: "response body: 1 match replaced"),
            ]
        }
        #expect(DetailBuilder(exchange, source: source).pages == [.overview, .request, .response, .difference])
        #expect(
            Example.lines(.difference, exchange, source) == [
                "Request, as received and as sent",
                "  ~ req.url  https://api.example.com/v1/items?page=2 → http://localhost:3000/v1/items  (map-remote local)",
                "  ~ target  /v1/items?page=2 → /v1/items  (map-remote local)",
                "  ~ req.header.host  api.example.com → localhost:3000  (map-remote local)",
                "",
                "Response, as received and as sent",
                "  ~ res.status  200 OK → 418 I'm a teapot  (rewrite tea)",
                "  + res.header.x-sluice  1  (rewrite tea)",
                "",
                "  Body  22 B → 21 B; rewrite plan",
                "    ~ res.json.plan  \"free\" → \"pro\"",
            ]
        )
        #expect(Example.lines(.difference, Example.exchange()) == ["Nothing was changed."])
        // A value is explained by its field's name, whatever the line shows for it.
        let basic = Example.exchange { exchange in
            let heads = ["Og==", "Ong="].map { "GET / HTTP/1.1\r\nAuthorization: Basic YWRh\($0)\r\n\r\n" }
            exchange.messages.requestHead = ByteBuffer(string: heads[0])
            exchange.messages.requestHeadSent = ByteBuffer(string: heads[1])
            exchange.record.flags = [.requestChanged]
        }
        let lines = Example.lines(.difference, basic)
        #expect(lines.contains { $0.contains("user") && $0.hasSuffix("ada") }, "\(lines)")
        // A proxy is asked with the whole URL, and keeps fields for itself; no rule did that.
        let adapted = Example.exchange { exchange in
            exchange.messages.requestHeadSent = ByteBuffer(string: "GET /v1/items HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        #expect(!DetailBuilder(adapted, source: BodySource()).pages.contains(.difference))
    }

    @Test func `two exchanges are compared in all their parts`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"a":1}"#.utf8)
        source.set(.responseReceived, #"{"a":2}"#.utf8, of: 2)
        let first = Example.exchange { $0.record.timings.total = 10_000 }
        let second = Example.exchange(
            "https://api.example.com/v1/items?page=3&x=1",
            id: 2,
            request: "GET /v1/items?page=3&x=1 HTTP/1.1\r\nAccept: */*\r\nhost: api.example.com\r\n\r\n",
            response: "HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Type: application/json\r\n\r\n"
        ) { $0.record.timings.total = 25_000 }
        let lines = Comparison.document(first, second, source: source).lines.map(\.plain)
        for line in [
            "Exchanges 1 and 2", "  ~ res.status  200 → 404", "    req.host  api.example.com",
            "  ~ req.query.page  2 → 3",
            "  + req.query.x     1",
            "    req.header.host    api.example.com", "  + req.header.accept  */*", "  ~ res.json.a  1 → 2",
            "  total        10.0 ms     25.0 ms  +15.0 ms",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        let again = Comparison.document(first, first, source: source).lines
        #expect(!again.contains { $0.plain.hasPrefix("  ~") || $0.plain.hasPrefix("  +") })
    }
}
