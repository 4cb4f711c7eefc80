import Content
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("Messages as HTTP/1.1 has them on a wire")
struct RawMessageTests {
    private let source = MemorySource()

    private static func bytes(
        _ part: RawMessage.Part,
        _ exchange: RecordedExchange,
        _ source: any ExchangeSource
    ) throws -> ByteBuffer? {
        guard let message = try RawMessage(part, of: exchange, from: source) else { return nil }
        var output = ByteBuffer()
        try message.write { output.writeImmutableBuffer($0) }
        return output
    }

    private func text(_ part: RawMessage.Part, _ exchange: RecordedExchange) throws -> String? {
        try Self.bytes(part, exchange, source).map { String(buffer: $0) }
    }

    private func masked(_ exchange: RecordedExchange) throws -> (MaskedSource, RecordedExchange) {
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        return (masked, masked.masked(exchange))
    }

    @Test("HTTP/1 is what was recorded, to the byte, odd heads and coded bodies too")
    func recorded() throws {
        let packed = try ContentEncoder.encode(ByteBuffer(string: "hello hello"), codings: [.gzip])
        let (request, response) = (
            "POST http://a.example/x HTTP/1.1\r\nHost:a.example\r\nX-Odd :  v \r\nContent-Length: 3\r\n\r\n",
            "HTTP/1.0 299 Some thing\nContent-Encoding: gzip\nContent-Length: \(packed.readableBytes)\n\n"
        )
        let exchange = try source.add(
            "http://a.example/x",
            request: request,
            requestBody: [0, 255, 10],
            response: response,
            responseBody: packed.readableBytesView
        )
        #expect(try Self.bytes(.request, exchange, source) == ByteBuffer(bytes: Array(request.utf8) + [0, 255, 10]))
        var expected = ByteBuffer(string: response)
        expected.writeImmutableBuffer(packed)
        #expect(try Self.bytes(.response, exchange, source) == expected)
        for part in [RawMessage.Part.requestSent, .interim, .responseReceived] {
            #expect(try text(part, exchange) == nil)
        }
    }

    @Test("What came in chunks is in chunks, with its trailers; what broke off has no end")
    func chunks() throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        let body = String(repeating: "0123456789", count: 30_000)
        func exchange(_ state: ExchangeRecord.State) throws -> RecordedExchange {
            try source.add(
                "http://a.example/",
                request: "GET / HTTP/1.1\r\n\r\n",
                response: head,
                responseBody: Array(body.utf8)
            ) {
                $0.record.state = state
                $0.messages.responseTrailers = ByteBuffer(string: "X-Sum: 7\r\n\r\n")
            }
        }
        let whole = try #require(try text(.response, try exchange(.complete)))
        #expect(whole.hasPrefix(head + "40000\r\n0123456789") && whole.hasSuffix("89\r\n0\r\nX-Sum: 7\r\n\r\n"))
        #expect(whole.contains("\r\n93e0\r\n"))
        let cut = try #require(try text(.response, try exchange(.failed)))
        #expect(cut.hasSuffix("89\r\n") && !cut.contains("X-Sum: 7"))
    }

    @Test("Of HTTP/2 there are start lines of HTTP/1.1, one line of cookies, the standard reason and the length")
    func http2() throws {
        let exchange = try source.add(
            "https://a.example/x",
            request: "POST /x?q=1 HTTP/2\r\nhost: a.example\r\ncookie: a=1\r\ncookie: b=2\r\nx-a: 1\r\n\r\n",
            requestBody: Array("12345".utf8),
            response: "HTTP/2 404\r\nserver: s\r\n\r\n"
        )
        #expect(
            try text(.request, exchange)
                == "POST /x?q=1 HTTP/1.1\r\nhost: a.example\r\ncookie: a=1; b=2\r\nx-a: 1\r\nContent-Length: 5\r\n\r\n12345"
        )
        #expect(try text(.response, exchange) == "HTTP/1.1 404 Not Found\r\nserver: s\r\nContent-Length: 0\r\n\r\n")
        // As archives have it.
        let imported = try source.add(
            "https://a.example:8443/x?q=1",
            request: "GET https://a.example:8443/x?q=1 HTTP/2\r\n:authority: a.example:8443\r\n:path: /x\r\na: 1\r\n"
                + "\r\n",
            response: "HTTP/2 204 \r\n:status: 204\r\nb: 2\r\n\r\n"
        )
        #expect(try text(.request, imported) == "GET /x?q=1 HTTP/1.1\r\na: 1\r\nHost: a.example:8443\r\n\r\n")
        #expect(try text(.response, imported) == "HTTP/1.1 204 No Content\r\nb: 2\r\n\r\n")
        let bare = try source.add("wss://a.example/?b", request: "GET wss://a.example?b HTTP/1.1\r\n\r\n")
        #expect(try text(.request, bare) == "GET /?b HTTP/1.1\r\n\r\n")
        let call = try source.add(
            "https://a.example/rpc",
            request: "HEAD /rpc HTTP/2\r\nhost: a.example\r\n\r\n",
            response: "HTTP/2 200\r\ncontent-length: 12\r\n\r\n"
        )
        #expect(try text(.request, call) == "HEAD /rpc HTTP/1.1\r\nhost: a.example\r\n\r\n")
        #expect(try text(.response, call) == "HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n")
        let bareCall = try source.add(
            "https://a.example/rpc",
            request: "HEAD /rpc HTTP/2\r\nhost: a.example\r\n\r\n",
            response: "HTTP/2 200\r\na: b\r\n\r\n"
        )
        #expect(try text(.response, bareCall) == "HTTP/1.1 200 OK\r\na: b\r\n\r\n")
        let trailed = try source.add(
            "https://a.example/rpc",
            request: "GET /rpc HTTP/2\r\nhost: a.example\r\n\r\n",
            response: "HTTP/2 200\r\ncontent-length: 3\r\n\r\n",
            responseBody: Array("abc".utf8)
        ) { $0.messages.responseTrailers = ByteBuffer(string: "grpc-status: 0\r\n\r\n") }
        #expect(
            try text(.response, trailed)
                == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\ngrpc-status: 0\r\n\r\n"
        )
    }

    @Test("The length is that of the body that is there; of a message that broke off, and without a body, it stays")
    func lengths() throws {
        func response(_ told: Int, _ body: String, _ state: ExchangeRecord.State = .complete) throws -> String? {
            let exchange = try source.add(
                "http://a.example/",
                request: "GET / HTTP/1.1\r\n\r\n",
                response: "HTTP/1.1 200 OK\r\nContent-Length: \(told)\r\nA: b\r\n\r\n",
                responseBody: Array(body.utf8)
            ) { $0.record.state = state }
            return try text(.response, exchange)
        }
        #expect(try response(7, "abc") == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nA: b\r\n\r\nabc")
        #expect(try response(7, "abc", .failed) == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA: b\r\n\r\nabc")
        #expect(try response(7, "") == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA: b\r\n\r\n")
    }

    @Test("What a rule changed is there as it came, too, and interim responses are one file")
    func changed() throws {
        let exchange = try source.add(
            "http://a.example/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
            responseBody: Array("old".utf8)
        ) {
            $0.record.flags = [.requestChanged, .responseChanged, .responseBodyChanged]
            $0.messages.requestHeadSent = ByteBuffer(string: "GET /other HTTP/1.1\r\n\r\n")
            $0.messages.responseHeadSent = ByteBuffer(string: "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n")
            $0.messages.interimHeads = ByteBuffer(string: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")
        }
        source.setBody(exchange.record.id, .responseSent, Array("newer".utf8))
        #expect(try text(.request, exchange) == "GET / HTTP/1.1\r\n\r\n")
        #expect(try text(.requestSent, exchange) == "GET /other HTTP/1.1\r\n\r\n")
        #expect(try text(.responseReceived, exchange) == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
        #expect(try text(.response, exchange) == "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nnewer")
        #expect(try text(.interim, exchange) == "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")
    }

    @Test("Masked: a body with secrets has its coding and its length anew, one without is what was recorded")
    func masking() throws {
        let secret = #"{"password":"hunter-22-abcdef","a":1}"#
        let packed = try ContentEncoder.encode(ByteBuffer(string: secret), codings: [.gzip])
        let plain = try ContentEncoder.encode(ByteBuffer(string: #"{"a":"nothing of note"}"#), codings: [.gzip])
        for (body, hasSecret) in [(packed, true), (plain, false)] {
            let exchange = try source.add(
                "http://a.example/",
                request: "GET / HTTP/1.1\r\nAuthorization: Bearer tok-5f4dcc3b5aa765d6\r\n\r\n",
                response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: \(body.readableBytes)\r\n\r\n",
                responseBody: body.readableBytesView
            )
            let (masked, shown) = try masked(exchange)
            let request = try #require(try Self.bytes(.request, shown, masked))
            #expect(String(buffer: request) == "GET / HTTP/1.1\r\nAuthorization: Bearer sluice-token-1\r\n\r\n")
            var response = try #require(try Self.bytes(.response, shown, masked))
            let head = try #require(StoredHead.response(response))
            let length = try #require(head.fields.value(of: .contentLength).flatMap { Int($0) })
            response.moveReaderIndex(to: response.writerIndex - length)
            #expect((response == body) == !hasSecret)
            let read = String(buffer: ContentDecoder.decode(response, codings: [.gzip], limit: 1 << 20).bytes)
            #expect(read.contains("hunter") == false && read.contains("sluice-password-1") == hasSecret, "\(read)")
            #expect(masked.replacedCount == (hasSecret ? 2 : 1))
        }
    }

    @Test("A body in a coding that nobody knows is masked as it stands, and keeps the field that names it")
    func unknownCoding() throws {
        let exchange = try source.add(
            "http://a.example/",
            request: "PUT / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Encoding: rot13\r\n\r\n",
            requestBody: Array(#"{"password":"hunter-22-abcdef"}"#.utf8)
        )
        let (masked, shown) = try masked(exchange)
        let request = try #require(try Self.bytes(.request, shown, masked)).readableBytesView
        let expected =
            "PUT / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Encoding: rot13\r\nContent-Length: 32\r\n\r\n"
        #expect(String(decoding: request, as: UTF8.self) == expected + #"{"password":"sluice-password-1"}"#)
    }

    @Test("A WebSocket's frames follow its heads; masked, each message is a frame that says as much")
    func webSocket() throws {
        let exchange = try source.add(
            "https://a.example/chat",
            request: "CONNECT /chat HTTP/2\r\nhost: a.example\r\n\r\n",
            requestBody: WebSocketFrame.of(.text, ByteBuffer(string: #"{"token":"s3cr3t-abc-9"}"#), isMasked: true)
                .readableBytesView,
            response: "HTTP/2 200\r\n\r\n",
            responseBody: WebSocketFrame.of(.binary, ByteBuffer(bytes: [1, 2, 3]), isMasked: false).readableBytesView
        ) { $0.record.kind = .webSocket }
        let request = try #require(try text(.request, exchange))
        let start = "GET /chat HTTP/1.1\r\nhost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        #expect(request.hasPrefix(start) && request.hasSuffix("s3cr3t-abc-9\"}"))
        let response = try Self.bytes(.response, exchange, source)
        let expected = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        #expect(response == ByteBuffer(bytes: Array(expected.utf8) + [0x82, 3, 1, 2, 3]))
        let (masked, shown) = try masked(exchange)
        let hidden = try #require(try Self.bytes(.request, shown, masked)).readableBytesView
        #expect(String(decoding: hidden.suffix(26), as: UTF8.self) == #"{"token":"sluice-token-1"}"#)
        #expect(hidden.dropLast(26).suffix(6).elementsEqual([0x81, 0x80 | 26, 0, 0, 0, 0]))
    }
}
