import Content
import Description
import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@Suite("Messages of streams in reports and exports")
struct StreamTests {
    private static func frame(_ opcode: UInt8, _ payload: [UInt8], first: UInt8 = 0x80, mask: UInt8? = nil) -> [UInt8] {
        let head = [first | opcode, UInt8(payload.count) | (mask == nil ? 0 : 0x80)]
        guard let mask else { return head + payload }
        return head + [mask, mask, mask, mask] + payload.map { $0 ^ mask }
    }

    private static func frame(_ text: String, mask: UInt8? = nil) -> [UInt8] {
        frame(1, Array(text.utf8), mask: mask)
    }

    /// Text of both directions, compressed text, a ping, bytes, and a close, in an order that only the times tell.
    private func webSocket(_ source: MemorySource, state: ExchangeRecord.State = .complete) throws -> RecordedExchange {
        let exchange = try source.add(
            "https://h/chat",
            request: "GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        ) {
            $0.record.kind = .webSocket
            $0.record.state = state
            $0.record.tally.fromClient = 2
            $0.record.tally.fromServer = 2
        }
        source.setStream(
            exchange,
            .requestReceived,
            [
                (1_000, Self.frame("hi \u{1B}[2J", mask: 7) + Self.frame(2, [0, 1, 0x41, 0xFF], mask: 9)),
                (30_000, Self.frame(8, [0x03, 0xE8] + Array("bye".utf8), mask: 1)),
            ]
        )
        source.setStream(
            exchange,
            .responseReceived,
            [
                (2_000, Self.frame(9, Array("you?".utf8)) + [0xC1, 0x07, 0xF2, 0x48, 0xCD]),
                (12_345, [0xC9, 0xC9, 0x07, 0x00]), (20_000, [0x01, 0x02] + Array("on".utf8) + Self.frame(0, [0x65])),
            ]
        )
        return exchange
    }

    @Test("a report shows a WebSocket's messages in the order in which they arrived")
    func webSocketReport() throws {
        let source = MemorySource()
        let text = ExchangeReport.text(try webSocket(source), source: source)
        let start = try #require(text.range(of: "Messages: "))
        #expect(
            text[start.lowerBound...] == """
                Messages: 2 from the client, 2 from the server
                     0.001 s  → to server  text       7 B  hi ^[[2J
                     0.001 s  → to server  binary     4 B  00 01 41 ff  |..A.|
                     0.002 s  ← to client  ping       4 B  79 6f 75 3f  |you?|
                     0.012 s  ← to client  text       5 B  Hello  [deflate, 7 B]
                     0.020 s  ← to client  text       3 B  one  [2 frames of 2 + 1 B]
                     0.030 s  → to server  close      5 B  1000 normal closure: bye

                """
        )
        #expect(!text.contains("Body"))
        #expect(!text.contains("\u{1B}"))
    }

    @Test("an exchange in flight shows what has come so far; a broken one says where it broke")
    func unfinished() throws {
        let source = MemorySource()
        let exchange = try webSocket(source, state: .inFlight)
        source.setStream(exchange, .requestReceived, [(5, Self.frame("a", mask: 1) + [0x81, 0x85, 0, 0, 0, 0, 0x62])])
        source.setStream(exchange, .responseReceived, [(9, Self.frame("b") + [0x83, 0x00])])
        let text = ExchangeReport.text(exchange, source: source)
        #expect(text.contains("Messages: 1 from the client, 1 from the server, so far\n"))
        #expect(text.contains("→ to server  text       1 B  b  [not whole yet]\n"))
        #expect(text.contains("  What follows from the server cannot be read: the opcode 3 is reserved, at byte 3.\n"))
    }

    @Test("without arrivals the client's messages come first, and no time is made up")
    func timeless() throws {
        let source = MemorySource()
        let exchange = try source.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n") { $0.record.kind = .webSocket }
        source.setBody(exchange.record.id, .requestReceived, Self.frame("a", mask: 1) + Self.frame("b", mask: 1))
        source.setBody(exchange.record.id, .responseReceived, Self.frame("c"))
        let timeline = try #require(MessageTimeline(exchange, source: source))
        var texts: [String?] = []
        while let message = try timeline.next() {
            texts.append(message.text)
            #expect(message.arrivedAt == nil)
        }
        #expect(texts == ["a", "b", "c"])
        let report = ExchangeReport.text(exchange, source: source)
        #expect(report.contains("           -  → to server  text       1 B  a\n"))
    }

    private func events(_ source: MemorySource, coding: ContentCoding = .identity) throws -> RecordedExchange {
        let field = coding == .identity ? "" : "Content-Encoding: \(coding)\r\n"
        return try source.add(
            "http://h/events",
            request: "GET /events HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=utf-8\r\n\(field)\r\n"
        )
    }

    @Test("a report shows events with their times, gaps, types and data")
    func eventReport() throws {
        let source = MemorySource()
        let exchange = try events(source)
        let pieces: [(after: Int64, bytes: [UInt8])] = [
            (90_000, Array(": hello\n\n".utf8)), (100_500, Array("data: {\"a\":1}\n".utf8)),
            (103_000, Array("\nevent: level\nid: 7\nretry: 10\ndata: x\ndata: y\n\n".utf8)),
            (2_103_000, Array("data: cut".utf8)),
        ]
        source.setStream(exchange, .responseReceived, pieces)
        let text = ExchangeReport.text(exchange, source: source)
        let start = try #require(text.range(of: "Messages: "))
        #expect(
            text[start.lowerBound...] == """
                Messages: 0 from the client, 2 from the server
                     0.103 s  ← to client             message     7 B  {"a":1}
                     0.103 s  ← to client    +0.0 ms  level      3 B  x⏎y  [id 7; retry 10 ms]
                     2.103 s  ← to client     +2.0 s  message     3 B  cut  [its end is missing]
                  comment lines: 1

                """
        )
        #expect(!text.contains("Body  text"))
    }

    @Test(
        "events under a content coding have the times of the bytes that told them",
        arguments: [ContentCoding.gzip, .brotli]
    )
    func codedEvents(_ coding: ContentCoding) throws {
        let source = MemorySource()
        let exchange = try events(source, coding: coding)
        // Every member of gzip ends at a known byte; brotli is one stream, whole only with its last one.
        var pieces: [(after: Int64, bytes: [UInt8])] = []
        for index in 0..<(coding == .gzip ? 5 : 1) {
            let encoded = try ContentEncoder.encode(ByteBuffer(string: "data: \(index)\n\n"), coding: coding)
            let bytes = Array(encoded.readableBytesView)
            pieces.append((Int64(index) * 1000, Array(bytes.dropLast(5))))
            pieces.append((Int64(index) * 1000 + 10, Array(bytes.suffix(5))))
        }
        source.setStream(exchange, .responseReceived, pieces)
        let timeline = try #require(MessageTimeline(exchange, source: source))
        var found: [(String?, Int64?)] = []
        while let message = try timeline.next() {
            found.append((message.text, message.arrivedAt.map { $0 - exchange.record.startedAt }))
        }
        #expect(found.map(\.0) == (coding == .gzip ? ["0", "1", "2", "3", "4"] : ["0"]))
        #expect(timeline.remarks == [])
        for (index, (_, time)) in found.enumerated() {
            #expect([Int64(index) * 1000, Int64(index) * 1000 + 10].contains(time))
        }
    }

    @Test(
        "events that do not have the content coding of their head are read as they came",
        arguments: [ContentCoding.gzip, .zstd]
    )
    func uncodedEvents(_ coding: ContentCoding) throws {
        let source = MemorySource()
        let exchange = try events(source, coding: coding)
        source.setStream(
            exchange,
            .responseReceived,
            (0..<3).map { (after: $0 * 1_000, bytes: Array("data: number \($0)\n\n".utf8)) }
        )
        let timeline = try #require(MessageTimeline(exchange, source: source))
        var found: [String] = []
        while let message = try timeline.next() {
            found.append("\(message.text ?? "") \((message.arrivedAt ?? 0) - exchange.record.startedAt)")
        }
        #expect(found == ["number 0 0", "number 1 1000", "number 2 2000"])
        #expect(timeline.remarks.count == 1 && timeline.remarks[0].contains("was not decoded: it is not"))
    }

    @Test("of many events the first and the last are shown, and how to see the rest")
    func many() throws {
        let source = MemorySource()
        let exchange = try events(source)
        let pieces = (0..<2345).map { (after: Int64($0) * 1000, bytes: Array("data: n\($0)\n\n".utf8)) }
        source.setStream(exchange, .responseReceived, pieces)
        let text = ExchangeReport.text(exchange, source: source)
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("Messages:") }.map { String($0) }
        #expect(lines.count == 102)
        #expect(lines.first == "Messages: 0 from the client, 2,345 from the server")
        #expect(lines[50].hasSuffix("message     3 B  n49"))
        #expect(lines[50].hasPrefix("     0.049 s"))
        #expect(lines[51] == "  … 2,245 more; `sluice show SESSION 1 --body response` prints all")
        #expect(lines[52].hasSuffix("n2295"))
        #expect(lines[52].contains("2.295 s  ← to client    +1.0 ms"))
        #expect(lines[101].hasSuffix("n2344"))
    }

    @Test("lines of JSON are shown of both directions; a type that its body belies leaves the body as it is")
    func lines() throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nContent-Type: application/x-ndjson\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
        )
        source.setStream(
            exchange,
            .requestReceived,
            [(0, Array("{\"q\":1}\n".utf8)), (5_000, Array("{\"q\":2}\n".utf8))]
        )
        source.setStream(exchange, .responseReceived, [(2_000, Array("{\"a\":1}\r\n\n{\"a\":2}".utf8))])
        let text = ExchangeReport.text(exchange, source: source)
        #expect(text.contains("Messages: 2 from the client, 2 from the server\n"))
        #expect(
            text.contains(
                "     0.002 s  ← to client    +0.0 ms  line       7 B  {\"a\":2}\n     0.005 s  → to server    +5.0 ms  line       7 B  {\"q\":2}\n"
            )
        )
        let other = try events(source)
        source.setBody(other.record.id, .responseReceived, Array("not an event".utf8))
        #expect(ExchangeReport.text(other, source: source).contains("Body  text/event-stream; 12 B\n  not an event\n"))
    }

    @Test("a HAR has messages and events as Chrome writes them")
    func har() throws {
        let source = MemorySource()
        let webSocket = try webSocket(source)
        let events = try events(source)
        source.setStream(events, .responseReceived, [(7, Array("id: 4\ndata: a\ndata: b\n\ndata: cut".utf8))])
        var output = Data()
        var export = HARExport(source: source) { output.append(contentsOf: $0.readableBytesView) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let archive = try #require(JSONSerialization.jsonObject(with: output) as? [String: Any])
        #expect(HARSchema.violations(archive) == [])
        let entries = try #require((archive["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        #expect(entries[0]["_resourceType"] as? String == "websocket")
        #expect((entries[0]["request"] as? [String: Any])?["url"] as? String == "wss://h/chat")
        #expect((entries[0]["request"] as? [String: Any])?["postData"] == nil)
        let messages = try #require(entries[0]["_webSocketMessages"] as? [[String: Any]])
        #expect(messages.map { $0["type"] as? String } == ["send", "send", "receive", "receive", "receive", "send"])
        #expect(messages.map { $0["opcode"] as? Int } == [1, 2, 9, 1, 1, 8])
        #expect(
            messages.map { $0["data"] as? String } == [
                "hi \u{1B}[2J", "AAFB/w==", "eW91Pw==", "Hello", "one", "A+hieWU=",
            ]
        )
        let start = Double(webSocket.record.startedAt) / 1e6
        #expect(
            messages.map { $0["time"] as? Double } == [0.001, 0.001, 0.002, 0.012345, 0.02, 0.03].map { start + $0 }
        )
        #expect(entries[1]["_resourceType"] as? String == "eventsource")
        let told = try #require(entries[1]["_eventSourceMessages"] as? [[String: Any]])
        #expect(told.count == 1)
        #expect(told[0]["data"] as? String == "a\nb")
        #expect(told[0]["eventName"] as? String == "message")
        #expect(told[0]["eventId"] as? String == "4")
    }

    @Test("the JSON export has the messages, tallies and gRPC outcomes")
    func json() throws {
        let source = MemorySource()
        _ = try webSocket(source)
        let events = try events(source)
        source.setStream(events, .responseReceived, [(1_000_000, Array("event: e\nid: 4\nretry: 9\ndata: a\n\n".utf8))])
        let call = try source.add("http://h/s/m", request: "POST /s/m HTTP/2\r\n\r\n") {
            $0.record.grpc = GRPCOutcome(status: 14, message: "later")
        }
        var output = Data()
        var export = JSONExport(source: source) { output.append(contentsOf: $0.readableBytesView) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let objects = try #require(JSONSerialization.jsonObject(with: output) as? [[String: Any]])
        #expect(objects[0]["tally"] as? [String: Int] == ["fromClient": 2, "fromServer": 2])
        let messages = try #require(objects[0]["messages"] as? [[String: Any]])
        #expect(messages.map { $0["kind"] as? String } == ["text", "binary", "ping", "text", "text", "close"])
        #expect(
            messages.map { $0["direction"] as? String } == ["send", "send", "receive", "receive", "receive", "send"]
        )
        #expect(messages[0]["time"] as? String == "2026-09-21T14:13:20.124456Z")
        #expect(messages[1]["base64"] as? String == "AAFB/w==")
        #expect(messages[3]["compressed"] as? Bool == true)
        #expect(messages[3]["wireSize"] as? Int == 7)
        #expect(messages[4]["frames"] as? Int == 2)
        #expect(messages[5]["code"] as? Int == 1000)
        #expect(messages[5]["reason"] as? String == "bye")
        let event = try #require((objects[1]["messages"] as? [[String: Any]])?.first)
        #expect(event["event"] as? String == "e")
        #expect(event["eventId"] as? String == "4")
        #expect(event["retry"] as? Int == 9)
        #expect(event["text"] as? String == "a")
        let outcome = try #require(objects[2]["grpc"] as? [String: Any])
        #expect(outcome["status"] as? Int == 14)
        #expect(outcome["name"] as? String == "UNAVAILABLE")
        #expect(outcome["message"] as? String == "later")
        let line = ExchangeLine.json(call.record)
        #expect(line.contains("\"grpc\":{\"status\":14,\"name\":\"UNAVAILABLE\",\"message\":\"later\"}"))
    }

    @Test("a masked JSON export has a WebSocket's frames without the secrets of its messages")
    func maskedFrames() throws {
        let source = MemorySource()
        let exchange = try webSocket(source)
        source.setStream(exchange, .requestReceived, [(1_000, Self.frame(#"{"token":"hunter22abcdef"}"#, mask: 7))])
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        var output = Data()
        var export = JSONExport(source: masked) { output.append(contentsOf: $0.readableBytesView) }
        try export.add(masked.masked(exchange))
        try export.finish()
        let objects = try #require(JSONSerialization.jsonObject(with: output) as? [[String: Any]])
        let request = try #require((objects[0]["request"] as? [String: Any])?["body"] as? [String: Any])
        let text = try #require(request["text"] as? String)
        let frames = Array(try #require(Data(base64Encoded: text)))
        let reader = WebSocketReader(direction: .fromClient, extensions: WebSocketExtensions(nil))
        var texts: [String?] = []
        reader.feed(ByteBuffer(bytes: frames)) { texts.append($0.text) }
        #expect(texts == [#"{"token":"sluice-token-1"}"#])
        #expect((request["comment"] as? String)?.hasPrefix("Made anew of the messages") == true)
        // Nothing was replaced in the other direction, but both are read together.
        #expect(((objects[0]["response"] as? [String: Any])?["body"] as? [String: Any])?["text"] is String)
        #expect(masked.replacedCount == 1)
    }

    @Test func `a masked page has neither the secrets of messages nor a compressed body's coding`() throws {
        let source = MemorySource()
        let socket = try webSocket(source)
        source.setStream(socket, .requestReceived, [(1_000, Self.frame(#"{"token":"hunter22abcdef"}"#, mask: 7))])
        let coded = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n",
            responseBody: try Array(
                #require(Data(base64Encoded: "H4sIAAAAAAACA6tWKsnPTs1TslLKKM0rSS0yNk5MSk5JTVOqBQAdCUdOGgAAAA=="))
            )
        )
        let masked = MaskedSource(source, TextMask())
        for (exchange, page) in [(socket, DetailPage.messages), (coded, .response)] {
            try masked.collectAll(exchange)
            masked.mask.endCollecting()
            let shown = masked.masked(exchange)
            let text = try CopyPart.text(.page, "", shown, source: masked, DetailOptions(page: page))
            #expect(text.contains("sluice-token-") && !text.contains("hunter"), "\(text)")
        }
    }

    @Test("the cURL command of a WebSocket is its handshake")
    func curl() throws {
        let source = MemorySource()
        let command = try CurlExport.command(for: try webSocket(source), source: source)
        #expect(command.contains("-H 'Upgrade: websocket'"))
        #expect(command.hasSuffix("https://h/chat'"))
        #expect(!command.contains("--data"))
    }

    @Test("messages too long for the limit are cut, and say so")
    func limits() throws {
        let source = MemorySource()
        let exchange = try webSocket(source)
        source.setStream(exchange, .responseReceived, [(1, Self.frame(String(repeating: "é", count: 50)))])
        var options = EntryOptions()
        options.bodyLimit = 31
        var output = Data()
        var export = HARExport(source: source, options: options) { output.append(contentsOf: $0.readableBytesView) }
        try export.add(exchange)
        try export.finish()
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains("\"data\":\"\(String(repeating: "é", count: 15))\",\"_leftOut\":69"))
    }

    @Test("a long stream is read in pieces, whatever the arrivals are")
    func pieces() throws {
        let source = MemorySource()
        let exchange = try webSocket(source)
        let message = Self.frame("0123456789")
        let piece = Array(repeatElement(message, count: 10).joined())
        source.setStream(exchange, .responseReceived, (0..<5000).map { (Int64($0), piece) })
        let timeline = try #require(MessageTimeline(exchange, source: source))
        var index: Int64 = 0
        var times: [Int64] = []
        while let message = try timeline.next() {
            guard message.direction == .fromServer else { continue }
            if index % 10 == 9 { times.append((message.arrivedAt ?? 0) - exchange.record.startedAt) }
            index += 1
            #expect(message.number == index)
        }
        #expect(index == 50_000)
        #expect(times == Array(0..<5000))
        #expect(source.largestRead <= 256 * 1024)
    }
}
