import Description
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Rules
import Support
import Testing

@testable import Clients

@Suite("Which recorded exchange answers a request")
struct ReplayMatchingTests {
    private typealias Entry = ReplayRecording.Entry
    private let json = ("Content-Type", "application/json")
    private let form = ("Content-Type", "application/x-www-form-urlencoded")

    @Test("method, scheme, host, port, path and query fields count; their order and their escapes do not")
    func urls() throws {
        let replay = try ReplayRecording([Entry(url: "https://h.example/a%7e/x?a=1&b=%c3%a9+2&a=2")]).replay()
        #expect(try replay.found("GET", "https://h.example/a~/x?b=%C3%A9%202&a=1&a=2") == 1)
        #expect(try replay.found("GET", "https://h.example:443/a%7E/x?a=1&a=2&b=é%202") == 1)
        for url in [
            "http://h.example/a~/x?b=%C3%A9%202&a=1&a=2", "https://i.example/a~/x?a=1&b=%c3%a9+2&a=2",
            "https://h.example:444/a~/x?a=1&b=%c3%a9+2&a=2", "https://h.example/A~/x?a=1&b=%c3%a9+2&a=2",
            "https://h.example/a~/x?a=2&b=%c3%a9+2&a=1", "https://h.example/a~/x?a=1&b=%c3%a9+2",
            "https://h.example/a~/x?a=1&b=%c3%a9+2&a=2&c=", "https://h.example/a~/x?A=1&b=%c3%a9+2&a=2",
            "https://h.example/a%2f/x?a=1&b=%c3%a9+2&a=2",
        ] {
            #expect(try replay.found("GET", url) == nil, "\(url)")
        }
        #expect(try replay.found("POST", "https://h.example/a~/x?b=%C3%A9%202&a=1&a=2") == nil)
    }

    @Test("JSON is compared by its values, whatever it is called, and other bodies by their bytes")
    func bodies() throws {
        let replay = try ReplayRecording([
            Entry(
                method: "POST",
                fields: "Content-Type: application/json\r\n",
                body: #"{"n":1.50,"s":"é","l":[1,2],"o":{},"t":true}"#
            ),
            Entry(
                method: "POST",
                fields: "Content-Type: application/x-www-form-urlencoded\r\n",
                body: "a=1&b=x+y"
            ),
            Entry(method: "POST", fields: "Content-Type: application/octet-stream\r\n", body: "bytes"),
        ]).replay()
        let url = "https://h.example/"
        #expect(
            try replay.found("POST", url, [json], body: #"{"t": true, "o": {}, "l": [1, 2e0], "s": "é", "n": 15e-1}"#)
                == 1
        )
        #expect(try replay.found("POST", url, [form], body: #"{"t":true,"o":{},"l":[1,2],"s":"é","n":1.5}"#) == 1)
        for other in [
            #"{"n":1.50,"s":"é","l":[2,1],"o":{},"t":true}"#, #"{"n":"1.50","s":"é","l":[1,2],"o":{},"t":true}"#,
            #"{"n":1.50,"s":"é","l":[1,2],"o":[],"t":true}"#, #"{"n":1.50,"s":"é","l":[1,2],"o":{},"t":true,"x":null}"#,
            #"{"n":1.50,"s":"é","l":[1,2],"o":{}}"#, #"{"n":1.50,"s":"e\u0301","l":[1,2],"o":{},"t":true}"#, "",
        ] {
            #expect(try replay.found("POST", url, [json], body: other) == nil, "\(other)")
        }
        #expect(try replay.found("POST", url, [form], body: "b=x%20y&a=1") == 2)
        #expect(try replay.found("POST", url, [form], body: "b=x%20y&a=2") == nil)
        #expect(try replay.found("POST", url, [], body: "bytes") == 3)
        #expect(try replay.found("POST", url, [], body: "bytez") == nil)
    }

    @Test("numbers are the same in each of their spellings, and long ones keep all of their digits")
    func numbers() throws {
        let recorded = ["0", "1e2", "12345678901234567890123", "0.10", "-2", "1e99999999999"]
        let replay = try ReplayRecording(recorded.map { Entry(method: "PUT", body: "[\($0)]") }).replay()
        for (index, same) in ["-0.0", "100", "12345678901234567890123.0", "1e-1", "-20e-1", "1E99999999999"]
            .enumerated()
        {
            #expect(try replay.found("PUT", "https://h.example/", [json], body: "[\(same)]") == Int64(index + 1))
        }
        for other in ["12345678901234567890124", "0.1000001", "2", "1e3", "1e99999999998"] {
            #expect(try replay.found("PUT", "https://h.example/", [json], body: "[\(other)]") == nil, "\(other)")
        }
    }

    @Test("multipart bodies are compared by part, whatever their boundary is")
    func multipart() throws {
        func body(_ boundary: String, _ value: String) -> String {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(value)\r\n--\(boundary)\r\n"
                + "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nfile\r\n--\(boundary)--\r\n"
        }
        let type = "multipart/form-data; boundary="
        let recording = try ReplayRecording([
            Entry(method: "POST", fields: "Content-Type: \(type)one\r\n", body: body("one", "1"))
        ])
        let replay = try recording.replay()
        let url = "https://h.example/"
        #expect(try replay.found("POST", url, [("Content-Type", type + "two")], body: body("two", "1")) == 1)
        let miss = try replay.missed("POST", url, [("Content-Type", type + "two")], body: body("two", "2"))
        #expect(miss.hint.contains(#"req.part.a is "2", recorded "1""#), "\(miss.hint)")
        let lax = try recording.replay("replay: { ignore-body: [ a ] }")
        #expect(try lax.found("POST", url, [("Content-Type", type + "two")], body: body("two", "2")) == 1)
    }

    @Test("A body that is longer than what is compared by meaning is compared by its bytes, in whatever parts it comes")
    func longBodies() throws {
        let long = String(repeating: "0123456789abcdef", count: (ComparedBody.longest >> 4) + 5_000)
        let replay = try ReplayRecording([Entry(method: "PUT", body: long)]).replay()
        func asked(_ text: String, by count: Int) throws -> AskedRequest {
            var request = try ReplayRecording.request("PUT", "https://h.example/")
            var rest = ByteBuffer(string: text)
            while let part = rest.readSlice(length: min(count, rest.readableBytes)), part.readableBytes > 0 {
                request.body.add(part)
            }
            return request
        }
        for count in [1_000, 65_536, 70_001, 10_000_000] {
            #expect(replay.find(try asked(long, by: count))?.number == 1, "\(count)")
        }
        let other = long.dropLast() + "X"
        #expect(replay.find(try asked(String(other), by: 70_001)) == nil)
        let failure = replay.explainMiss(try asked(String(other), by: 70_001))
        #expect(
            failure.hint.contains("req.body is") && failure.hint.contains("\(long.utf8.count) bytes"),
            "\(failure.hint)"
        )
    }

    @Test("the profile leaves out query fields, parts of bodies, host and port, and adds headers")
    func profile() throws {
        let recording = try ReplayRecording([
            Entry(
                method: "POST",
                url: "https://h.example/a?page=1&ts=99",
                fields: "Content-Type: application/json\r\nAccept-Language: de\r\n",
                body: #"{"id":"x","items":[{"name":"n","at":1},{"name":"m","at":2}]}"#
            )
        ])
        let rules = """
            replay:
              ignore: [ host, port, scheme ]
              ignore-query: [ TS, extra ]
              ignore-body: [ id, "json.items[*].at" ]
              headers: [ Accept-Language ]
            """
        let replay = try recording.replay(rules)
        let body = #"{"id":"y","items":[{"name":"n","at":7},{"name":"m"}]}"#
        let fields = [json, ("accept-language", "de")]
        #expect(try replay.found("POST", "http://other.test:81/a?extra=1&page=1", fields, body: body) == 1)
        #expect(try replay.found("POST", "http://other.test:81/a?page=2", fields, body: body) == nil)
        #expect(try replay.found("POST", "http://other.test:81/a?page=1", [json], body: body) == nil)
        let wrong = #"{"id":"y","items":[{"name":"n","at":7},{"name":"k"}]}"#
        let miss = try replay.missed("POST", "http://other.test:81/a?page=1", fields, body: wrong)
        #expect(miss.hint.contains(#"req.json.items[1].name is "k", recorded "m""#), "\(miss.hint)")
        let strict = try recording.replay()
        #expect(try strict.found("POST", "https://h.example/a?page=1&ts=99", [json], body: body) == nil)
    }

    @Test("only the chosen exchanges answer: by the filter, and by 'only' and 'except'")
    func chosen() throws {
        let recording = try ReplayRecording([
            Entry(url: "https://a.example/1"), Entry(url: "https://a.example/health"),
            Entry(url: "https://b.example/1"),
        ])
        let replay = try recording.replay("replay: { only: \"a.example\", except: \"*/health\" }")
        #expect(try replay.found("GET", "https://a.example/1") == 1)
        #expect(try replay.found("GET", "https://a.example/health") == nil)
        #expect(try replay.missed("GET", "https://b.example/1").hint.contains("leaves it out"))
        #expect(replay.opening.contains("1 answer to 1 request; left out: 2 that were not chosen"), "\(replay.opening)")
        let filtered = try recording.replay(filter: "host:b.example")
        #expect(try filtered.found("GET", "https://b.example/1") == 3)
        #expect(try filtered.found("GET", "https://a.example/1") == nil)
    }

    @Test(
        "A request is compared with what was sent to the server, and with what the client sent where nothing was sent so"
    )
    func changedRequests() throws {
        let replay = try ReplayRecording([
            Entry(url: "https://staging.example/v1", sentURL: "http://localhost:3000/v1"),
            Entry(url: "https://staging.example/v2", sentURL: "http://localhost:3000/v1"),
            Entry(url: "http://localhost:3000/v2"),
            Entry(url: "http://localhost:3000/v2", sentURL: "http://localhost:3000/v3"),
        ]).replay()
        #expect(try replay.found("GET", "http://localhost:3000/v1") == 1)
        #expect(try replay.found("GET", "http://localhost:3000/v1") == 2)
        #expect(try replay.found("GET", "https://staging.example/v1") == 1)
        #expect(try replay.found("GET", "https://staging.example/v2") == 2)
        // What was sent so comes first, and alone.
        #expect(try replay.found("GET", "http://localhost:3000/v2") == 3)
        #expect(try replay.found("GET", "http://localhost:3000/v2") == 3)
        #expect(try replay.found("GET", "http://localhost:3000/v3") == 4)
    }

    @Test("Fingerprints are equal if, and only if, the comparison finds no difference, in each part")
    func fingerprints() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("fingerprints: seed \(seed)")
        var random = SplitMix(seed)
        let names = ["a", "b", "é", "e\u{301}", "id"]
        func pick<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
        func json(_ depth: Int) -> String {
            let values = (0..<Int(random.next() % 3)).map { _ in depth > 2 ? pick(["1", "1.0"]) : json(depth + 1) }
            switch random.next() % 4 {
            case 0: return "[\(values.joined(separator: ","))]"
            case 1: return "{\(values.map { "\"\(pick(names))\":\($0)" }.joined(separator: ","))}"
            default: return pick(["1", "1.0", "\"1\"", "null", "\"é\"", "\"e\u{301}\""])
            }
        }
        func fields() -> String {
            (0..<Int(random.next() % 4)).map { _ in "\(pick(names))=\(pick(["1", "2"]))" }.joined(separator: "&")
        }
        func request(_ rules: ComparedRequest.Matching) throws -> ComparedRequest {
            let isJSON = random.next() % 2 == 0
            let text = pick([isJSON ? json(0) : fields(), "", "one\n", "one\r\n"])
            let asked = try ReplayRecording.request(
                pick(["GET", "POST"]),
                "https://\(pick(["h", "i"])).example/?\(fields())",
                [
                    pick([
                        ("Content-Type", isJSON ? "application/json" : "application/x-www-form-urlencoded"),
                        ("X-A", "1"),
                    ])
                ],
                body: text
            )
            return ComparedRequest(asked.head.method, asked.url, asked.head.fields, asked.body, rules)
        }
        var rules = ReplayRules()
        for index in 0..<6_000 {
            rules.ignored = index % 2 == 0 ? [.host] : []
            rules.ignoredQuery = index % 3 == 0 ? [.name("A"), .place(try Place("req.query.b[1]"))] : []
            let ignored =
                index % 3 == 0 ? ["id", "json[0]", "json.a[*].b", "form.b[0]"] : index % 3 == 1 ? ["json.b"] : []
            rules.ignoredBody = try ignored.map { try IgnoreRule($0, in: .request) }
            rules.headers = index % 2 == 0 ? ["x-a"] : []
            let matching = ComparedRequest.Matching(rules)
            let (left, right) = (try request(matching), try request(matching))
            let (before, after) = (left.fingerprints, right.fingerprints)
            let changes = ExchangeDifference(recorded: left, asked: right).changes
            let places = changes.map(\.subject.description)
            #expect((before.all == after.all) == changes.isEmpty, "\(places)")
            #expect((before.query == after.query) == !places.contains { $0.hasPrefix("req.query") }, "\(places)")
            #expect((before.header == after.header) == !places.contains { $0.hasPrefix("req.header") }, "\(places)")
            let bodies = ["req.json", "req.form", "req.body"]
            let isOther = places.contains { place in bodies.contains { place.hasPrefix($0) } }
            #expect((before.body == after.body) == !isOther, "\(places)")
        }
    }
}
