import Content
import Formats
import HTTPModel
import NIOCore
import Support

/// Reads arbitrary bytes as the exchanges of another program's file, and exports what they become.
///
/// The same comes of them whole and in pieces, in the ranges that a session has; and a HAR that is written of them has them
/// all.
enum EntryProbe {
    enum Format: CaseIterable { case har, charlesJSON, charlesXML, mitmproxy, curl }

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let format = input.choose(Format.allCases)
        let whole = read(format, [input.bytes])
        if format != .curl {
            let parts = read(format, input.pieces(of: input.bytes))
            try demand(whole == parts, "\(format): other exchanges come of it in pieces")
        }
        for record in whole.exchanges.map(\.record) { try check(record) }
        try export(whole)
    }

    // MARK: - Reading

    /// What came of a file.
    struct Outcome: ExchangeSource, Equatable {
        struct Key: Hashable {
            var id: ExchangeID
            var side: BodySide
        }

        struct Exchange: Equatable {
            var record: ExchangeRecord
            var messages: ExchangeMessages
        }

        var exchanges: [Exchange] = []
        var bodies: [Key: ByteBuffer] = [:]
        var times: [Key: [Arrival]] = [:]
        var error = ""
        var losses: [String] = []

        func exchange(_ id: ExchangeID) -> RecordedExchange? {
            exchanges.first { $0.record.id == id }.map { RecordedExchange(record: $0.record, messages: $0.messages) }
        }

        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
            let body = bodies[Key(id: id, side: side.isRequest ? .requestReceived : .responseReceived)] ?? ByteBuffer()
            let start = Int(min(max(0, offset), Int64(body.readableBytes)))
            return body.getSlice(at: body.readerIndex + start, length: min(limit, body.readableBytes - start))
                ?? ByteBuffer()
        }

        func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) -> [Arrival] {
            let all = times[Key(id: id, side: side.isRequest ? .requestReceived : .responseReceived)] ?? []
            return Array(all[(all.lastIndex { $0.offset <= offset } ?? 0)...].prefix(limit))
        }

        fileprivate mutating func take(_ event: RecordEvent) {
            switch event {
            case .connection, .progress, .updated, .identified: break
            case .opened(let record, let messages), .finished(let record, let messages):
                let exchange = Exchange(record: record, messages: messages)
                if exchanges.last?.record.id == record.id { exchanges.removeLast() }
                exchanges.append(exchange)
            case .body(let id, let side, let bytes):
                bodies[Key(id: id, side: side), default: ByteBuffer()].writeImmutableBuffer(bytes)
            case .arrival(let id, let side, let offset, let at):
                times[Key(id: id, side: side), default: []].append(Arrival(offset: offset, at: at))
            }
        }
    }

    /// Reads a file in pieces, with a limit of texts that is short enough to be reached.
    static func read(_ format: Format, _ pieces: [[UInt8]], textLimit: Int = 2_000) -> Outcome {
        var rest = pieces[...]
        let refill = { rest.popFirst() ?? [] }
        let losses = ArchiveLosses()
        var reader: any ArchiveReader =
            switch format {
            case .har: HARReader(textLimit: textLimit, losses: losses, refill: refill)
            case .charlesJSON: CharlesJSONReader(textLimit: textLimit, losses: losses, refill: refill)
            case .charlesXML: CharlesXMLReader(textLimit: textLimit, losses: losses, refill: refill)
            case .mitmproxy: MitmproxyReader(losses: losses, refill: refill)
            case .curl: CurlFileReader(pieces.flatMap(\.self), at: 1_790_000_000_000_000, losses: losses)
            }
        var outcome = Outcome()
        var recording = ArchiveRecording()
        let take = { (entry: ArchiveEntry) in
            for event in recording.events(entry) { outcome.take(event) }
        }
        do {
            try reader.forEach(take)
        } catch {
            outcome.error = "\(error)"
        }
        outcome.losses = losses.phrases
        return outcome
    }

    // MARK: - What holds

    private static func check(_ record: ExchangeRecord) throws {
        try demand(RecordedRange.moments.contains(record.startedAt), "began at \(record.startedAt)")
        try demand((0...999).contains(record.status), "status \(record.status)")
        let (sizes, timings) = (record.sizes, record.timings)
        let amounts = [
            sizes.requestHead, sizes.requestBody, sizes.requestWire, sizes.responseHead, sizes.responseBody,
            sizes.responseWire,
        ]
        let times = [
            timings.blocked, timings.dns, timings.connect, timings.tls, timings.send, timings.wait, timings.receive,
            timings.total,
        ]
        for amount in amounts + times.compactMap(\.self) {
            try demand(RecordedRange.amounts.contains(amount), "\(amount) is no amount: \(sizes) \(timings)")
        }
        let isLine = ![record.method, record.url.description].contains { text in
            text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
        }
        try demand(isLine, "a method or URL of several lines: \(record.method.debugDescription) \(record.url)")
    }

    private static func export(_ outcome: Outcome) throws {
        var har: [UInt8] = []
        var sessions: any ExchangeExport = HARExport(source: outcome) { har += $0.readableBytesView }
        var others: [any ExchangeExport] = [
            JSONExport(source: outcome) { _ in },
            CSVExport(source: outcome) { _ in }, CurlExport(source: outcome) { _ in },
            OpenAPIExport(source: outcome, version: "1") { _ in },
            PageExport(source: outcome, facts: SessionFacts()) { _ in },
        ]
        for one in outcome.exchanges {
            let exchange = RecordedExchange(record: one.record, messages: one.messages)
            try sessions.add(exchange)
            for index in others.indices { try others[index].add(exchange) }
            for part in RawMessage.Part.allCases {
                try RawMessage(part, of: exchange, from: outcome)?.write { _ in }
            }
        }
        try sessions.finish()
        for index in others.indices { try others[index].finish() }
        let again = read(.har, [har], textLimit: 64 << 20)
        try demand(again.error.isEmpty, "what we write cannot be read: \(again.error)")
        // A tunnel may have no method, and is a CONNECT when it is read again.
        func methods(_ outcome: Outcome) -> [String] {
            outcome.exchanges.map(\.record.method).map { $0.isEmpty ? "CONNECT" : $0 }
        }
        let (methods, found) = (methods(outcome), methods(again))
        try demand(methods == found, "\(methods) are \(found) when they are read again")
    }

    // MARK: - Seeds

    static var seeds: [[UInt8]] {
        zip(0..., texts).map { FuzzInput.made(Array($1.utf8), [UInt8($0), 3, 5, 8]) }
    }

    /// One for each format, in the order of ``Format``.
    private static let texts = [
        #"""
        {"log": {"version": "1.2", "entries": [{"startedDateTime": "2026-11-21T10:57:03Z", "time": 1.5,
        "serverIPAddress": "10.0.0.1", "connection": "443", "comment": "c", "request": {"method": "POST",
        "url": "https://h.test/a?b=c", "httpVersion": "h2", "headers": [{"name": "a", "value": "b"}],
        "postData": {"mimeType": "text/plain", "text": "x", "_encoding": "base64"}, "bodySize": 1}, "response":
        {"status": 200, "statusText": "OK", "headers": [{"name": "Content-Encoding", "value": "gzip"}],
        "content": {"size": 2, "mimeType": "text/plain", "text": "eA==", "encoding": "base64"}, "_error": "e"},
        "timings": {"blocked": 1, "dns": -1, "connect": 1, "ssl": 1, "send": 1, "wait": 1, "receive": 1},
        "_webSocketMessages": [{"type": "send", "time": 1.5, "opcode": 1, "data": "a"}]}]}}
        """#,
        #"""
        [{"status": "COMPLETE", "method": "POST", "protocolVersion": "HTTP/2.0", "scheme": "https", "host": "h.test",
        "port": null, "actualPort": 443, "path": "/a", "query": "b=c", "tunnel": false, "keptAlive": true,
        "webSocket": false, "remoteAddress": "h.test/10.0.0.1", "clientAddress": "/127.0.0.1", "clientPort": 5,
        "notes": "n", "times": {"start": "2026-11-21T10:57:03.100Z", "end": "2026-11-21T10:57:03.200Z"},
        "durations": {"total": 100, "dns": null, "connect": 1, "ssl": 1, "request": 1, "response": 1, "latency": 1},
        "ssl": {"protocol": "TLSv1.3", "cipherSuite": "X"}, "alpn": {"protocol": "h2"}, "errorMessage": null,
        "request": {"sizes": {"headers": 1, "body": 1}, "header": {"firstLine": "POST /a HTTP/1.1",
        "headers": [{"name": "a", "value": "b"}]}, "body": {"encoding": "base64", "encoded": "eA=="}},
        "response": {"status": 200, "contentEncoding": "gzip", "header": {"headers": []},
        "body": {"text": "x", "decoded": true}}, "_sluice": {"id": 1, "kind": "http", "arrivals": {"request": [[0, 1]]}}}]
        """#,
        #"""
        <?xml version='1.0' encoding='UTF-8' ?><charles-session><transaction status="COMPLETE" method="POST"
        protocolVersion="HTTP/1.1" protocol="https" host="h.test" port="443" actualPort="443" path="/a" query="b=c"
        remoteAddress="h.test/10.0.0.1" clientAddress="/127.0.0.1" startTime="2026-11-21T10:57:03.100Z"
        endTime="2026-11-21T10:57:03.200Z"><request headers="true" body="true" mime-type="text/plain" charset="UTF-8">
        <headers><first-line><![CDATA[POST /a HTTP/1.1]]></first-line><header><name>a</name><value>b&amp;&#65;</value>
        </header></headers><body encoding="base64"><![CDATA[eA==]]></body></request><response status="200"
        content-encoding="gzip"><headers/><body decoded="true">x</body></response></transaction></charles-session>
        """#,
        "267:7:version;2:20#4:type;4:http;2:id;1:i;5:error;0:~7:request;203:4:host;6:h.test;4:port;3:443#6:me"
            + "thod;4:POST,6:scheme;5:https,9:authority;0:,4:path;2:/a,12:http_version;8:HTTP/1.1,7:headers;11:8:1:"
            + "a,1:b,]]7:content;1:x,15:timestamp_start;3:1.5^13:timestamp_end;3:2.5^}}",
        "curl 'https://h.test/a?b=c' -X POST -H 'a: b' --data-raw $'x\\ny' --compressed ;\n"
            + "curl http://h.test/2 -F 'a=b' -u a:b \\\n  -b c=d\nREM x\ncurl ^\"http://h.test/3^\" ^\n -d ^\"x^\"",
    ]
}
