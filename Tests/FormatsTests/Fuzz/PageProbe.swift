import Content
import Description
import Formats
import HTTPModel
import NIOCore
import Support

/// Shows hostile exchanges on each page of the console, and exports them: numbers at the ends of what a session may hold, and
/// arbitrary heads and bodies.
enum PageProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        var options = DetailOptions(page: input.choose(DetailPage.allCases))
        options.bodyForm = input.choose([.pretty, .pretty, .raw, .hex])
        options.version = input.choose(MessageVersion.allCases)
        options.width = input.choose([80, 20, 200])
        options.bodyLimit = input.choose([1 << 20, 10, 1_000])
        options.isUnicode = input.number(below: 4) > 0
        options.isLive = input.number(below: 2) == 0
        options.firstMessage = input.choose([0, 0, 1, 100])
        let exchange = exchange(&input)
        let source = HostileSource(exchange, input.bytes, &input)
        let builder = DetailBuilder(exchange, source: source, now: RecordedRange.moments.upperBound)
        for page in [options.page] + builder.pages {
            options.page = page
            try check(builder.document(options))
        }
        let other = PageProbe.exchange(&input)
        try check(Comparison.document(exchange, other, source: source, bodyLimit: options.bodyLimit))
        try export(exchange, source)
    }

    private static func check(_ document: DetailDocument) throws {
        try demand(document.lines.count <= 60_100, "there are \(document.lines.count) lines")
        for line in document.lines {
            for span in line.spans {
                let isClean = span.text.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
                }
                try demand(isClean, "a line drives the terminal: \(span.text.debugDescription.prefix(200))")
            }
        }
        _ = document.folded(document.initialFolds)
    }

    private static func export(_ exchange: RecordedExchange, _ source: HostileSource) throws {
        var archive = HARExport(source: source) { _ in }
        try archive.add(exchange)
        try archive.finish()
        var objects = JSONExport(source: source) { _ in }
        try objects.add(exchange)
        try objects.finish()
        _ = ExchangeReport.text(exchange, source: source)
    }

    // MARK: - Exchanges

    private static let types = [
        "", "application/json", "text/html", "application/xml", "text/css", "application/javascript", "text/plain",
        "image/png", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "application/grpc",
        "application/grpc-web-text", "text/event-stream", "application/x-ndjson", "application/protobuf",
        "application/graphql", "text/plain; charset=utf-16",
    ]

    private static func exchange(_ input: inout FuzzInput) -> RecordedExchange {
        func amount(_ input: inout FuzzInput) -> Int64 {
            min(max(input.choose(HostileNumbers.whole), 0), RecordedRange.amounts.upperBound)
        }
        func moment(_ input: inout FuzzInput) -> Int64 {
            let (least, most) = (RecordedRange.moments.lowerBound, RecordedRange.moments.upperBound)
            return min(max(input.choose(HostileNumbers.whole), least), most)
        }
        var record = ExchangeRecord(
            id: ExchangeID(max(1, amount(&input))),
            kind: input.choose([.http, .http, .http] + ExchangeRecord.Kind.allCases),
            startedAt: moment(&input),
            method: "GET",
            url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/a", query: "b=1"),
            clientConnection: ConnectionID(1)
        )
        record.state = input.choose(ExchangeRecord.State.allCases)
        record.status = input.choose([200, 0, 999, 101])
        record.flags = ExchangeRecord.Flags(rawValue: UInt32(input.decide()) << 8 | UInt32(input.decide()))
        record.sizes.requestHead = amount(&input)
        record.sizes.requestBody = amount(&input)
        record.sizes.responseHead = amount(&input)
        record.sizes.responseBody = amount(&input)
        record.sizes.responseWire = amount(&input)
        record.tally.fromClient = amount(&input)
        record.tally.fromServer = amount(&input)
        if input.number(below: 4) == 0 {
            record.grpc = GRPCOutcome(status: Int(moment(&input)), message: "m\u{1B}[31m")
        }
        if input.number(below: 4) == 0 { record.failure = ExchangeFailure(.reset, "f\u{9B}") }
        (record.timings.blocked, record.timings.dns, record.timings.connect) = (
            amount(&input), amount(&input), amount(&input)
        )
        (record.timings.tls, record.timings.wait, record.timings.total) = (
            amount(&input), amount(&input), amount(&input)
        )
        var messages = ExchangeMessages()
        let (type, coding) = (input.choose(types), input.choose(["", "", "gzip", "br, zstd", "x"]))
        let fields =
            (type.isEmpty ? "" : "Content-Type: \(type)\r\n")
            + (coding.isEmpty ? "" : "Content-Encoding: \(coding)\r\n")
        messages.requestHead = ByteBuffer(
            string: "POST /a?b=1 HTTP/1.1\r\nHost: a.example\r\nCookie: a=b\r\n\(fields)\r\n"
        )
        messages.responseHead = ByteBuffer(
            string: "HTTP/1.1 200 OK\r\n\(fields)Set-Cookie: a=b; Max-Age=9223372036854775807\r\n\r\n"
        )
        switch input.number(below: 5) {
        case 0: messages.responseHead = ByteBuffer(bytes: input.bytes)
        case 1: messages.responseTrailers = ByteBuffer(bytes: input.bytes)
        case 2: messages.responseHeadSent = ByteBuffer(bytes: input.bytes)
        default: break
        }
        if input.number(below: 4) == 0 { messages.requestHeadSent = messages.responseHead }
        messages.trace = [TraceEntry(stage: "rewrite\u{7}", rule: "r", outcome: .fired, text: "t\u{202E}")]
        var exchange = RecordedExchange(record: record, messages: messages)
        if input.number(below: 3) == 0 { exchange.upstream = connection(moment(&input), amount(&input)) }
        return exchange
    }

    private static func connection(_ moment: Int64, _ amount: Int64) -> ConnectionRecord {
        var connection = ConnectionRecord(
            id: ConnectionID(1),
            leg: .upstream,
            openedAt: moment,
            localAddress: "127.0.0.1:1",
            peerAddress: "[::1]:2"
        )
        (connection.dns, connection.connect, connection.handshake) = (amount, amount, amount)
        let certificate = CertificateSummary(
            subject: "CN=a",
            issuer: "CN=b",
            alternativeNames: [],
            notBefore: moment &* 1_024,
            notAfter: amount &* -1_024,
            fingerprint: "ff"
        )
        connection.tls = TLSDetails(protocolVersion: "TLSv1.3", cipherSuite: "x", peerCertificates: [certificate])
        return connection
    }
}

/// One body on each side, which came at moments at the ends of what a session may hold.
private struct HostileSource: ExchangeSource {
    private let body: ByteBuffer
    private let times: [Arrival]

    init(_ exchange: RecordedExchange, _ bytes: [UInt8], _ input: inout FuzzInput) {
        let codings = exchange.messages.responseHead.map { StoredHead.fields($0) }?.combinedValue(of: .contentEncoding)
        let isCoded = input.number(below: 2) == 0
        let coded = codings.flatMap {
            try? ContentEncoder.encode(ByteBuffer(bytes: bytes), codings: ContentCoding.list($0))
        }
        body = isCoded ? coded ?? ByteBuffer(bytes: bytes) : ByteBuffer(bytes: bytes)
        let (least, most) = (RecordedRange.moments.lowerBound, RecordedRange.moments.upperBound)
        times =
            input.number(below: 2) == 0
            ? [] : [Arrival(offset: 0, at: least), Arrival(offset: 3, at: most), Arrival(offset: 1 << 53, at: 0)]
    }

    func exchange(_ id: ExchangeID) -> RecordedExchange? { nil }

    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
        let start = min(Int(offset), body.readableBytes)
        return body.getSlice(at: body.readerIndex + start, length: min(limit, body.readableBytes - start))
            ?? ByteBuffer()
    }

    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) -> [Arrival] {
        Array(times[(times.lastIndex { $0.offset <= offset } ?? 0)...].prefix(limit))
    }
}

/// Bodies for the fuzzer's corpus.
enum PageSeeds {
    private static let bodies = [
        #"{"a": [1, -2.5e9, true, null, {"b": "\u00e4\ud83d\ude00"}], "query": "{ a }"}"#,
        "<!doctype html><html><head><style>a{b:c}</style></head><body><p>x &amp; y<br></body></html>",
        "a { color: red; } @media x { b { c: url(d) } }", "function f(a) { return `x${a}` /* y */ } // z",
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\nContent-Type: image/png\r\n\r\n\u{89}PNG\r\n--b--\r\n",
        "a=b&c=%20d&e", "data: {\"a\":1}\n\nid: 2\nevent: x\ndata: y\n\n", "{\"a\":1}\n[2]\n3\n",
        "query Q($a: Int) { b(c: $a) { d } }",
        "\u{0}\u{0}\u{0}\u{0}\u{2}\u{8}\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}", "AAAAAAIIAQ==gAAAAAxncnBjLXN0YXR1czogMA==",
        "\u{1B}]52;c;eA==\u{7}\u{9B}31m\u{202E}x\r\n\ttab",
    ]

    static let all: [[UInt8]] = bodies.enumerated().flatMap { index, body in
        (0..<6).map { round in
            let decisions = (0..<40).map { UInt8(truncatingIfNeeded: (index &* 41 &+ round &* 97) &* ($0 &+ 3)) }
            return FuzzInput.made(Array(body.utf8), decisions)
        }
    }
}
