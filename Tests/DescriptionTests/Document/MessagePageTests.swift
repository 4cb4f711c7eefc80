import HTTPModel
import NIOCore
import Testing

@testable import Description

struct MessagePageTests {
    @Test func `a request that Sluice answered without a server was not sent on`() {
        let exchange = Example.exchange(request: "GET /blocked HTTP/1.1\r\nHost: api.example.com\r\n\r\n") {
            $0.record.flags.insert(.answeredLocally)
            $0.upstream = nil
        }
        #expect(Example.lines(.request, exchange, BodySource()).first == "Request  not sent on: no server was asked")
    }

    @Test func `what is no request was not sent on`() {
        let exchange = Example.exchange(request: "GET /x HTTP/1.1\r\nFoo : abc\r\n\r\n", response: nil) {
            $0.record.kind = .malformed
            $0.record.state = .failed
            $0.record.status = 400
            $0.upstream = nil
        }
        #expect(Example.lines(.request, exchange, BodySource()).first == "Request  not sent on: no server was asked")
    }

    @Test func `a request whose server was not reached was not sent on`() {
        func line(_ edit: (inout RecordedExchange) -> Void) -> String? {
            let exchange = Example.exchange(response: nil) {
                $0.record.state = .failed
                $0.record.timings.connect = 2_000
                edit(&$0)
            }
            return Example.lines(.request, exchange, BodySource()).first
        }
        #expect(line { $0.upstream = nil } == "Request  not sent on: no connection to the server came about")
        let proxy = ConnectionRecord(
            id: ConnectionID(9),
            leg: .upstream,
            openedAt: 0,
            localAddress: "",
            peerAddress: ""
        )
        let refused = line {
            $0.upstream = proxy
            $0.record.failure = ExchangeFailure(.upstreamProxy, "No.")
        }
        #expect(refused == "Request  not sent on: the proxy opened no way to the server")
        #expect(line { $0.record.upstreamVersion = .http11 } == "Request  unchanged")
    }

    @Test func `a request has its query, its cookies and its form as tables`() {
        let source = BodySource()
        source.set(.requestReceived, "name=J%C3%BCrgen&note=a+b&empty=".utf8)
        let exchange = Example.exchange(
            request: "POST /v1/items?page=2&q=%E2%9C%93&flag HTTP/1.1\r\nHost: api.example.com\r\n"
                + "Cookie: a=1; b=2\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
        ) { $0.record.sizes.requestBody = 32 }
        #expect(
            Example.lines(.request, exchange, source) == [
                "Request  unchanged",
                "  POST /v1/items?page=2&q=%E2%9C%93&flag HTTP/1.1",
                "",
                "Headers  3 lines",
                "  Host          api.example.com",
                "  Cookie        a=1; b=2",
                "  Content-Type  application/x-www-form-urlencoded",
                "",
                "Query",
                "  page  2",
                "  q     ✓",
                "  flag  (no value)",
                "",
                "Cookies  2",
                "  a  1",
                "  b  2",
                "",
                "Body  application/x-www-form-urlencoded; 32 B",
                "  name   Jürgen",
                "  note   a b",
                "  empty  ",
            ]
        )
    }

    @Test func `JSON keeps its numbers and duplicates, and shows characters for their numbers`() {
        let source = BodySource()
        let text = #"{"a":1.0,"big":1e400,"id":12345678901234567890,"a":[],"b":{"x":[1,{"y":null}]},"s":"\u00e9\n"}"#
        source.set(.responseReceived, text.utf8)
        let document = Example.document(.response, Example.exchange(), source)
        let lines = document.lines.map(\.plain)
        #expect(
            lines.drop { !$0.hasPrefix("Body") }.dropFirst() == [
                "  {",
                #"    "a": 1.0,"#,
                #"    "big": 1e400,"#,
                #"    "id": 12345678901234567890,"#,
                #"    "a": [],"#,
                #"    "b": {"#,
                #"      "x": ["#,
                "        1,",
                "        {",
                #"          "y": null"#,
                "        }",
                "      ]",
                "    },",
                #"    "s": "é\n""#,
                "  }",
            ]
        )
        let opener = lines.firstIndex(of: #"    "b": {"#) ?? 0
        #expect(document.lines[opener].foldedSpans.map(\.text).joined() == #""b": { 1 member }"#)
        #expect(document.lines[opener].fold?.end == opener + 8)
        let visible = document.folded([opener])
        #expect(visible.contains(opener) && !visible.contains(opener + 1) && visible.contains(opener + 8))
        #expect(document.enclosing(opener + 2).contains(opener))
    }

    @Test func `invalid JSON is shown as it came, with the place of the fault`() {
        let source = BodySource()
        source.set(.responseReceived, "{\n\"a\": 1,\n\"b\" 2\n}".utf8)
        let lines = Example.lines(.response, Example.exchange(), source)
        #expect(
            lines.drop { !$0.hasPrefix("Body") }.dropFirst() == [
                "  Not valid JSON, so shown as it came: line 3, column 5: ':' is missing",
                "  {",
                #"  "a": 1,"#,
                #"  "b" ⟦here⟧2"#,
                "  }",
            ]
        )
    }

    @Test func `JSON that was cut is laid out as far as it goes, and says so`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"list":[1,2,3,4,5,6],"truth":true}"#.utf8)
        let document = Example.document(.response, Example.exchange(), source) { $0.bodyLimit = 30 }
        let lines = document.lines.map(\.plain)
        #expect(!document.isWhole)
        #expect(lines.contains("      6"))
        #expect(lines.last?.hasPrefix("Only the first 30 B of the body are shown") == true)
        #expect(!lines.contains { $0.contains("Not valid") })
    }

    @Test func `a gzip body is decoded, its sizes are told`() {
        let source = BodySource()
        // printf '{"a":1}' | gzip
        let gzip: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 0x05,
            0x00, 0xAF, 0xAC, 0x1B, 0x56, 0x07, 0x00, 0x00, 0x00,
        ]
        source.set(.responseReceived, gzip)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"
        let lines = Example.lines(.response, Example.exchange(response: head), source)
        #expect(lines.contains { $0.hasPrefix("Body  application/json; 27 B; ") })
        #expect(lines.contains(#"    "a": 1"#))
        let overview = Example.lines(.overview, Example.exchange(response: head), source)
        #expect(overview.contains { $0.hasSuffix("7 B decoded from gzip, 385 % on the wire") })
    }

    @Test func `a truncated coding is told of, not hidden`() {
        let source = BodySource()
        source.set(.responseReceived, [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xAB])
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"
        let lines = Example.lines(.response, Example.exchange(response: head), source)
        #expect(lines.contains { $0.contains("Not decoded in whole: gzip") })
    }

    @Test func `a body that cannot be read is a line, no crash`() {
        struct Broken: Error {}
        let source = BodySource()
        source.failure = Broken()
        for page in DetailPage.allCases {
            let exchange = Example.exchange { $0.record.sizes.responseBody = 9 }
            #expect(!Example.lines(page, exchange, source).isEmpty)
        }
        let lines = Example.lines(.response, Example.exchange(), source)
        #expect(lines.contains("  The body cannot be read: Broken()"))
    }

    @Test func `headers carry the sign and the rule of what was changed`() {
        let exchange = Example.exchange(
            request:
                "GET /a HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\nCookie: s=1\r\nX-A: 1\r\nX-A: 2\r\n\r\n"
        ) { exchange in
            exchange.messages.requestHeadSent = ByteBuffer(
                string:
                    "GET /a HTTP/1.1\r\nHost: api.example.com\r\nX-A: 2\r\nX-A: 1\r\nAccept: text/html\r\nX-Debug: 1\r\n\r\n"
            )
            exchange.messages.trace = [
                TraceEntry(stage: "block-cookies", rule: "all", outcome: .fired, text: "request: removed Cookie: s"),
                TraceEntry(stage: "rewrite", rule: "types", outcome: .fired, text: "changed Accept: */* to text/html"),
                TraceEntry(stage: "rewrite", rule: "debug", outcome: .fired, text: "added X-Debug: 1"),
            ]
        }
        let lines = Example.lines(.request, exchange)
        #expect(
            lines.drop { !$0.hasPrefix("Headers") }.prefix { !$0.isEmpty } == [
                "Headers  5 lines",
                "    Host     api.example.com",
                "  ~ Accept   */* → text/html  (rewrite types)",
                "  − Cookie   s=1  (block-cookies all)",
                "    X-A      1",
                "    X-A      2",
                "  + X-Debug  1  (rewrite debug)",
            ]
        )
        #expect(
            Example.lines(.request, exchange) { $0.isUnicode = false }.contains("  - Cookie   s=1  (block-cookies all)")
        )
    }

    @Test func `cookies that a response sets have their attributes`() {
        let head = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=abc; Path=/; HttpOnly; Max-Age=60\r\nSet-Cookie: x=1\r\n\r\n"
        let lines = Example.lines(.response, Example.exchange(response: head))
        #expect(
            lines.drop { !$0.hasPrefix("Cookies set") }.prefix { !$0.isEmpty } == [
                "Cookies set  2",
                "  sid  abc; path=/; httponly; max-age=60  (\(Timestamp.readable(Example.start + 60_000_000)): expires in 1 minute)",
                "  x    1",
            ]
        )
    }

    @Test func `each part of a multipart body is shown by its own type`() {
        let source = BodySource()
        let body =
            "--B\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n"
            + "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\nContent-Type: application/x-thing\r\n\r\n"
            + "\u{0}\u{1}\r\n--B--\r\n"
        source.set(.requestReceived, body.utf8)
        let exchange = Example.exchange(
            request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n\r\n"
        )
        let lines = Example.lines(.request, exchange, source)
        #expect(lines.contains("  Part 1: meta  application/json; 7 B"))
        #expect(lines.contains(#"      "a": 1"#))
        #expect(lines.contains("  Part 2: f  file x.bin; application/x-thing; 2 B"))
        #expect(lines.contains { $0.contains("00000000  00 01 ") && $0.hasSuffix("..") })
    }

    @Test func `a GraphQL request shows its query with its line breaks, and its variables`() {
        let source = BodySource()
        source.set(
            .requestReceived,
            #"{"operationName":"Items","query":"query Items($n: Int) {\n  items(first: $n) { id }\n}","variables":{"n":3}}"#
                .utf8
        )
        let exchange = Example.exchange(
            request: "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n"
        )
        let lines = Example.lines(.request, exchange, source)
        #expect(lines.contains("  GraphQL  query Items"))
        #expect(lines.contains("    query Items($n: Int) {"))
        #expect(lines.contains("      items(first: $n) { id }"))
        #expect(lines.contains(#"      "n": 3"#))
        let document = Example.document(.request, exchange, source)
        #expect(Example.place(of: #""n": 3"#, in: document) == "graphql.variables.n")
        #expect(Example.place(of: #""operationName""#, in: document) == "req.json.operationName")
    }

    @Test func `a GraphQL query on one line has a line for each field`() {
        let source = BodySource()
        let query =
            "query Q($id: ID!, $n: Int = 3) { user(id: $id, n: $n) { name small: picture(size: 1) posts(first: 3) "
            + "@include(if: $n) { id ... on Draft @skip(if: $x) { note } ...Rest title, tags type } } }"
        source.set(.requestReceived, #"{"query":"\#(query)"}"#.utf8)
        let exchange = Example.exchange(
            request: "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n"
        )
        let lines = Example.lines(.request, exchange, source)
        let wanted = [
            "    query Q($id: ID!, $n: Int = 3) {", "      user(id: $id, n: $n) {", "        name",
            "        small: picture(size: 1)", "        posts(first: 3) @include(if: $n) {", "          id",
            "          ... on Draft @skip(if: $x) {", "            note", "          }", "          ...Rest",
            "          title,", "          tags", "          type", "        }", "      }", "    }",
        ]
        let start = lines.firstIndex(of: wanted[0]) ?? 0
        #expect(Array(lines[start...].prefix(wanted.count)) == wanted, "\(lines)")
    }

    @Test func `a failed handshake names the reader's own way to the help on trust`() {
        var exchange = Example.exchange(request: "")
        exchange.record.state = .failed
        exchange.record.failure = ExchangeFailure(
            .clientTLS,
            "The client refused Sluice's certificate. \(ExchangeFailure.howToTrust)"
        )
        let source = BodySource()
        let printed = Example.lines(.overview, exchange, source).joined(separator: "\n")
        #expect(printed.contains("Run `sluice ca export --format trust-help`."))
        let shown = Example.lines(.overview, exchange, source) { $0.wayToTrust = "!" }.joined(separator: "\n")
        #expect(shown.contains("certificate. Press ! for setup commands."))
        #expect(!shown.contains("trust-help"))
    }

    @Test func `a server that was not verified names the way to go on, unless there is no running proxy`() {
        var exchange = Example.exchange(request: "")
        exchange.record.state = .failed
        let option = ExchangeFailure.skippingVerification(of: "h.example")
        let failure = ExchangeFailure(.tls, "The certificate is self-signed. Trust it, or go on with \(option).")
        #expect(failure.unverifiedHost == "h.example")
        #expect(ExchangeFailure(.reset, failure.message).unverifiedHost == nil)
        #expect(ExchangeFailure(.tls, "The server closed the connection.").unverifiedHost == nil)
        exchange.record.failure = failure
        let printed = Example.lines(.overview, exchange).joined(separator: "\n")
        #expect(printed.contains("or go on with `--insecure-host h.example`."))
        let shown = Example.lines(.overview, exchange) { $0.wayToSkip = "ctrl-t" }.joined(separator: "\n")
        #expect(shown.contains("or go on with ctrl-t, which stops verifying it until Sluice ends, or `--insecure-host"))
    }

    @Test func `the wire form has the bytes before decoding, and says how they are coded`() {
        let source = BodySource()
        let coded: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        source.set(.responseReceived, coded)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        let gzip = Example.exchange(response: "\(head)Content-Encoding: gzip\r\n\r\n")
        func body(_ exchange: RecordedExchange, _ form: BodyForm) -> String {
            let lines = Example.lines(.response, exchange, source) { $0.bodyForm = form }
            return lines.drop { !$0.hasPrefix("Body") }.joined(separator: "\n")
        }
        #expect(body(gzip, .hex).contains("68 65 6c 6c  6f") || body(gzip, .hex).contains("68 65 6c 6c 6f"))
        let wire = body(gzip, .wire)
        #expect(wire.hasPrefix("Body  text/plain; 25 B; as on the wire: still gzip"), "\(wire)")
        #expect(wire.contains("1f 8b 08"))
        #expect(body(Example.exchange(response: "\(head)\r\n"), .wire).contains("as on the wire: no content coding"))
    }

    @Test func `raw text shows what cannot be seen, and hex every byte`() {
        let source = BodySource()
        source.set(.responseReceived, "a\u{1B}[31mb\r\nc\u{202E}d\te".utf8)
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        let raw = Example.lines(.response, exchange, source) { $0.bodyForm = .raw }
        #expect(raw.suffix(2) == ["  a^[[31mb^M", "  c<U+202E>d  e"])
        let hex = Example.lines(.response, exchange, source) { $0.bodyForm = .hex }
        #expect(hex.last == "  00000000  61 1b 5b 33 31 6d 62 0d  0a 63 e2 80 ae 64 09 65  a.[31mb..c...d.e")
        func narrow(_ width: Int) -> [String] {
            Example.lines(.response, exchange, source) {
                $0.bodyForm = .hex
                $0.width = width
            }
        }
        #expect(narrow(60).contains("  00000008  0a 63 e2 80 ae 64 09 65  .c...d.e"))
        #expect(narrow(40).contains("  00000008  0a 63 e2 80  .c.."))
    }
}

struct MessageVersionTests {
    @Test func `a head that was only written anew for the other version of HTTP was not changed`() {
        let exchange = Example.exchange { exchange in
            exchange.messages.responseHeadSent = ByteBuffer(
                string: "HTTP/2 200\r\ncontent-type: application/json\r\n\r\n"
            )
        }
        #expect(!Example.lines(.response, exchange).contains { $0.contains("it was changed") })
        let changed = Example.exchange { exchange in
            exchange.messages.responseHeadSent = ByteBuffer(string: "HTTP/2 200\r\nx-new: yes\r\n\r\n")
            exchange.record.flags.insert(.responseChanged)
        }
        #expect(Example.lines(.response, changed).contains { $0.contains("as received; it was changed") })
    }
}
