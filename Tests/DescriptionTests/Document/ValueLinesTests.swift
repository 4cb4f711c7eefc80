import Content
import HTTPModel
import NIOCore
import Testing

@testable import Description

struct ValueLinesTests {
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsImV4cCI6MTc5MDAwMDAwMH0.c2ln"

    private func document(
        _ page: DetailPage,
        _ exchange: RecordedExchange,
        _ source: BodySource = BodySource(),
        now: Int64? = nil,
        edit: (inout DetailOptions) -> Void = { _ in }
    ) -> DetailDocument {
        var options = DetailOptions(page: page)
        edit(&options)
        return DetailBuilder(exchange, source: source, now: now).document(options)
    }

    @Test func `a token and credentials open under their value, folded`() throws {
        let exchange = Example.exchange(
            request:
                "GET /?t=\(ValueLinesTests.token) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(ValueLinesTests.token)\r\n"
                + "Proxy-Authorization: Basic dTpwOng=\r\nCookie: s=\(ValueLinesTests.token)\r\n\r\n"
        )
        let document = document(.request, exchange, now: 1_790_000_000_000_000 + 7_200_000_000)
        let folded = document.lines.filter { $0.fold?.summary.hasPrefix("(JWT") == true }
        // In the field, the query, the cookie, and the whole line of cookies has none of its own.
        #expect(folded.count == 3)
        #expect(
            folded.allSatisfy {
                $0.fold?.summary == "(JWT, HS256, for 42, expired 2 hours ago)" && $0.fold?.startsFolded == true
            }
        )
        let lines = document.lines.map(\.plain)
        #expect(lines.contains { $0.contains(#""exp": 1790000000  ≙ 2026-09-21 "#) && $0.hasSuffix("2 hours ago") })
        #expect(lines.contains { $0.hasSuffix("its signature is not checked.") })
        #expect(document.lines.contains { $0.fold?.summary == "(Basic: user u)" })
        #expect(lines.contains { $0.contains("password") && $0.hasSuffix("p:x") })
    }

    @Test func `in JSON too, and what is printed stays as it is`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"a":["\#(ValueLinesTests.token)"],"b":"ey"}"#.utf8)
        let open = document(.response, Example.exchange(), source)
        #expect(open.lines.filter { $0.fold?.startsFolded == true }.count == 1)
        let printed = document(.response, Example.exchange(), source) { $0.isPrinted = true }
        #expect(!printed.lines.contains { $0.plain.contains("signature") })
    }

    @Test func `dates, base64 and encoded text are shown when asked`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"at":1790000000123,"n":42,"b":"eyJhIjoxfQ==","u":"a%20b"}"#.utf8)
        let plain = document(.response, Example.exchange(), source).lines.map(\.plain)
        #expect(plain.contains(#"    "at": 1790000000123,"#))
        let lines = document(.response, Example.exchange(), source) { $0.decodesValues = true }.lines.map(\.plain)
        #expect(lines.contains { $0.hasPrefix(#"    "at": 1790000000123,  ≙ 2026-09-21"#) })
        #expect(lines.contains(#"    "n": 42,"#))
        #expect(lines.contains { $0.contains("base64: JSON") } && lines.contains { $0.hasSuffix(#""a": 1"#) })
        #expect(lines.contains { $0.hasSuffix("URL-decoded: a b") })
    }

    @Test func `cookies that end say when`() {
        let response =
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Max-Age=259200; Path=/\r\n"
            + "Set-Cookie: b=2; Expires=Wed, 21 Oct 2015 07:28:00 GMT\r\nSet-Cookie: c=3\r\n\r\n"
        let document = Example.document(.response, Example.exchange(response: response))
        let lines = document.lines.map(\.plain)
        let words = document.lines.compactMap(\.spans.last)
        #expect(words.first { $0.text.contains("expires in") }?.role == .faint)
        #expect(words.first { $0.text.contains("expired") }?.role == .warning)
        #expect(
            lines.contains { $0.hasPrefix("  a  1; max-age=259200; path=/  (") && $0.hasSuffix(": expires in 3 days)") }
        )
        #expect(
            lines.contains {
                $0.hasPrefix("  b  2; expires=Wed, 21 Oct 2015") && $0.contains(": expired 10 years ago)")
            }
        )
        #expect(lines.contains("  c  3"))
    }

    @Test func `a place shows only its values, each with its own place`() throws {
        let source = BodySource()
        source.set(.responseReceived, #"{"items":[{"id":1},{"id":{"x":2}}],"other":true}"#.utf8)
        func show(_ place: String, _ way: String? = nil) throws -> [String] {
            let place = try Place(place)
            return Example.lines(.response, Example.exchange(), source) { ($0.place, $0.wayToWhole) = (place, way) }
        }
        #expect(
            try show("res.json.items[*].id") == [
                "res.json.items[*].id  2 values", "res.json.items[0].id  1", "res.json.items[1].id  {", "  \"x\": 2",
                "}",
            ]
        )
        let miss = "res.json.idd  nothing found: res.json has no member 'idd'"
        #expect(try show("res.json.idd") == [miss])
        // The console says how all is shown again, and shows it if there are no values.
        let way = "f and . show all"
        #expect(try show("res.json.items[*].id", way).first == "res.json.items[*].id  2 values; f and . show all")
        #expect(try show("res.json.items[*].id", way).count == 4 + 1)
        let whole = try show("res.json.idd", way)
        #expect(whole.first == miss + "; f and . show all")
        #expect(whole.contains { $0.contains("Content-Type") } && whole.contains { $0.contains(#""other": true"#) })
        // The other message is shown whole.
        #expect(try show("req.json.idd").contains { $0.contains(#""other": true"#) })
        source.set(.responseReceived, "no json".utf8)
        #expect(try show("res.json.a")[0].hasPrefix("res.json.a  nothing found: the body is not JSON: line 1"))
        source.set(.responseReceived, [])
        #expect(try show("res.json.a") == ["The body is empty, so it has no res.json.a."])
    }

    @Test func `lines of JSON are messages`() throws {
        let source = BodySource()
        source.set(.responseReceived, "{\"a\":1}\n\n{\"b\":2}\n{\"a\":[3]}\n".utf8)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
        let exchange = Example.exchange(response: head)
        let place = try Place("res.json.a")
        #expect(
            Example.lines(.response, exchange, source) { $0.place = place } == [
                "res.json.a  2 values", "message#1.json.a  1", "message#3.json.a  [", "  3", "]",
            ]
        )
    }

    @Test func `lines know what can be copied of them`() throws {
        let source = BodySource()
        source.set(.responseReceived, #"{"a":[{"b":"x\ny"}],"c":1.50}"#.utf8)
        let document = Example.document(.response, Example.exchange(), source)
        func copyable(_ text: String) throws -> Copyable {
            try #require(document.lines.first { $0.plain.contains(text) }?.copyable)
        }
        let type = Place(.response, .header, [.member("content-type")])
        #expect(
            try copyable("Content-Type") == .field(name: "Content-Type", value: "application/json", place: type)
        )
        guard case .json(let string) = try copyable(#""b":"#), case .json(let list) = try copyable(#""a": ["#),
            case .json(let number) = try copyable(#""c":"#)
        else { return #expect(Bool(false)) }
        #expect(string.place?.description == "res.json.a[0].b" && string.value == "x\ny")
        #expect(list.place?.description == "res.json.a" && list.value == #"[{"b":"x\ny"}]"#)
        #expect(number.value == "1.50")
    }

    @Test func `a download says how far it is`() {
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n") {
            $0.record.state = .inFlight
            $0.record.sizes.responseBody = 1_000_000
            $0.record.timings.wait = 1_000_000
        }
        let now = Example.start + 3_000_000
        let wide = document(.response, exchange, now: now).lines.map(\.plain)
        #expect(wide.contains { $0.contains("25 %, 1.0 MB of 4.0 MB, 500 KB/s, 6 seconds left") && $0.contains("█") })
        // The bar leaves room for the figures, however long they are.
        let slow = document(.overview, exchange, now: now + 1_000_000_000) { $0.width = 80 }.lines.map(\.plain)
        let row = slow.first { $0.contains("of 4.0 MB, 998 B/s, 50 minutes left") }
        #expect(row.map { $0.contains("█") && $0.count <= 78 } == true, "\(slow)")
        let plain = document(.overview, exchange, now: now) { ($0.isUnicode, $0.hasBars) = (false, false) }.lines.map(
            \.plain
        )
        #expect(plain.contains { $0.hasPrefix("  received") && $0.contains("25 %, 1.0 MB of 4.0 MB, 500 KB/s") })
        let open = Example.exchange(response: "HTTP/1.1 200 OK\r\n\r\n") {
            $0.record.state = .inFlight
            $0.record.sizes.responseBody = 500_000
        }
        #expect(
            document(.response, open, now: now).lines.contains {
                $0.plain.contains("500 KB, 166 KB/s, length not known")
            }
        )
        #expect(!document(.response, Example.exchange(), now: now).lines.contains { $0.plain.hasPrefix("Progress") })
    }

    @Test func `a GraphQL answer begins with its errors, and the overview names the operation`() {
        let source = BodySource()
        source.set(.requestReceived, #"[{"query":"mutation M { m }"},{"query":"{ a }"}]"#.utf8)
        source.set(.responseReceived, #"{"data":null,"errors":[{"message":"not allowed"}]}"#.utf8)
        let exchange = Example.exchange(
            request: "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n"
        ) { $0.record.sizes.requestBody = 49 }
        let lines = Example.lines(.response, exchange, source)
        let error = lines.firstIndex { $0.hasSuffix("not allowed") } ?? .max
        #expect(error < lines.firstIndex { $0.contains("\"data\"") } ?? 0)
        #expect(
            Example.lines(.overview, exchange, source).contains {
                $0.contains("GraphQL") && $0.contains("mutation M, query")
            }
        )
    }

    @Test func `preformatted text keeps its spaces, and a stray NUL is no binary file`() {
        let source = BodySource()
        source.set(.responseReceived, "<html><pre>  keep\n   <b>this</b></pre></html>".utf8)
        let html = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        let lines = Example.lines(.response, html, source)
        #expect(lines.contains { $0.hasSuffix("    keep") } && lines.contains { $0.contains("<b>this</b>") })
        source.set(.responseReceived, "one\0two\n".utf8)
        let text = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        #expect(Example.lines(.response, text, source).last == "  one^@two")
        source.set(.responseReceived, [0x61, 0, 0xFF, 0, 0x62, 0, 1, 2])
        #expect(Example.lines(.response, text, source).last?.contains("00000000") == true)
    }
}
