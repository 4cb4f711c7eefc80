import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Clients
@testable import Runner

@Suite("A request that is sent again")
struct ComposedRequestTests {
    private func exchange(
        _ head: String,
        url: String = "http://api.example.com:8080/v1/users?page=1",
        method: String = "POST",
        kind: ExchangeRecord.Kind = .http
    ) throws -> RecordedExchange {
        let url = try #require(RequestURL(url))
        let record = ExchangeRecord(
            id: ExchangeID(7),
            kind: kind,
            startedAt: 0,
            method: method,
            url: url,
            clientConnection: ConnectionID(1)
        )
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: head.replacingOccurrences(of: "\n", with: "\r\n"))
        return RecordedExchange(record: record, messages: messages)
    }

    private func names(_ request: ComposedRequest) -> [String] { request.fields.map { "\($0.name): \($0.value)" } }

    @Test(
        "goes to the target that was sent, in whatever form it came",
        arguments: [
            ("OPTIONS http://h", "*"), ("OPTIONS *", "*"), ("OPTIONS http://h/", "/"), ("GET http://h", "/"),
            ("GET http://h?q", "/?q"), ("GET http://h/hash%23x#frag", "/hash%23x#frag"), ("GET /a#b", "/a#b"),
        ]
    )
    func targets(line: String, target: String) throws {
        let method = String(line.prefix { $0 != " " })
        let recorded = try exchange("\(line) HTTP/1.1\nHost: h\n\n", url: "http://h/", method: method)
        let request = try ComposedRequest(recorded, body: ByteBuffer())
        #expect(request.head.target == target)
        #expect(request.outgoing.head.target == "http://h\(target == "*" ? "" : target)")
    }

    @Test("has what the client sent, without what was for the client's connection only")
    func received() throws {
        let head = """
            POST http://api.example.com:8080/v1/users?page=1 HTTP/1.1
            Host: api.example.com:8080
            connection: X-Hop, keep-alive
            X-Hop: 1
            Proxy-Authorization: Basic c2VjcmV0
            X-Odd:  two  spaces
            Transfer-Encoding: chunked
            Trailer: X-After
            Expect: 100-continue
            Cookie: a=1
            x-odd: again


            """
        let request = try ComposedRequest(exchange(head), body: ByteBuffer(string: "hello"))
        #expect(request.method == "POST")
        #expect(request.url == "http://api.example.com:8080/v1/users?page=1")
        #expect(
            names(request) == [
                "Host: api.example.com:8080", "X-Odd: two  spaces", "Cookie: a=1", "x-odd: again",
            ]
        )
        #expect(String(buffer: request.body) == "hello")
        #expect(
            request.draft == """
                POST http://api.example.com:8080/v1/users?page=1 HTTP/1.1
                Host: api.example.com:8080
                X-Odd: two  spaces
                Cookie: a=1
                x-odd: again

                hello

                """
        )
    }

    @Test("makes HTTP/1.1 of HTTP/2: no pseudo-headers, one Cookie field, a Host")
    func http2() throws {
        let head = "GET /a HTTP/2\n:authority: api.example.com\ncookie: a=1\nx: y\ncookie: b=2\n\n"
        let exchange = try exchange(head, url: "https://api.example.com/a", method: "GET")
        let request = try ComposedRequest(exchange, body: ByteBuffer())
        #expect(request.draft.hasPrefix("GET https://api.example.com/a HTTP/1.1\n"))
        #expect(names(request) == ["cookie: a=1; b=2", "x: y", "Host: api.example.com"])
    }

    @Test("keeps the Cookie lines of HTTP/1.1 apart, as they were recorded")
    func cookies() throws {
        let head = "GET /a HTTP/1.1\nHost: api.example.com\nCookie: a=1\nx: y\nCookie: b=2\n\n"
        let exchange = try exchange(head, url: "http://api.example.com/a", method: "GET")
        let request = try ComposedRequest(exchange, body: ByteBuffer())
        #expect(names(request) == ["Host: api.example.com", "Cookie: a=1", "x: y", "Cookie: b=2"])
    }

    @Test("of a WebSocket is a plain GET, and its frames are no body")
    func webSocket() throws {
        let head = "CONNECT /chat HTTP/2\nhost: api.example.com\n\n"
        let exchange = try exchange(head, url: "wss://api.example.com/chat", method: "GET", kind: .webSocket)
        let request = try ComposedRequest(exchange, body: ByteBuffer(string: "frames"))
        #expect(request.method == "GET" && request.url == "https://api.example.com/chat")
        #expect(request.body.readableBytes == 0)
    }

    @Test("is refused where there was none, or where its body is not whole")
    func refused() throws {
        let tunnel = try exchange("CONNECT a:1 HTTP/1.1\n\n", method: "CONNECT", kind: .tunnel)
        #expect(throws: ControlError.self) { try ComposedRequest(tunnel, body: ByteBuffer()) }
        var cut = try exchange("POST / HTTP/1.1\n\n")
        cut.record.flags.insert(.requestBodyIncomplete)
        #expect(throws: ControlError.self) { try ComposedRequest(cut, body: ByteBuffer()) }
        var headless = try exchange("")
        headless.messages.requestHead = nil
        #expect(throws: ControlError.self) { try ComposedRequest(headless, body: ByteBuffer()) }
    }

    @Test("goes on as it was where its draft was not edited, odd bytes and binary body included")
    func untouched() throws {
        var exchange = try exchange("")
        var head = ByteBuffer(string: "POST /v1/users?page=1 HTTP/1.1\r\nHost: api.example.com:8080\r\nX-Latin: caf")
        head.writeBytes([0xE9, 0x0D, 0x0A, 0x0D, 0x0A])
        exchange.messages.requestHead = head
        let body = ByteBuffer(bytes: [0, 1, 2, 0xFF])
        let request = try ComposedRequest(exchange, body: body)
        #expect(
            request.draft.hasSuffix("\n\n<<a body of 4 bytes that is not UTF-8 text: leave this line to keep it>>\n")
        )
        #expect(try ComposedRequest(draft: request.draft, original: request) == request)
        let edited = request.draft.replacingOccurrences(of: "page=1", with: "page=2")
        let second = try ComposedRequest(draft: edited, original: request)
        #expect(second.url.hasSuffix("?page=2") && second.body == body && second != request)
    }

    @Test("follows its draft: method, place, fields and body")
    func edited() throws {
        let original = try ComposedRequest(
            exchange("POST /v1/users?page=1 HTTP/1.1\nHost: api.example.com:8080\nA: 1\n\n"),
            body: ByteBuffer(string: "old")
        )
        let draft = "# a remark\nPUT https://localhost/new HTTP/1.1\nHost: api.example.com:8080\nB: 2\n\nnew"
        let request = try ComposedRequest(draft: draft, original: original)
        #expect(request.method == "PUT" && request.url == "https://localhost/new")
        #expect(names(request) == ["Host: localhost", "B: 2"])
        #expect(String(buffer: request.body) == "new")
    }

    @Test("can be written from nothing")
    func fresh() throws {
        let request = try ComposedRequest(draft: "GET http://localhost:3000/a?b=é", original: nil)
        #expect(request.url == "http://localhost:3000/a?b=%C3%A9")
        #expect(names(request) == ["Host: localhost:3000"])
        let second = try ComposedRequest(
            draft: "DELETE https://[::1]:8443/x HTTP/1.1\nHost: other\n\n{}",
            original: nil
        )
        #expect(second.url == "https://[::1]:8443/x" && names(second) == ["Host: other"])
        #expect(String(buffer: second.body) == "{}")
    }

    @Test(
        "says in which line a draft is wrong",
        arguments: [
            ("", "line 1"), ("GET", "line 1"), ("GET /only/a/path HTTP/1.1\n\n", "line 1"),
            ("G(T http://a/ HTTP/1.1", "line 1"), ("CONNECT http://a/", "line 1"), ("GET ftp://a/", "line 1"),
            ("# x\nGET http://a/\nno colon\n", "line 3"), ("GET http://a/\nA: 1\nB\u{1}: 2\n", "line 3"),
            ("GET http://a/\nContent-Length: 3\n\nabc", "line 2"),
        ]
    )
    func wrong(draft: String, place: String) {
        let failure = #expect(throws: ControlError.self) { try ComposedRequest(draft: draft, original: nil) }
        #expect(failure?.message.hasPrefix("\(place): ") == true, "\(failure?.message ?? "")")
    }

    @Test(
        "knows which machine is this one",
        arguments: [
            ("localhost", true), ("LOCALHOST", true), ("app.localhost", true), ("127.0.0.1", true),
            ("127.9.9.9", true), ("[::1]", true), ("[0:0:0:0:0:0:0:1]", true), ("[::ffff:127.0.0.1]", true),
            ("127.0.0.1.example.com", false), ("localhost.example.com", false), ("10.0.0.1", false),
            ("[::2]", false), ("example.com", false), ("0.0.0.0", false),
        ]
    )
    func local(host: String, isLocal: Bool) throws {
        let request = try ComposedRequest(draft: "GET http://\(host)/", original: nil)
        let host = try #require(RequestURL(request.url)).host
        #expect(request.isLocal == isLocal)
        #expect(RepeatPlan(times: 101).needsConfirmation(forHost: host) == !isLocal)
        #expect(!RepeatPlan(times: 100).needsConfirmation(forHost: host))
    }
}
