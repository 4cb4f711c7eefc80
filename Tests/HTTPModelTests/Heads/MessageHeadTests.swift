import HTTPModel
import NIOCore
import Testing

/// Heads of both kinds: composed, read back from what a session keeps, and edited.
@Suite struct RequestHeadTests {
    private let text = "PATCH http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\nX:1\r\n\r\n"

    private func head() throws -> RequestHead {
        try #require(StoredHead.request(ByteBuffer(string: text)))
    }

    @Test("a stored head reads back and writes out as it was")
    func stored() throws {
        let head = try head()
        #expect(head.method == "PATCH")
        #expect(head.target == "http://a.example/x?y")
        #expect(head.version == .http11)
        #expect(head.fields.count == 2)
        #expect(String(buffer: head.serialized()) == text)
        #expect(head.received.map { String(buffer: $0) } == text)
    }

    @Test("method, target and version can be changed, and fields stay as they were")
    func edits() throws {
        var head = try head()
        head.method = "PUT"
        head.target = "/ü"
        head.version = .http10
        #expect(head.isChanged)
        #expect(String(buffer: head.serialized()) == "PUT /ü HTTP/1.0\r\nHost: a.example\r\nX:1\r\n\r\n")
        #expect(head.received.map { String(buffer: $0) } == text)
    }

    @Test(
        "absolute form becomes origin form, byte for byte, and its authority is told",
        arguments: [
            ("GET", "http://a.example/x?y", "/x?y", "a.example"), ("GET", "http://a.example", "/", "a.example"),
            ("GET", "http://a.example:81?q=%2f", "/?q=%2f", "a.example:81"), ("OPTIONS", "http://a", "*", "a"),
            ("GET", "http://a.example#part", "/#part", "a.example"), ("GET", "/http://b/", "/http://b/", ""),
            ("CONNECT", "a.example:443", "a.example:443", ""), ("OPTIONS", "*", "*", ""), ("GET", "", "", ""),
        ]
    )
    func originForm(method: String, target: String, origin: String, authority: String) {
        var head = RequestHead(method: method, target: target, fields: [("Host", "z")])
        #expect(head.originTarget.elementsEqual(origin.utf8))
        let named = head.makeOriginForm()
        #expect(String(decoding: named, as: UTF8.self) == authority)
        #expect(head.target == origin)
    }

    @Test("a composed head has no received bytes")
    func composed() {
        let head = RequestHead(method: "GET", target: "/", fields: [("Host", "a"), ("X", "")])
        #expect(head.received == nil)
        #expect(String(buffer: head.serialized()) == "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n")
    }

    @Test("a head is found in a buffer that was read from")
    func movedReader() throws {
        var buffer = ByteBuffer(string: "junk" + text)
        buffer.moveReaderIndex(forwardBy: 4)
        let head = try #require(StoredHead.request(buffer))
        #expect(head.method == "PATCH")
        #expect(head.fields.value(of: "x") == "1")
    }

    @Test("a section that must be rewritten makes the head write itself anew")
    func rewriting() throws {
        let head = try #require(StoredHead.request(ByteBuffer(string: "GET / HTTP/1.1\nA:b\n\n")))
        #expect(String(buffer: head.serialized()) == "GET / HTTP/1.1\r\nA: b\r\n\r\n")
    }

    @Test("bytes without a request line are no head", arguments: ["", "\r\n", "GET\r\n"])
    func noHead(text: String) {
        #expect(StoredHead.request(ByteBuffer(string: text)) == nil)
    }
}

@Suite struct ResponseHeadTests {
    @Test("a stored head reads back and writes out as it was")
    func stored() throws {
        let text = "HTTP/1.0 299  Odd \r\nA:b\r\n\r\n"
        let head = try #require(StoredHead.response(ByteBuffer(string: text)))
        #expect(head.status == 299)
        #expect(head.reason == " Odd ")
        #expect(head.version == .http10)
        #expect(String(buffer: head.serialized()) == text)
    }

    @Test("status and reason can be changed, and fields stay as they were")
    func edits() throws {
        var head = try #require(StoredHead.response(ByteBuffer(string: "HTTP/1.1 200 OK\r\nA:b\r\n\r\n")))
        head.status = 418
        head.reason = "I'm a teapot"
        #expect(String(buffer: head.serialized()) == "HTTP/1.1 418 I'm a teapot\r\nA:b\r\n\r\n")
    }

    @Test("a composed head has the standard reason")
    func composed() {
        let head = ResponseHead(status: 404, fields: [("Content-Length", "0")])
        #expect(String(buffer: head.serialized()) == "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        #expect(ResponseHead.standardReason(299) == "")
        #expect(ResponseHead(status: 100).isInformational)
        #expect(!head.isInformational)
    }

    @Test("a status line without a reason reads back", arguments: ["HTTP/1.1 204\r\n\r\n", "HTTP/1.1 204 \r\n\r\n"])
    func noReason(text: String) throws {
        let head = try #require(StoredHead.response(ByteBuffer(string: text)))
        #expect(head.status == 204)
        #expect(head.reason == "")
    }

    @Test("bytes without a status are no head", arguments: ["", "HTTP/1.1\r\n", "HTTP/1.1 x OK\r\n"])
    func noHead(text: String) {
        #expect(StoredHead.response(ByteBuffer(string: text)) == nil)
    }
}

@Suite struct StoredHeadTests {
    @Test("a folded line belongs to the field before it, also with a colon in it")
    func folding() throws {
        let text = "HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\nE: f\r\n\r\n"
        let head = try #require(StoredHead.response(ByteBuffer(string: text)))
        #expect(head.fields.map { "\($0.name): \($0.value)" } == ["A: b   c: d", "E: f"])
    }

    @Test("the fields of a stored head are read without its start line, and its version where that has one")
    func afterStartLine() {
        func names(_ text: String) -> [String] {
            StoredHead.fieldsAfterStartLine(ByteBuffer(string: text)).map(\.name.description)
        }
        #expect(names("GET http://a:80/ HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n") == ["A", "B"])
        #expect(names("HTTP/1.1 200 OK\nA: 1\n") == ["A"])
        #expect(names("HTTP/1.1 200 OK") == [] && names("") == [])
        var moved = ByteBuffer(string: "xxHTTP/1.1 200 OK\r\nA: 1\r\n\r\n")
        moved.moveReaderIndex(forwardBy: 2)
        #expect(StoredHead.fieldsAfterStartLine(moved).count == 1)
        for (version, text) in [(HTTPVersion.http11, "HTTP/1.1"), (.http10, "HTTP/1.0"), (.http2, "HTTP/2")] {
            #expect(StoredHead.request(ByteBuffer(string: "GET / \(text)\r\n\r\n"))?.version == version)
            #expect(StoredHead.response(ByteBuffer(string: "\(text) 200\r\n\r\n"))?.version == version)
        }
    }

    @Test("pseudo-headers of HTTP/2 keep their colon")
    func pseudoHeaders() {
        let fields = StoredHead.fields(ByteBuffer(string: ":method: GET\r\nx: 1\r\n"))
        #expect(fields.map(\.name) == [":method", "x"])
    }

    @Test("any bytes give an answer", arguments: [UInt64(1), 2, 3, 4, 5])
    func anyBytes(seed: UInt64) {
        var state = seed
        for _ in 0..<2_000 {
            var bytes: [UInt8] = []
            for _ in 0..<30 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(Array("GET: /\r\n 1HTP.\t".utf8)[Int(state >> 60) % 15])
            }
            let buffer = ByteBuffer(bytes: bytes)
            _ = StoredHead.request(buffer)?.serialized()
            _ = StoredHead.response(buffer)?.serialized()
            #expect(StoredHead.fields(buffer).count <= 30)
        }
    }
}
