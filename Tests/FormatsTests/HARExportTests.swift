import Content
import Formats
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("HAR export")
struct HARExportTests {
    private typealias Object = [String: Any]

    @Test("every kind of exchange conforms to HAR 1.2")
    func conforms() throws {
        let source = MemorySource()
        try fill(source)
        let archive = try object(export(source))
        #expect(HARSchema.violations(archive) == [])
        #expect(try entries(archive).count == source.exchanges.count)
    }

    @Test(
        "a URL is the one that was sent",
        arguments: [
            ("/`x`?\"<a>\\^{b}|", "/`x`?\"<a>\\^{b}|"), ("/caf\u{E9}/日本?%zz", "/caf%C3%A9/%E6%97%A5%E6%9C%AC?%zz"),
            ("/\u{202E}\u{9B}", "/%E2%80%AE%C2%9B"), ("/a\u{7F}b", "/a%7Fb"),
        ]
    )
    func sentURL(target: String, url: String) throws {
        let source = MemorySource()
        try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\n\r\n")
        let entry = try #require(entries(object(export(source))).first)
        #expect((entry["request"] as? Object)?["url"] as? String == "http://h\(url)")
    }

    @Test("bytes of a target that are no UTF-8 are percent-encoded as they are")
    func latin1URL() throws {
        let source = MemorySource()
        let head = Array("GET /caf".utf8) + [0xE9] + Array(" HTTP/1.1\r\n\r\n".utf8)
        try source.add("http://h/caf\u{E9}", requestBytes: head)
        let entry = try #require(entries(object(export(source))).first)
        #expect((entry["request"] as? Object)?["url"] as? String == "http://h/caf%E9")
    }

    @Test("the schema check finds what is wrong")
    func schemaCheck() {
        let wrong: Object = ["log": ["version": 1.2, "creator": ["name": "x"], "entries": [["time": "1"]]] as Object]
        let violations = HARSchema.violations(wrong)
        #expect(violations.contains(".log.version: no string"))
        #expect(violations.contains(".log.creator.version: missing"))
        #expect(violations.contains(".log.entries[0].time: no number"))
    }

    @Test("an empty session is a valid archive")
    func empty() throws {
        let archive = try object(export(MemorySource()))
        #expect(HARSchema.violations(archive) == [])
    }

    @Test("a compressed JSON answer is text, with its sizes")
    func compressed() throws {
        let source = MemorySource()
        let plain = String(repeating: "{\"é\\n\":\"\u{1F600}\"}", count: 5000)
        let encoded = try ContentEncoder.encode(ByteBuffer(string: plain), coding: .gzip)
        try source.add(
            "https://h/a?b=c&d=%20",
            request: "GET /a?b=c&d=%20 HTTP/1.1\r\nHost: h\r\nCookie: a=1; b=\"2\"\r\n\r\n",
            response: "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\ncontent-encoding: gzip\r\n"
                + "Set-Cookie: s=t=u; Path=/; HttpOnly; Secure; SameSite=Lax; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n",
            responseBody: encoded.readableBytesView
        ) {
            $0.record.timings.connect = 1500
            $0.record.timings.tls = 2250
            $0.record.timings.wait = 10_000
        }
        let entry = try #require(entries(object(export(source))).first)
        #expect(entry["startedDateTime"] as? String == "2026-09-21T14:13:20.123456Z")
        #expect(entry["time"] as? Double == 13.75)
        let timings = try #require(entry["timings"] as? [String: Double])
        #expect(
            timings == ["blocked": -1, "dns": -1, "connect": 3.75, "send": 0, "wait": 10, "receive": 0, "ssl": 2.25]
        )
        let request = try #require(entry["request"] as? Object)
        #expect(
            request["queryString"] as? [[String: String]] == [
                ["name": "b", "value": "c"], ["name": "d", "value": " "],
            ]
        )
        #expect(
            request["cookies"] as? [[String: String]] == [
                ["name": "a", "value": "1"], ["name": "b", "value": "\"2\""],
            ]
        )
        let response = try #require(entry["response"] as? Object)
        #expect(response["statusText"] as? String == "Fine")
        let cookie = try #require((response["cookies"] as? [Object])?.first)
        #expect(cookie["value"] as? String == "t=u")
        #expect(cookie["expires"] as? String == "2026-10-21T07:28:00.000000Z")
        #expect(cookie["httpOnly"] as? Bool == true)
        let content = try #require(response["content"] as? Object)
        #expect(content["text"] as? String == plain)
        #expect(content["size"] as? Int == plain.utf8.count)
        #expect(content["compression"] as? Int == plain.utf8.count - encoded.readableBytes)
        #expect(response["bodySize"] as? Int == encoded.readableBytes)
    }

    @Test(
        "what is asked for, or else what came, is the type that browsers show",
        arguments: [
            ("Sec-Fetch-Dest: document", "text/html", "document"), ("Sec-Fetch-Dest: style", "text/css", "stylesheet"),
            ("Sec-Fetch-Dest: empty", "image/png", "fetch"), ("Accept: */*", "image/png", "image"),
            ("Accept: */*", "application/json", "fetch"), ("Accept: */*", "text/css; charset=utf-8", "stylesheet"),
            ("Sec-Fetch-Dest: empty", "text/event-stream; charset=utf-8", "eventsource"),
        ]
    )
    func resourceType(field: String, contentType: String, expected: String) throws {
        let source = MemorySource()
        try source.add(
            "https://h/a",
            request: "GET /a HTTP/2\r\nhost: h\r\n\(field)\r\n\r\n",
            response: "HTTP/2 200\r\ncontent-type: \(contentType)\r\n\r\n"
        )
        let entry = try #require(entries(object(export(source))).first)
        #expect(entry["_resourceType"] as? String == expected)
        #expect((entry["request"] as? Object)?["httpVersion"] as? String == "HTTP/2.0")
        #expect((entry["response"] as? Object)?["httpVersion"] as? String == "HTTP/2.0")
        let content = (entry["response"] as? Object)?["content"] as? Object
        // Chrome shows no events where the type has parameters.
        #expect(content?["mimeType"] as? String == (expected == "eventsource" ? "text/event-stream" : contentType))
    }

    @Test("the connection is the server's port, as browsers write it; our number is beside it")
    func connection() throws {
        let source = MemorySource()
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.upstream = ConnectionRecord(
                id: ConnectionID(8),
                leg: .upstream,
                openedAt: 0,
                localAddress: "[::1]:50000",
                peerAddress: "[::1]:8443"
            )
        }
        let entry = try #require(entries(object(export(source))).first)
        #expect(entry["serverIPAddress"] as? String == "::1")
        #expect(entry["connection"] as? String == "8443")
        #expect(entry["_connectionId"] as? String == "7")
    }

    @Test("what failed lasted until then: waiting for the server, or before there was one", arguments: [true, false])
    func failedTime(isConnected: Bool) throws {
        let source = MemorySource()
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.failure = ExchangeFailure(.reset, "It was reset.")
            $0.record.timings.send = 1_000
            $0.record.timings.total = 300_000
            $0.record.upstreamConnection = isConnected ? ConnectionID(8) : nil
        }
        let entry = try #require(entries(object(export(source))).first)
        #expect(entry["time"] as? Double == 300)
        let timings = try #require(entry["timings"] as? [String: Double])
        #expect(timings[isConnected ? "wait" : "blocked"] == 299)
    }

    @Test("time is the sum of the phases and the duration: what a throttle added is in receive")
    func deliveryTime() throws {
        let source = MemorySource()
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.timings.wait = 10_000
            $0.record.timings.receive = 2_725_000
            $0.record.timings.total = 4_467_000
        }
        let entry = try #require(entries(object(export(source))).first)
        let timings = try #require(entry["timings"] as? [String: Double])
        #expect(entry["time"] as? Double == 4_467 && timings["receive"] == 4_457 && timings["wait"] == 10)
        #expect((entry["_sluice"] as? [String: Any])?["duration"] as? Double == 4_467)
    }

    @Test("bodies that are no text are base64, in every length")
    func binary() throws {
        let source = MemorySource()
        for count in [1, 2, 3, 4, 262_143, 262_144, 262_145] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 | 0x80) }
            try source.add(
                "http://h/",
                request: "POST / HTTP/1.1\r\nHost: h\r\n\r\n",
                requestBody: bytes,
                response: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n",
                responseBody: bytes
            )
        }
        for (entry, exchange) in zip(try entries(object(export(source))), source.exchanges) {
            let expected = try source.body(of: exchange.record.id, side: .responseSent, offset: 0, limit: .max)
            let content = try #require((entry["response"] as? Object)?["content"] as? Object)
            #expect(content["encoding"] as? String == "base64")
            #expect(Data(base64Encoded: content["text"] as? String ?? "") == Data(expected.readableBytesView))
            let posted = try #require((entry["request"] as? Object)?["postData"] as? Object)
            #expect(posted["_encoding"] as? String == "base64")
            #expect(Data(base64Encoded: posted["text"] as? String ?? "") == Data(expected.readableBytesView))
        }
    }

    @Test("the archive shows what the client saw; the other side is in the extras")
    func bothSides() throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nX: server\r\n\r\n",
            responseBody: Array("from server".utf8)
        ) {
            $0.messages.requestHeadSent = ByteBuffer(string: "GET /other HTTP/1.1\r\nHost: o\r\n\r\n")
            $0.messages.responseHeadSent = ByteBuffer(string: "HTTP/1.1 201 Made\r\nX: stage\r\n\r\n")
            $0.record.flags = [.requestChanged, .responseChanged]
            $0.record.sentURL = RequestURL("http://o/other")
            $0.messages.trace = [TraceEntry(stage: "rewrite", rule: "r1", outcome: .fired, text: "set \"X\"")]
        }
        source.setBody(exchange.record.id, .responseSent, Array("from stage".utf8))
        let entry = try #require(entries(object(export(source))).first)
        let response = try #require(entry["response"] as? Object)
        #expect(response["status"] as? Int == 201)
        #expect((response["content"] as? Object)?["text"] as? String == "from stage")
        #expect((entry["request"] as? Object)?["url"] as? String == "http://h/")
        let extras = try #require(entry["_sluice"] as? Object)
        #expect(extras["sentUrl"] as? String == "http://o/other")
        #expect((extras["requestSent"] as? Object)?["target"] as? String == "/other")
        #expect((extras["responseReceived"] as? Object)?["status"] as? Int == 200)
        #expect((extras["trace"] as? [Object])?.first?["text"] as? String == "set \"X\"")
    }

    @Test("forms have their parameters beside the text")
    func forms() throws {
        let source = MemorySource()
        try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
            requestBody: Array("a=1&b=%C3%A9".utf8)
        )
        try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=X\r\n\r\n",
            requestBody: Array("--X\r\nContent-Disposition: form-data; name=f; filename=g\r\n\r\nabc\r\n--X--".utf8)
        )
        let posts = try entries(object(export(source))).compactMap {
            ($0["request"] as? Object)?["postData"] as? Object
        }
        #expect(
            posts[0]["params"] as? [[String: String]] == [["name": "a", "value": "1"], ["name": "b", "value": "é"]]
        )
        #expect(posts[0]["text"] as? String == "a=1&b=%C3%A9")
        #expect(posts[1]["params"] as? [[String: String]] == [["name": "f", "fileName": "g"]])
    }

    @Test("a body limit cuts at a character and says so")
    func limit() throws {
        let source = MemorySource()
        let text = String(repeating: "é", count: 100)
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n",
            responseBody: Array(text.utf8)
        )
        var options = EntryOptions()
        options.bodyLimit = 51
        let entry = try #require(entries(object(export(source, options))).first)
        let content = try #require((entry["response"] as? Object)?["content"] as? Object)
        #expect(content["text"] as? String == String(repeating: "é", count: 25))
        #expect(content["size"] as? Int == 200)
        #expect(content["comment"] as? String == "Only the beginning of 200 bytes is here.")
    }

    @Test("a long body passes through in pieces")
    func streams() throws {
        let source = MemorySource()
        let body = [UInt8](repeating: 0x22, count: 768 << 10)
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n",
            responseBody: body
        )
        var largest = 0
        var total = 0
        var writer = HARExport(source: source) { bytes in
            largest = max(largest, bytes.readableBytes)
            total += bytes.readableBytes
        }
        for exchange in source.exchanges { try writer.add(exchange) }
        try writer.finish()
        #expect(total > 1_536 << 10)
        #expect(largest < 1 << 20)
        #expect(source.largestRead <= 256 * 1024)
    }

    @Test("Latin-1 text and fields are read, not replaced")
    func latin1() throws {
        let source = MemorySource()
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n",
            responseBody: [0x63, 0x61, 0x66, 0xE9]
        )
        let entry = try #require(entries(object(export(source))).first)
        let content = try #require((entry["response"] as? Object)?["content"] as? Object)
        #expect(content["text"] as? String == "café")
        #expect(content["comment"] as? String == "Converted from windows-1252.")
    }

    private func fill(_ source: MemorySource) throws {
        try source.add(
            "http://h:81/\u{7F}<a>?q=\"",
            request: "GET /x HTTP/1.0\r\nX: \u{1}\u{1F}\u{2028}\\\"\r\n\r\n",
            response: "HTTP/1.1 302 Found\r\nLocation: /y\r\nSet-Cookie: broken\r\nSet-Cookie: a=b; max-age=5\r\n\r\n"
        )
        try source.add("https://h/", request: "CONNECT h:443 HTTP/1.1\r\n\r\n") {
            $0.record.kind = .tunnel
            $0.record.url = RequestURL(scheme: "tunnel", host: "10.0.0.1", port: 443, path: "")
        }
        try source.add("http://h/", request: "garbage") {
            $0.record.kind = .malformed
            $0.record.method = ""
            $0.record.url = RequestURL(scheme: "tunnel", host: "", port: 80, path: "")
            $0.messages.requestHead = nil
        }
        try source.add("https://h/", request: "GET / HTTP/2\r\n:authority: h\r\na: b\r\n\r\n") {
            $0.record.state = .failed
            $0.record.failure = ExchangeFailure(.dns, "no such host \"h\"", hint: "look")
            $0.record.timings.blocked = -5
            var upstream = ConnectionRecord(
                id: ConnectionID(3),
                leg: .upstream,
                openedAt: 5,
                localAddress: "[::1]:5",
                peerAddress: "[::1]:443"
            )
            upstream.tls = TLSDetails(protocolVersion: "TLSv1.3", cipherSuite: "x", verificationFailure: "expired")
            $0.upstream = upstream
        }
    }

    private func export(_ source: MemorySource, _ options: EntryOptions = .init()) throws -> Data {
        var output = Data()
        var writer = HARExport(source: source, options: options) { output.append(contentsOf: $0.readableBytesView) }
        for exchange in source.exchanges { try writer.add(exchange) }
        try writer.finish()
        return output
    }

    private func object(_ data: Data) throws -> Object {
        try #require(JSONSerialization.jsonObject(with: data) as? Object)
    }

    private func entries(_ archive: Object) throws -> [Object] {
        try #require((archive["log"] as? Object)?["entries"] as? [Object])
    }
}
