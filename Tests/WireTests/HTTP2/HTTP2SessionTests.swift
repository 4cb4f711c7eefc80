import HTTPModel
import NIOCore
import Testing
import Wire

@Suite("HTTP/2 sessions that talk to each other")
struct HTTP2SessionTests {
    @Test("A request and its response arrive whole, in the text form, in the order of their fields")
    func requestAndResponse() throws {
        let pair = HTTP2Pair()
        let head = RequestHead(
            method: "GET",
            target: "/path?q=1",
            fields: [
                ("Accept", "*/*"), ("Host", "a.example"), ("X-B", " two words "), ("Cookie", "a=1"), ("Cookie", "b=2"),
                ("Connection", "keep-alive"), ("TE", "trailers, deflate;q=0.5"), ("Transfer-Encoding", "chunked"),
                ("Upgrade", "h2c"), ("Proxy-Connection", "close"), ("Keep-Alive", "1"), ("x-empty", ""),
            ]
        )
        let (stream, written) = try pair.client.sendRequest(head, scheme: "https", isEnd: true)
        let text =
            "GET /path?q=1 HTTP/2|host: a.example|accept: */*|x-b: two words|cookie: a=1|cookie: b=2|te: trailers|x-empty: ||"
        #expect(Optional(written).text == text)
        pair.exchange()
        #expect(pair.takeServerEvents() == ["1 request none https \(text)", "1 end"])
        #expect(pair.server.openStreamCount == 1)

        let response = ResponseHead(
            status: 200,
            fields: [("Content-Length", "5"), ("Connection", "close"), ("Set-Cookie", "a"), ("set-cookie", "b")]
        )
        let sent = pair.server.sendResponse(response, on: stream, isEnd: false)
        #expect(Optional(sent).text == "HTTP/2 200|content-length: 5|set-cookie: a|set-cookie: b||")
        pair.server.sendData(ByteBuffer(string: "hello"), on: stream)
        pair.server.sendEnd(nil, on: stream)
        pair.exchange()
        #expect(
            pair.takeClientEvents() == [
                "1 response length(5) HTTP/2 200|content-length: 5|set-cookie: a|set-cookie: b||", "1 data hello",
                "1 end", "1 closed",
            ]
        )
        #expect(pair.takeServerEvents() == ["1 closed"])
        #expect(pair.server.openStreamCount == 0 && pair.client.openStreamCount == 0)
    }

    @Test("Bodies, interim responses and trailers pass in both directions")
    func bodiesAndTrailers() throws {
        let pair = HTTP2Pair()
        let stream = try pair.post("/up", fields: [("TE", "trailers"), ("Expect", "100-continue")])
        #expect(
            pair.takeServerEvents() == [
                "1 request chunked https POST /up HTTP/2|host: a.example|te: trailers|expect: 100-continue||"
            ]
        )
        pair.server.sendInterim(ResponseHead(status: 100), on: stream)
        pair.server.sendInterim(ResponseHead(status: 101), on: stream)
        pair.server.sendInterim(ResponseHead(status: 103, fields: [("Link", "</a.css>")]), on: stream)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 interim HTTP/2 100||", "1 interim HTTP/2 103|link: </a.css>||"])
        pair.client.sendData(ByteBuffer(string: "one "), on: stream)
        pair.client.sendData(ByteBuffer(), on: stream)
        pair.exchange()
        pair.client.sendData(ByteBuffer(string: "two"), on: stream)
        pair.client.sendEnd(FieldSection([("X-Sum", "7"), ("Connection", "x"), ("Digest", "y")]), on: stream)
        pair.client.sendData(ByteBuffer(string: "too late"), on: stream)
        pair.exchange()
        #expect(pair.takeServerEvents() == ["1 data one ", "1 data two", "1 end [x-sum: 7\ndigest: y]"])
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: stream, isEnd: false)
        pair.server.sendEnd(FieldSection([("Grpc-Status", "0")]), on: stream)
        pair.exchange()
        #expect(
            pair.takeClientEvents() == ["1 response chunked HTTP/2 200||", "1 end [grpc-status: 0]", "1 closed"]
        )
        #expect(pair.takeServerEvents() == ["1 closed"])
    }

    @Test("Trailers of which nothing may be sent end the stream all the same")
    func emptyTrailers() throws {
        let pair = HTTP2Pair()
        let stream = try pair.post()
        pair.client.sendEnd(FieldSection([("Connection", "x")]), on: stream)
        pair.exchange()
        #expect(pair.takeServerEvents().last == "1 end")
    }

    @Test("Responses without a body end with their head", arguments: ["HEAD", "GET"])
    func noBody(method: String) throws {
        let pair = HTTP2Pair()
        let head = RequestHead(method: method, target: "/", fields: [("host", "a.example")])
        let (stream, _) = try pair.client.sendRequest(head, scheme: "http", isEnd: true)
        pair.exchange()
        let response = ResponseHead(status: method == "HEAD" ? 200 : 304, fields: [("Content-Length", "500")])
        _ = pair.server.sendResponse(response, on: stream, isEnd: true)
        pair.exchange()
        #expect(
            pair.takeClientEvents() == [
                "1 response none HTTP/2 \(response.status)|content-length: 500||", "1 end", "1 closed",
            ]
        )
    }

    @Test("Targets of every form become the path or the authority that HTTP/2 wants")
    func targets() throws {
        let cases = [
            ("GET", "http://b.example/x?y", "/x?y"), ("GET", "http://b.example", "/"),
            ("GET", "http://b.example?q", "/?q"),
            ("OPTIONS", "*", "*"), ("GET", "/a//b", "/a//b"), ("GET", "odd", "/"),
        ]
        let pair = HTTP2Pair()
        for (method, target, path) in cases {
            let head = RequestHead(method: method, target: target, fields: [("Host", "a.example")])
            let (_, written) = try pair.client.sendRequest(head, scheme: "https", isEnd: true)
            #expect(Optional(written).text == "\(method) \(path) HTTP/2|host: a.example||")
            pair.exchange()
            let events = pair.takeServerEvents()
            #expect(events.first?.hasSuffix("request none https \(Optional(written).text)") == true, "\(events)")
        }
    }

    @Test("A CONNECT opens a tunnel of bytes")
    func connect() throws {
        let pair = HTTP2Pair()
        let head = RequestHead(method: "CONNECT", target: "b.example:443", fields: [("Host", "b.example:443")])
        let (stream, written) = try pair.client.sendRequest(head, scheme: "https", isEnd: false)
        #expect(Optional(written).text == "CONNECT b.example:443 HTTP/2|host: b.example:443||")
        pair.exchange()
        #expect(pair.takeServerEvents() == ["1 request chunked  CONNECT b.example:443 HTTP/2|host: b.example:443||"])
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: stream, isEnd: false)
        pair.server.sendData(ByteBuffer(string: "from"), on: stream)
        pair.client.sendData(ByteBuffer(string: "to"), on: stream)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 response chunked HTTP/2 200||", "1 data from"])
        #expect(pair.takeServerEvents() == ["1 data to"])
    }

    @Test("Extended CONNECT goes through where it is offered, and is refused before it is sent where not")
    func extendedConnect() throws {
        let pair = HTTP2Pair()
        #expect(pair.client.peerOffersExtendedConnect && !pair.server.peerOffersExtendedConnect)
        let fields = [("Host", "a.example"), ("Sec-WebSocket-Version", "13"), ("Upgrade", "websocket")]
        let head = RequestHead(method: "CONNECT", target: "/chat", fields: fields)
        let (stream, written) = try pair.client.sendRequest(
            head,
            scheme: "https",
            connectProtocol: "websocket",
            isEnd: false
        )
        #expect(Optional(written).text == "CONNECT /chat HTTP/2|host: a.example|sec-websocket-version: 13||")
        pair.exchange()
        #expect(
            pair.takeServerEvents() == ["1 request chunked https protocol=websocket \(Optional(written).text)"]
        )
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: stream, isEnd: false)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 response chunked HTTP/2 200||"])

        var settings = HTTP2Settings()
        settings.offersExtendedConnect = false
        let other = HTTP2Pair(server: settings)
        #expect(!other.client.peerOffersExtendedConnect)
        #expect(throws: HTTP2Error.self) {
            try other.client.sendRequest(head, scheme: "https", connectProtocol: "websocket", isEnd: false)
        }
        #expect(other.client.openStreamCount == 0)
    }

    @Test("A host that agrees with the authority is dropped, and one without an authority stays where it is")
    func authority() {
        let session = HTTP2Session(.server)
        let withoutAuthority = HTTP2Frames.pseudo.filter { $0.0 != ":authority" }
        let outcome = HTTP2Outcome(
            of: HTTP2Frames.client { frames in
                frames.request(on: 1, [("a", "b"), ("host", "A.example"), ("cookie", "x=1"), ("cookie", "y=2")])
                frames.head(on: 3, withoutAuthority + [("a", "b"), ("host", "c.example")])
            },
            to: session,
            .byteByByte
        )
        #expect(
            outcome.events == [
                "settings", "1 request none https POST / HTTP/2|host: a.example|a: b|cookie: x=1|cookie: y=2||",
                "1 end",
                "3 request none https POST / HTTP/2|a: b|host: c.example||", "3 end",
            ]
        )
    }

    @Test("White space at the ends of a client's values is received and not sent on")
    func whiteSpace() throws {
        let session = try HTTP2MalformedTests.session(.server)
        let fields = [("x", "\ta b "), ("y", " "), ("z", "ok")]
        session.receive(HTTP2Frames.client { $0.head(HTTP2Frames.pseudo + fields) }, now: .uptimeNanoseconds(1))
        var heads: [RequestHead] = []
        while let event = session.nextEvent() {
            if case .requestHead(_, let head, _, _, _) = event { heads.append(head) }
        }
        let head = try #require(heads.first)
        #expect(head.fields.needsRewriting)
        #expect(head.received.text.hasSuffix("|x: \ta b |y:  |z: ok||"), "\(head.received.text)")
        #expect(head.fields.dropFirst().map(\.value) == ["a b", "", "ok"])
        var sent = ByteBuffer()
        head.write(into: &sent)
        #expect(String(buffer: sent).hasSuffix("\r\nx: a b\r\ny: \r\nz: ok\r\n\r\n"))
    }

    @Test("A server's odd values are kept, and the white space around them is not sent on")
    func leniency() throws {
        let session = try HTTP2MalformedTests.session(.client)
        let outcome = HTTP2Outcome(
            of: HTTP2Frames.server { $0.head([(":status", "200"), ("x", "  a\u{1}b "), ("y", "ok")]) },
            to: session,
            .whole
        )
        #expect(outcome.events.contains("1 response none HTTP/2 200|x:   a\u{1}b |y: ok||"))
    }

    @Test("Heads of up to 256 KiB pass; larger ones are answered with 431, and the connection goes on")
    func headSizes() throws {
        let large = (0..<4).map { ("x-\($0)", String(repeating: "v", count: 60_000)) }
        let pair = HTTP2Pair()
        try pair.get("/large", fields: large)
        #expect(pair.takeServerEvents().map { $0.prefix(14) } == ["1 request none", "1 end"])
        try pair.get("/larger", fields: large + large.prefix(2))
        #expect(pair.takeServerEvents().map { $0.prefix(15) } == ["3 malformed 431", "3 closed"])
        #expect(pair.takeClientEvents() == ["3 response none HTTP/2 431||", "3 end", "3 closed"])
        let many = (0..<1001).map { ("x", "\($0)") }
        let stream = try pair.post("/many", fields: many)
        pair.client.sendData(ByteBuffer(string: "body"), on: stream)
        pair.exchange()
        #expect(pair.takeServerEvents().map { $0.prefix(15) } == ["5 malformed 431", "5 closed"])
        #expect(
            pair.takeClientEvents() == ["5 response none HTTP/2 431||", "5 end", "5 reset NO_ERROR", "5 closed"]
        )
        let next = try pair.get("/next")
        #expect(pair.takeServerEvents().map { $0.prefix(14) } == ["7 request none", "7 end"])
        _ = pair.server.sendResponse(ResponseHead(status: 200, fields: large + large.prefix(2)), on: next, isEnd: true)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["7 reset ENHANCE_YOUR_CALM local", "7 closed"])
        #expect(pair.takeServerEvents() == ["7 closed"])
        let upload = try pair.post("/upload")
        _ = pair.takeServerEvents()
        _ = pair.server.sendResponse(
            ResponseHead(status: 200, fields: large + large.prefix(2)),
            on: upload,
            isEnd: false
        )
        pair.exchange()
        #expect(pair.takeClientEvents() == ["9 reset ENHANCE_YOUR_CALM local", "9 closed"])
        #expect(pair.takeServerEvents() == ["9 reset ENHANCE_YOUR_CALM", "9 closed"])
    }

    @Test("The bytes of a stream are counted with the headers of its frames")
    func wireBytes() {
        let session = HTTP2Session(.server)
        let bytes = HTTP2Frames.client { frames in
            frames.add(.headers, on: 1, block(Array(HTTP2Frames.pseudo.prefix(2))))
            frames.add(
                .continuation,
                flags: HTTP2Frames.endHeaders,
                on: 1,
                block(Array(HTTP2Frames.pseudo.dropFirst(2)))
            )
            frames.add(.data, flags: HTTP2Frames.padded, on: 1, [3] + Array("abc".utf8) + [0, 0, 0])
            frames.add(.windowUpdate, on: 1, big(UInt32(1)))
            frames.data("d")
            frames.head([("t", "1")])
        }
        let head = block(HTTP2Frames.pseudo).count + 2 * 9
        let expected = head + (9 + 7) + (9 + 4) + (9 + 1) + (9 + 5)
        session.receive(bytes, now: .uptimeNanoseconds(1))
        var counted: Int64?
        while let event = session.nextEvent() {
            if case .end(_, _, let wireBytes) = event { counted = wireBytes }
        }
        #expect(counted == Int64(expected))
    }

    @Test("Parts of bodies are slices of what was received")
    func slices() throws {
        let session = HTTP2Session(.server)
        let bytes = HTTP2Frames.client { frames in
            frames.request(isEnd: false)
            frames.data(String(repeating: "a", count: 1000))
        }
        session.receive(bytes, now: .uptimeNanoseconds(1))
        var part = ByteBuffer()
        while let event = session.nextEvent() {
            if case .data(_, let bytes) = event { part = bytes }
        }
        let input = bytes.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let start = part.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(part.readableBytes == 1000 && start == input + UInt(bytes.readableBytes - 1000))
    }

    @Test("A session is freed with its owner's last reference, whatever it has open")
    func lifetime() throws {
        weak var client: HTTP2Session?
        weak var server: HTTP2Session?
        do {
            let pair = HTTP2Pair()
            client = pair.client
            server = pair.server
            let stream = try pair.post()
            pair.client.sendData(ByteBuffer(repeating: 0, count: 1 << 20), on: stream)
            pair.exchange()
        }
        #expect(client == nil && server == nil)
    }
}

extension FieldSection {
    /// A section of these fields.
    init(_ fields: [(String, String)]) {
        self.init()
        for (name, value) in fields { append(name, value) }
    }
}
