import Content
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("What HARs of other programs have in places of their own comes in, or is told")
struct HAROutsideTests {
    private static let start = #""startedDateTime": "2024-03-12T10:00:00.123Z""#

    /// Reads one entry of these members.
    private func read(
        log: String = "",
        entry: String = start,
        url: String = "https://a.example/x",
        request: String = #""headers": []"#,
        response: String = #""status": 200, "headers": []"#
    ) -> ArchiveFixture {
        let messages = #""request": {"method": "POST", "url": "\#(url)", \#(request)}, "response": {\#(response)}"#
        return ArchiveFixture(bytes: Array(#"{"log": {\#(log) "entries": [{\#(entry), \#(messages)}]}}"#.utf8))
    }

    private func fields(_ fixture: ArchiveFixture, _ side: BodySide) -> [String] {
        fixture.records.first?.messages.fields(of: side).description.split(separator: "\n").map(String.init) ?? []
    }

    @Test("Lines that were joined to one value are fields of their own, and folded lines are one")
    func joinedLines() {
        let cookies = #"a=1; Path=/\nb=2; HttpOnly\r\nc=3"#
        let headers = #"[{"name": "Set-Cookie", "value": "\#(cookies)"}, {"name": "Via", "value": "1.1 a\n  b\n"}]"#
        let fixture = read(response: #""status": 200, "headers": \#(headers)"#)
        #expect(
            fields(fixture, .responseReceived)
                == ["Set-Cookie: a=1; Path=/", "Set-Cookie: b=2; HttpOnly", "Set-Cookie: c=3", "Via: 1.1 a b"]
        )
    }

    @Test("A value that is an array, as Polly writes it, is a field for each")
    func arrays() {
        let headers = #"[{"name": "set-cookie", "value": ["a=1", "b=2"]}]"#
        let fixture = read(response: #""status": 200, "headers": \#(headers)"#)
        #expect(fields(fixture, .responseReceived) == ["set-cookie: a=1", "set-cookie: b=2"] && fixture.losses == [])
    }

    @Test(
        "A form without its text gets one, by its parameters and its length",
        arguments: [
            (
                "application/x-www-form-urlencoded",
                #"[{"name": "a", "value": "HDnY8"}, {"name": "b", "value": "1 2"}]"#, nil, "a=HDnY8&b=1%202"
            ),
            ("application/x-www-form-urlencoded", #"[{"name": "a", "value": "x+y"}]"#, nil, "a=x%2By"),
            ("application/x-www-form-urlencoded", #"[{"name": "a", "value": "x+y"}]"#, 5, "a=x+y"),
            ("application/x-www-form-urlencoded", #"[{"name": "a", "value": "50%25"}]"#, nil, "a=50%25"),
            ("application/x-www-form-urlencoded", #"[{"name": "a", "value": "50% off"}]"#, nil, "a=50%25%20off"),
            ("", #"[{"name": "a", "value": "1"}]"#, nil, "a=1"),
            (
                "multipart/form-data; boundary=XX",
                #"[{"name": "a\"\r\n", "value": "1"}, {"name": "f", "fileName": "x.txt", "contentType": "text/plain", "value": "hi"}]"#,
                nil,
                "--XX\r\nContent-Disposition: form-data; name=\"a%22%0D%0A\"\r\n\r\n1\r\n--XX\r\n"
                    + "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--XX--\r\n"
            ),
        ] as [(String, String, Int?, String)]
    )
    func params(type: String, params: String, length: Int?, body: String) {
        let size = length.map { #", {"name": "Content-Length", "value": "\#($0)"}"# } ?? ""
        let headers = type.isEmpty ? "[]" : #"[{"name": "Content-Type", "value": "\#(type)"}\#(size)]"#
        let fixture = read(
            request:
                #""headers": \#(headers), "bodySize": 20, "postData": {"mimeType": "\#(type)", "params": \#(params)}"#
        )
        #expect(fixture.body(0, .requestReceived) == body)
        #expect(fixture.losses == ["1 form without its text: its body was made of its parameters"])
        #expect(fixture.records.first?.messages.trace.map(\.text).first?.contains("body was made of them") == true)
        #expect(fixture.records.first?.messages.fields(of: .requestReceived).contains(.contentType) == true)
    }

    @Test("A multipart form without a boundary gets one in its head, and a file without content is told")
    func boundary() {
        let post = #""postData": {"mimeType": "multipart/form-data", "params": [{"name": "f", "fileName": "x"}]}"#
        let fixture = read(request: #""headers": [{"name": "content-type", "value": "multipart/form-data"}], \#(post)"#)
        #expect(
            fields(fixture, .requestReceived) == ["content-type: multipart/form-data; boundary=sluice-form-boundary"]
        )
        #expect(fixture.records.first?.record.flags == .requestBodyIncomplete && fixture.losses.count == 2)
    }

    @Test("Cookies without a field, and a query without a URL that has it, come in; what is there already stays")
    func cookies() {
        let request =
            #""headers": [], "cookies": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}], "queryString": [{"name": "q", "value": "x y"}]"#
        let cookie =
            #"{"name": "s", "value": "v", "path": "/", "expires": "2024-03-12T10:00:00.000Z", "httpOnly": true, "secure": false}"#
        let fixture = read(request: request, response: #""status": 200, "headers": [], "cookies": [\#(cookie)]"#)
        #expect(fields(fixture, .requestReceived) == ["Cookie: a=1; b=2"])
        #expect(
            fields(fixture, .responseReceived) == [
                "Set-Cookie: s=v; Path=/; Expires=Tue, 12 Mar 2024 10:00:00 GMT; HttpOnly"
            ]
        )
        #expect(fixture.records.first?.record.url.description == "https://a.example/x?q=x%20y")
        #expect(
            fixture.losses == [
                "1 query outside of its URL: it was added to the URL",
                "2 messages with cookies outside of their headers: header fields were made of them",
            ]
        )
        let there = read(
            url: "https://a.example/x?q=1",
            request:
                #""cookies": [{"name": "a", "value": "1"}], "headers": [{"name": "Cookie", "value": "c=d"}], "queryString": [{"name": "r"}]"#
        )
        #expect(fields(there, .requestReceived) == ["Cookie: c=d"] && there.losses == [])
        #expect(there.records.first?.record.url.query == "q=1")
    }

    @Test("The title of its page is a note of each exchange")
    func pages() {
        let log = #""pages": [{"id": "page_1", "title": "Login"}],"#
        func notes(_ page: String) -> [String] {
            let fixture = read(log: log, entry: #"\#(Self.start), "pageref": "\#(page)""#)
            return fixture.records.first?.messages.trace.map(\.text) ?? []
        }
        #expect(notes("page_1") == ["It belongs to the page 'Login' of the archive."])
        #expect(notes("page_2") == ["It belongs to the page 'page_2' of the archive."] && notes("") == [])
    }

    @Test(
        "The server's port is that of the URL, unless the program is one that writes it",
        arguments: [
            ("WebInspector", "21", "192.0.2.1:443"), ("WebInspector", "443", "192.0.2.1:443"),
            ("Firefox", "8443", "192.0.2.1:8443"), ("Fiddler", "ClientPort:1;EgressPort:2", "192.0.2.1:443"),
        ]
    )
    func ports(creator: String, connection: String, address: String) {
        let fixture = read(
            log: #""creator": {"name": "\#(creator)"},"#,
            entry: #"\#(Self.start), "serverIPAddress": "192.0.2.1", "connection": "\#(connection)""#
        )
        #expect(fixture.records.first?.record.serverAddress == address)
    }

    @Test("Exchanges of different connections to a server are shown on different ones")
    func connections() {
        let entries = ["5", "6", "5"].map {
            #"{\#(Self.start), "serverIPAddress": "192.0.2.1", "connection": "\#($0)", "request": {"method": "GET", "url": "http://h/"}}"#
        }
        let fixture = ArchiveFixture(bytes: Array(#"{"log": {"entries": [\#(entries.joined(separator: ", "))]}}"#.utf8))
        let ids = fixture.records.map(\.record.upstreamConnection)
        #expect(ids.count == 3 && ids[0] == ids[2] && ids[0] != ids[1])
    }

    @Test(
        "Versions by all their names; one that is not known is told",
        arguments: [
            ("h3", .http3, true), ("HTTP/3", .http3, true), ("HTTP/3.0", .http3, true), ("h3-29", .http3, true),
            ("http/2.0+quic/46", .http3, true), ("h2", .http2, true), ("HTTP/2", .http2, true),
            ("2.0", .http2, true), ("2", .http2, true), ("1.0", .http10, true), ("http/1.0", .http10, true),
            ("1.1", .http11, true), ("unknown", .http11, true), ("", .http11, true), ("spdy/3.1", .http11, false),
            ("HTTP/0.9", .http11, false),
        ] as [(String, HTTPVersion, Bool)]
    )
    func versions(text: String, version: HTTPVersion, isKnown: Bool) {
        let fixture = read(request: #""headers": [], "httpVersion": "\#(text)""#)
        #expect(fixture.records.first?.record.clientVersion == version)
        let head = fixture.records.first?.messages.requestHead.flatMap { StoredHead.request($0) }
        #expect(head?.version == version)
        #expect(fixture.losses == (isKnown ? [] : ["1 version '\(text)' that is not known: it is HTTP/1.1 now"]))
    }

    @Test(
        "A content coding that cannot be applied stays in the head, with a note",
        arguments: ["compress", "dcb", "aws-chunked", "UTF-8, gzip"]
    )
    func codings(coding: String) {
        let headers = #"[{"name": "Content-Encoding", "value": "\#(coding)"}]"#
        let content = #""content": {"mimeType": "text/plain", "text": "hello"}"#
        let fixture = read(response: #""status": 200, "headers": \#(headers), \#(content)"#)
        #expect(fields(fixture, .responseReceived) == ["Content-Encoding: \(coding)"])
        #expect(fixture.body(0, .responseReceived) == "hello")
        #expect(fixture.records.first?.messages.trace.count == 1)
        let shown = DecodedContent.shown(ByteBuffer(string: "hello"), codings: ContentCoding.list(coding), limit: 99)
        #expect(shown.bytes == ByteBuffer(string: "hello") && shown.problem?.kind == .notCoded)
    }

    @Test(
        "When it began is read in every form that programs write",
        arguments: [
            (#""2024-03-12T10:00:00.123Z""#, 123_000, nil), (#""2024-03-12T10:00:00.123z""#, 123_000, nil),
            (#""2024-03-12T11:00:00.123+0100""#, 123_000, nil), (#""2024-03-12T11:00:00+01:00""#, 0, nil),
            (#""2024-03-12T09:00:00.1234567-01""#, 123_457, nil), (#""2024-03-12T10:00Z""#, 0, nil),
            (#""2024-03-12T10:00:00,123Z""#, 123_000, nil), (#""1710237600123""#, 123_000, nil),
            ("1710237600123", 123_000, nil), ("1710237600.123", 123_000, nil),
            (#""Tue, 12 Mar 2024 10:00:00 GMT""#, 0, nil),
            (#""2024-03-12 10:00:00.123""#, 123_000, "1 time 'startedDateTime' without a time zone, read as UTC"),
            (#""2024-03-12""#, -36_000_000_000, "1 time 'startedDateTime' without a time zone, read as UTC"),
            (#""2024-03-12T10:00:00.Z""#, nil, "1 time 'startedDateTime' that cannot be read: it is 1970 now"),
            (#""2024-13-12T10:00:00Z""#, nil, "1 time 'startedDateTime' that cannot be read: it is 1970 now"),
            (#""2024-03-12T10:00:00Zx""#, nil, "1 time 'startedDateTime' that cannot be read: it is 1970 now"),
        ] as [(String, Int64?, String?)]
    )
    func starts(text: String, microseconds: Int64?, loss: String?) {
        let fixture = read(entry: #""startedDateTime": \#(text)"#)
        let expected = microseconds.map { 1_710_237_600_000_000 + $0 } ?? 0
        #expect(fixture.records.first?.record.startedAt == expected)
        #expect(fixture.losses == (loss.map { [$0] } ?? []))
    }

    @Test("A time that is missing is told")
    func missingStart() {
        #expect(read(entry: #""time": 5"#).missingTimes == ["1 missing time 'startedDateTime': it is 1970 now"])
    }

    @Test(
        "A URL that cannot be read is the path of a host that does not exist",
        arguments: [("htp:/a b?c=d#e", "/htp:/a%20b?c=d%23e"), ("/v1/\u{E9}", "//v1/%C3%A9"), ("", "/")]
    )
    func unreadable(url: String, path: String) {
        let fixture = read(url: url)
        #expect(fixture.records.first?.record.url.description == "http://unreadable.invalid\(path)")
        #expect(fixture.losses == ["1 URL that cannot be read"])
    }

    @Test("A body that is absent has its size, and that it is incomplete goes out and comes in again")
    func incomplete() throws {
        let source = MemorySource()
        try source.add(
            "http://a.example/",
            request: "POST / HTTP/1.1\r\n\r\n",
            requestBody: Array("half".utf8),
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
            responseBody: []
        )
        var text = ByteBuffer()
        var export = HARExport(source: source, options: EntryOptions()) { text.writeImmutableBuffer($0) }
        for var exchange in source.exchanges {
            exchange.record.flags = [.requestBodyIncomplete, .responseBodyIncomplete]
            (exchange.record.sizes.requestBody, exchange.record.sizes.responseBody) = (9, 308_545)
            try export.add(exchange)
        }
        try export.finish()
        let record = ArchiveFixture(bytes: Array(text.readableBytesView)).records.first?.record
        #expect(record?.flags == [.requestBodyIncomplete, .responseBodyIncomplete])
        #expect(record?.sizes.requestBody == 9 && record?.sizes.responseBody == 308_545)
        let other = read(response: #""status": 200, "bodySize": 50, "content": {"size": 70, "mimeType": "image/png"}"#)
        #expect(other.records.first?.record.sizes.responseBody == 50)
        #expect(other.records.first?.record.flags == .responseBodyIncomplete)
    }

    @Test(
        "What ended an exchange is the client where the archive says so",
        arguments: [
            ("stream reset by client (CANCEL)", ExchangeFailure.Code.clientGone), ("net::ERR_ABORTED", .clientGone),
            ("net::ERR_CONNECTION_REFUSED", .reset), ("stream reset by server (CANCEL)", .reset),
        ]
    )
    func ends(text: String, code: ExchangeFailure.Code) {
        let fixture = read(response: #""status": 0, "_error": "\#(text)""#)
        #expect(fixture.records.first?.record.failure == ExchangeFailure(code, text))
    }

    @Test("A WebSocket's message of an unknown kind is told, and what went wrong is a note")
    func socket() {
        let messages =
            #"[{"type": "send", "time": 1, "opcode": 1, "data": "hi"}, {"type": "receive", "time": 1, "opcode": 999, "data": "x"}, "#
            + #"{"type": "receive", "time": 1, "opcode": 1.5, "data": "x"}, {"type": "receive", "time": 1, "opcode": "1", "data": "y"}, "#
            + #"{"type": "receive", "time": 1, "opcode": -1, "data": "WebSocket is closed"}, {"type": "error", "opcode": 1, "data": "z"}]"#
        let fixture = read(
            entry: #"\#(Self.start), "_webSocketMessages": \#(messages)"#,
            url: "wss://a.example/",
            response: #""status": 101, "headers": []"#
        )
        #expect(fixture.entries.first?.messages.map(\.data) == ["hi", "y"])
        #expect(fixture.losses == ["2 WebSocket messages of kinds that are not known"])
        let notes = ["WebSocket is closed", "z"].map { "The archive says of the WebSocket: \($0)" }
        #expect(fixture.records.first?.messages.trace.map(\.text) == notes)
    }

    @Test("Bodies in files come in by their names, and one that is not there is told")
    func attachments() throws {
        let post = #""postData": {"mimeType": "x/y", "params": [], "_file": "aa.bin"}"#
        let content = #""content": {"size": -1, "mimeType": "text/html", "_file": "bb.html"}"#
        let request = #""request": {"method": "POST", "url": "http://h/", \#(post)}"#
        let text = #"{"log": {"entries": [{\#(Self.start), \#(request), "response": {"status": 200, \#(content)}}]}}"#
        let losses = ArchiveLosses()
        var pieces = [Array(text.utf8)]
        let files: HARReader.Attachments = { $0 == "bb.html" ? Array("<p>".utf8) : nil }
        var reader = HARReader(losses: losses, attachments: files) { pieces.popLast() ?? [] }
        var entries: [ArchiveEntry] = []
        let take: (ArchiveEntry) -> Void = { entries.append($0) }
        try reader.forEach(take)
        #expect(entries.first?.response.bytes == ByteBuffer(string: "<p>") && entries.first?.request.isCut == true)
        #expect(losses.phrases == ["1 body in a file that is not there"])
    }
}
