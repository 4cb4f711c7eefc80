import Content
import Description
import Formats
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("JSON export, list lines, reports")
struct ListingTests {
    @Test(
        "lengths of time that grow have the digits that tell them apart",
        arguments: [
            ([500_000, 500_500, 501_000], ["500.0 ms", "500.5 ms", "501.0 ms"]),
            ([99_900, 100_000, 100_100], ["99.9 ms", "100.0 ms", "100.1 ms"]),
            ([1_200_000, 1_205_000], ["1.200 s", "1.205 s"]), ([0, 50_000, 100_000], ["0.0 ms", "50.0 ms", "100 ms"]),
            ([990_000, 1_000_000, 1_010_000, 1_020_000], ["0.99 s", "1.00 s", "1.01 s", "1.02 s"]), ([], []),
        ] as [([Int64], [String])]
    )
    func durations(times: [Int64], texts: [String]) { #expect(Measures.durations(times) == texts) }

    private func sample(_ source: MemorySource) throws -> RecordedExchange {
        try source.add(
            "https://example.com/items?page=1",
            request:
                "POST /items?page=1 HTTP/1.1\r\nHost: example.com\r\nX: \u{1B}[31m\r\nContent-Type: text/plain\r\n\r\n",
            requestBody: Array("one\ttwo\u{1B}[2J\nthree".utf8),
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
            responseBody: Array("{\"a\":[1]}".utf8)
        ) {
            $0.record.mediaType = "application/json"
            $0.record.timings.total = 12_345
            $0.record.timings.wait = 2_000_000
            $0.record.flags = [.held, .upstreamReused]
            $0.record.failure = ExchangeFailure(.reset, "the server closed", hint: "try again")
            $0.messages.responseHeadSent = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX: y\r\n\r\n")
            $0.messages.requestTrailers = ByteBuffer(string: "T: u\r\n")
            $0.messages.trace = [TraceEntry(stage: "sluice", outcome: .note, text: "alt-svc removed")]
            $0.client = ConnectionRecord(
                id: ConnectionID(7),
                leg: .client,
                openedAt: 0,
                localAddress: "127.0.0.1:1",
                peerAddress: "127.0.0.1:2"
            )
        }
    }

    @Test("the JSON export holds all of an exchange, as array and as lines", arguments: [false, true])
    func json(_ lines: Bool) throws {
        let source = MemorySource()
        let exchange = try sample(source)
        try source.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n")
        var options = EntryOptions()
        options.lines = lines
        var output = Data()
        var export = JSONExport(source: source, options: options) { output.append(contentsOf: $0.readableBytesView) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let objects: [[String: Any]]
        if lines {
            let texts = output.split(separator: 0x0A)
            #expect(texts.count == 2)
            objects = try texts.compactMap { try JSONSerialization.jsonObject(with: $0) as? [String: Any] }
        } else {
            objects = try #require(JSONSerialization.jsonObject(with: output) as? [[String: Any]])
        }
        let first = try #require(objects.first)
        #expect(first["id"] as? Int == 1)
        #expect(first["duration"] as? Double == 12.345)
        #expect(first["flags"] as? [String] == ["upstream-reused", "held"])
        let request = try #require(first["request"] as? [String: Any])
        #expect((request["body"] as? [String: Any])?["text"] as? String == "one\ttwo\u{1B}[2J\nthree")
        #expect((request["trailers"] as? [[String: String]]) == [["name": "T", "value": "u"]])
        let response = try #require(first["response"] as? [String: Any])
        #expect((response["sent"] as? [String: Any])?["status"] as? Int == 200)
        let line = try #require(
            JSONSerialization.jsonObject(with: Data(ExchangeLine.json(exchange.record).utf8)) as? [String: Any]
        )
        for (key, value) in line { #expect(try canonical(first[key] ?? "missing") == canonical(value), "\(key)") }
    }

    private func canonical(_ value: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: [value], options: .sortedKeys)
    }

    @Test("an export of nothing is an empty array")
    func nothing() throws {
        var output = ""
        var export = JSONExport(source: MemorySource()) { output += String(buffer: $0) }
        try export.finish()
        #expect(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [Int] == [])
    }

    @Test("list lines are aligned with their header, and the URL is whole")
    func line() throws {
        let source = MemorySource()
        let exchange = try sample(source)
        let line = ExchangeLine.human(exchange.record)
        let column = try #require(ExchangeLine.header.range(of: "URL")).lowerBound
        #expect(
            line.dropFirst(ExchangeLine.header.distance(from: ExchangeLine.header.startIndex, to: column))
                == "https://example.com/items?page=1  [reset, held]"
        )
        #expect(line.hasPrefix("     1  14:13:20  POST     200"))
        #expect(line.contains("9 B   12.3 ms  json  "))
    }

    @Test("a very long URL makes one whole JSON line")
    func longLine() throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/" + String(repeating: "p", count: 200_000),
            request: "GET / HTTP/1.1\r\n\r\n"
        )
        let text = ExchangeLine.json(exchange.record)
        #expect(!text.contains("\n"))
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect((object?["url"] as? String)?.utf8.count == 200_009)
    }

    @Test("the report shows everything and lets no control character through")
    func report() throws {
        let source = MemorySource()
        let text = ExchangeReport.text(try sample(source), source: source)
        for part in [
            "Exchange 1\n  request         POST https://example.com/items?page=1\n",
            "  failure         reset: the server closed\n",
            "  what to try     try again\n", "Times\n  wait       12.3 ms  until the first byte\n",
            "Rules and remarks\n  · sluice: alt-svc removed\n",
            "Request  unchanged\n  POST /items?page=1 HTTP/1.1\n",
            "Headers  3 lines\n  Host          example.com\n  X             ^[[31m\n",
            "Body  text/plain; 17 B\n  one two^[[2J\n  three\n", "Trailers  1 line\n  T  u\n",
            "Response  unchanged\n", "Response  as sent\n",
            "Body  application/json; 9 B\n  {\n    \"a\": [\n      1\n    ]\n  }\n",
        ] {
            #expect(text.contains(part), "\(part)\nin\n\(text)")
        }
        #expect(!text.contains("\u{1B}"))
    }

    @Test("one body is written raw, decoded, or converted to UTF-8")
    func body() throws {
        let source = MemorySource()
        let japanese = ByteBuffer(bytes: [0x93, 0xFA, 0x96, 0x7B])
        let encoded = try ContentEncoder.encode(japanese, coding: .brotli)
        let fields = "Content-Type: text/plain; charset=Shift_JIS\r\nContent-Encoding: br\r\n\r\n"
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n" + fields,
            responseBody: encoded.readableBytesView
        )
        func written(raw: Bool) throws -> (ByteBuffer, DecodingProblem?) {
            var output = ByteBuffer()
            let problem = try BodyExport.write(exchange, side: .responseSent, from: source, raw: raw) {
                output.writeImmutableBuffer($0)
            }
            return (output, problem)
        }
        #expect(try written(raw: true) == (encoded, nil))
        #expect(try written(raw: false) == (ByteBuffer(string: "日本"), nil))
        source.setBody(exchange.record.id, .responseReceived, encoded.readableBytesView.dropLast(1))
        #expect(try written(raw: false).1?.kind == .truncated)
    }

    @Test("a report of a long or binary body says what it leaves out")
    func longReport() throws {
        let source = MemorySource()
        let long = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n",
            responseBody: [UInt8](repeating: 0x61, count: 5000)
        )
        let text = ExchangeReport.text(long, source: source, bodyLimit: 1000)
        #expect(text.contains("Only the first 1.0 KB of the body are shown (5.0 KB); --body prints it whole."))
        #expect(text.utf8.count < 3000)
        let image = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n",
            responseBody: [0x89, 0x50, 0x4E, 0x47, 0]
        )
        #expect(ExchangeReport.text(image, source: source).contains("PNG image"))
    }
}
