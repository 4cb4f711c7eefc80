import Content
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Description
@testable import Formats

@Suite("HARs of other programs are read")
struct HARReaderTests {
    /// An entry as the file has it.
    private struct Entry {
        var request: [String: Any]
        var response: [String: Any]
        var entry: [String: Any]

        func fields(_ message: [String: Any]) -> String {
            (message["headers"] as? [[String: String]] ?? []).map { "\($0["name"] ?? ""): \($0["value"] ?? "")" }
                .joined(separator: "\n")
        }
    }

    private func entries(_ name: String) throws -> [Entry] {
        let root = try JSONSerialization.jsonObject(with: Data(try ArchiveFixture.bytes(name))) as? [String: Any]
        let log = try #require(root?["log"] as? [String: Any])
        return try #require(log["entries"] as? [[String: Any]]).map {
            Entry(
                request: try #require($0["request"] as? [String: Any]),
                response: try #require($0["response"] as? [String: Any]),
                entry: $0
            )
        }
    }

    /// What every browser writes of an exchange is what the record has.
    private func check(_ fixture: ArchiveFixture, _ index: Int, _ entry: Entry) throws {
        let (record, messages) = (fixture.records[index].record, fixture.records[index].messages)
        let status = try #require(entry.response["status"] as? Int)
        #expect(record.method == entry.request["method"] as? String)
        #expect(record.url.description == entry.request["url"] as? String && record.status == max(0, status))
        #expect(messages.fields(of: .requestReceived).description == entry.fields(entry.request))
        #expect(messages.fields(of: .responseReceived).description == entry.fields(entry.response))
        let started = try #require(entry.entry["startedDateTime"] as? String)
        #expect(Timestamp.iso8601(record.startedAt) == started.prefix(23) + "000Z")
        #expect(record.timings.total == (entry.entry["time"] as? Double).map { Int64(($0 * 1_000).rounded()) })
        #expect((record.state == .failed) == (status <= 0))
        guard record.kind == .http else { return }
        let content = entry.response["content"] as? [String: Any]
        let text = content?["text"] as? String ?? ""
        let body = content?["encoding"] as? String == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
        let codings = messages.fields(of: .responseReceived).values(of: .contentEncoding)
            .flatMap { ContentCoding.list($0) }
        let bytes = fixture.records[index].bodies[.responseReceived] ?? ByteBuffer()
        #expect(Data(ContentDecoder.decode(bytes, codings: codings, limit: 1 << 20).bytes.readableBytesView) == body)
    }

    @Test("Of Chromium, by Playwright: each field, body, time, message and failure; what it has not is told")
    func chromium() throws {
        let name = "playwright-chromium-156.har"
        let (fixture, entries) = (try ArchiveFixture(name), try entries(name))
        #expect(fixture.error == nil && fixture.records.count == entries.count && entries.count == 14)
        // DevTools gave no bytes of a request's body.
        #expect(fixture.losses == ["1 body that the archive does not have"])
        guard fixture.records.count == entries.count else { return }
        for (index, entry) in entries.enumerated() {
            let record = fixture.records[index].record
            try check(fixture, index, entry)
            let port = entry.entry["_serverPort"] as? Int
            #expect(record.serverAddress == port.map { "127.0.0.1:\($0)" })
            if record.kind == .http {
                let sent = (entry.request["postData"] as? [String: Any])?["text"] as? String ?? ""
                #expect(fixture.body(index, .requestReceived) == sent)
            }
        }
        let refused = try #require(fixture.records.first { $0.record.state == .failed })
        #expect(refused.record.failure?.message == "net::ERR_CONNECTION_REFUSED")
        let packed = try #require(fixture.records.first { $0.record.url.path == "/packed.json" })
        #expect(packed.bodies[.responseReceived]?.readableBytesView.starts(with: [0x1F, 0x8B]) == true)
        let socket = try #require(fixture.records.last)
        #expect(socket.record.kind == .webSocket && socket.record.tally.fromClient == 1)
        #expect(socket.record.tally.fromServer == 2 && socket.record.url.scheme == "ws")
        // Milliseconds there.
        let times = fixture.entries.last?.messages.map(\.time) ?? []
        #expect(times.count == 3 && times.allSatisfy { abs($0 - Double(socket.record.startedAt) / 1e6) < 60 })
    }

    @Test(
        "Of Firefox's developer tools: bodies that are no text byte by byte; messages and data: URLs it lacks are told"
    )
    func firefox() throws {
        let name = "firefox-153.har"
        let (fixture, all) = (try ArchiveFixture(name), try entries(name))
        let sent = all.filter { $0.request["url"] as? String != "data:," }
        #expect(fixture.error == nil && fixture.records.count == sent.count && sent.count == 15 && all.count == 16)
        #expect(
            fixture.losses == [
                "1 entry of a data: or blob: URL, for which nothing is sent",
                "1 WebSocket whose messages the archive does not have",
            ]
        )
        guard fixture.records.count == sent.count else { return }
        for (index, entry) in sent.enumerated() {
            try check(fixture, index, entry)
            let port = entry.entry["connection"] as? String
            #expect(fixture.records[index].record.serverAddress == port.map { "127.0.0.1:\($0)" })
        }
        let methods = fixture.records.map(\.record.method)
        #expect(
            methods == Array(repeating: "GET", count: 7) + Array(repeating: "POST", count: 4)
                + ["GET", "DELETE", "GET", "GET"]
        )
        // Its server answered with the request's bytes, the last one first; HAR has those in base64.
        let posts = fixture.records.filter { $0.record.method == "POST" }
        for post in posts {
            let bytes = try #require(post.bodies[.requestReceived])
            #expect(
                post.bodies[.responseReceived]?.readableBytesView.elementsEqual(bytes.readableBytesView.reversed())
                    == true
            )
            let length = post.messages.fields(of: .requestReceived).value(of: .contentLength)
            #expect(length == "\(bytes.readableBytes)")
        }
        #expect(posts[2].bodies[.requestReceived] == ByteBuffer(bytes: [0, 1, 254, 255]))
        #expect(fixture.records.first { $0.record.state == .failed }?.record.url.path == "/refused")
        let socket = try #require(fixture.records.last?.record)
        #expect(socket.kind == .webSocket && socket.status == 101 && socket.tally == MessageCounts())
    }

    @Test(
        "A body is taken for bytes only where its length says so",
        arguments: [
            (#""\u00fe\u00ff""#, "2", [0xFE, 0xFF]), (#""\u00fe\u00ff""#, "4", [0xC3, 0xBE, 0xC3, 0xBF]),
            (#""\u00fe\u0100""#, "2", [0xC3, 0xBE, 0xC4, 0x80]), (#""\u00fe""#, "x", [0xC3, 0xBE]),
            (#""ab""#, "2", [0x61, 0x62]), (#""\u00fe", "_encoding": "base64""#, "1", [0xC3, 0xBE]),
        ] as [(String, String, [UInt8])]
    )
    func bytes(text: String, length: String, bytes: [UInt8]) {
        let fields = #""headers": [{"name": "content-length", "value": "\#(length)"}]"#
        let request = #""method": "POST", "url": "http://a.example/", \#(fields), "postData": {"text": \#(text)}"#
        let fixture = ArchiveFixture(bytes: Array(#"{"log": {"entries": [{"request": {\#(request)}}]}}"#.utf8))
        #expect(Array((fixture.records.first?.bodies[.requestReceived] ?? ByteBuffer()).readableBytesView) == bytes)
    }

    @Test("A request that nobody has sent is no failure, where our HAR says so")
    func unsent() {
        func state(_ extras: String) -> ExchangeRecord.State? {
            let request = #""request": {"method": "GET", "url": "http://a.example/"}, "response": {"status": 0}"#
            return ArchiveFixture(bytes: Array(#"{"log": {"entries": [{\#(request)\#(extras)}]}}"#.utf8)).records.first?
                .record.state
        }
        #expect(state(#", "_sluice": {"state": "complete"}"#) == .complete)
        #expect(state(#", "_sluice": {"state": "failed"}"#) == .failed && state("") == .failed)
    }

    @Test("An odd number, or a value nested deep, costs itself alone: later entries come, and the summary says so")
    func oddNumbers() {
        let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
        func entry(_ time: String, _ wait: String, _ status: String, _ extra: String) -> String {
            let request = #""request": {"method": "GET", "url": "http://a.example/"}"#
            return #"{"time": \#(time), "timings": {"wait": \#(wait)}, "_x": \#(extra), \#(request), "#
                + #""response": {"status": \#(status)}}"#
        }
        let entries = [
            entry("1e308", "1e300", "1" + String(repeating: "0", count: 30), deep), entry("2.5", "1", "200", "1"),
        ]
        let fixture = ArchiveFixture(bytes: Array("{\"log\": {\"entries\": [\(entries.joined(separator: ","))]}}".utf8))
        #expect(fixture.error == nil && fixture.records.count == 2)
        #expect(fixture.records.last?.record.timings.total == 2_500 && fixture.records.last?.record.status == 200)
        #expect(
            fixture.losses == [
                "1 value of 'time' that is out of range", "1 value of 'wait' that is out of range",
                "1 value of 'status' that is out of range",
            ]
        )
    }

    @Test(
        "A text becomes bytes of the charset that its head says, where that has its characters",
        arguments: [
            ("text/html; charset=iso-8859-1", "caf\u{E9}", [0x63, 0x61, 0x66, 0xE9]),
            ("text/plain; charset=Shift_JIS", "\u{65E5}\u{672C}", [0x93, 0xFA, 0x96, 0x7B]),
            ("text/plain; charset=koi8-r", "\u{434}\u{430}", [0xC4, 0xC1]),
            ("text/plain; charset=utf-16", "a\u{E9}", [0x61, 0, 0xE9, 0]),
            ("text/plain; charset=utf-8", "\u{E9}", [0xC3, 0xA9]), ("text/plain", "\u{E9}", [0xC3, 0xA9]),
            ("text/plain; charset=iso-8859-1", "\u{434}", [0xD0, 0xB4]),
            ("text/plain; charset=no-such", "\u{E9}", [0xC3, 0xA9]),
        ] as [(String, String, [UInt8])]
    )
    func charsets(type: String, text: String, bytes: [UInt8]) {
        let fields = #""headers": [{"name": "Content-Type", "value": "\#(type)"}]"#
        let request = #""request": {"method": "GET", "url": "http://a.example/"}"#
        let content = #""content": {"mimeType": "\#(type)", "text": "\#(text)"}"#
        let response = #""response": {"status": 200, \#(fields), \#(content)}"#
        let fixture = ArchiveFixture(bytes: Array(#"{"log": {"entries": [{\#(request), \#(response)}]}}"#.utf8))
        let body = fixture.records.first?.bodies[.responseReceived] ?? ByteBuffer()
        #expect(Array(body.readableBytesView) == bytes)
        let isLost = type.hasSuffix("no-such") || type.hasSuffix("8859-1") && text == "\u{434}"
        let words = "1 body's charset, which lacks some of its characters: it is UTF-8 now"
        #expect(fixture.losses == (isLost ? [words] : []))
    }

    @Test(
        "Bodies of any charset come back from our own HAR as they were",
        arguments: [
            ("utf-16", [0xFF, 0xFE, 0x61, 0, 0xE9, 0]), ("utf-16", [0xFE, 0xFF, 0, 0x61, 0, 0xE9]),
            ("utf-16le", [0x61, 0, 0xE9, 0]), ("iso-8859-1", [0x63, 0x61, 0x66, 0xE9]),
            // UTF-8 in truth.
            ("iso-8859-1", [0x63, 0xC3, 0xA9]), ("shift_jis", [0x93, 0xFA]), ("utf-8", [0xC3, 0xA9, 0xFF]),
        ] as [(String, [UInt8])]
    )
    func ownCharsets(charset: String, bytes: [UInt8]) throws {
        let source = MemorySource()
        let type = "Content-Type: text/plain; charset=\(charset)\r\nContent-Length: \(bytes.count)\r\n\r\n"
        try source.add(
            "http://a.example/",
            request: "POST / HTTP/1.1\r\nHost: a.example\r\n\(type)",
            requestBody: bytes,
            response: "HTTP/1.1 200 OK\r\n\(type)",
            responseBody: bytes
        )
        var text = ByteBuffer()
        var export = HARExport(source: source, options: EntryOptions()) { text.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let fixture = ArchiveFixture(bytes: Array(text.readableBytesView))
        for side in [BodySide.requestReceived, .responseReceived] {
            let body = fixture.records.first?.bodies[side] ?? ByteBuffer()
            #expect(Array(body.readableBytesView) == bytes, "\(side)")
        }
        #expect(fixture.losses.isEmpty)
    }

    @Test("Fields beyond the first thousand are left out and counted; values that are none, too")
    func manyFields() {
        let fields = (1...1_003).map { #"{"name": "A\#($0)", "value": "\#($0)"}"# }.joined(separator: ", ")
        let request = #""request": {"method": "GET", "url": "http://a.example/", "headers": [7, \#(fields)]}"#
        let fixture = ArchiveFixture(bytes: Array(#"{"log": {"entries": [{\#(request)}]}}"#.utf8))
        #expect(fixture.entries.first?.request.fields.map(\.name) == (1...1_000).map { "A\($0)" })
        #expect(
            fixture.losses == ["1 value that is no object", "3 header fields beyond the first thousand"]
        )
    }

    @Test("A WebSocket of our own archives has the scheme that was recorded, wherever the archive says it")
    func schemes() {
        func url(_ scheme: String, _ url: String) -> String? {
            let request = #""request": {"method": "GET", "url": "\#(url)"}, "response": {"status": 101}"#
            let messages = #""_webSocketMessages": [{"type": "send", "time": 1, "opcode": 1, "data": "x"}]"#
            let ours = #""_sluice": {"scheme": "\#(scheme)"}"#
            let urls = [[ours, request, messages], [request, messages, ours]].map { members in
                let har = #"{"log": {"entries": [{\#(members.joined(separator: ", "))}]}}"#
                return ArchiveFixture(bytes: Array(har.utf8)).records.first?.record.url.description
            }
            return urls[0] == urls[1] ? urls[0] : nil
        }
        #expect(url("http", "ws://a.example:81/x") == "http://a.example:81/x")
        #expect(url("https", "wss://a.example/") == "https://a.example/")
        #expect(url("ws", "ws://a.example/") == "ws://a.example/")
        #expect(url("file", "ws://a.example/") == "ws://a.example/")
    }

    @Test(
        "When messages came is in seconds, or in milliseconds; one of other numbers came with the one before",
        arguments: [("1795422908.25", 1_795_422_908.25), ("1795422908250.5", 1_795_422_908.2505), ("-4.5", -4.5)]
    )
    func moments(text: String, seconds: Double) {
        func read(_ time: String) -> ArchiveFixture {
            let message = #"{"type": "send", "time": \#(time), "opcode": 1, "data": "x"}"#
            let request = #""request": {"method": "GET", "url": "ws://a.example/"}, "response": {"status": 101}"#
            let har = #"{"log": {"entries": [{\#(request), "_webSocketMessages": [\#(message)]}]}}"#
            return ArchiveFixture(bytes: Array(har.utf8))
        }
        #expect(read(text).entries.first?.messages.first?.time == seconds && read(text).error == nil)
        let far = read("1e17")
        #expect(far.error == nil && far.records.count == 1 && far.entries.first?.messages.first?.time == 0)
        #expect(far.losses == ["1 value of 'time' that is out of range"])
    }

    @Test("A time at which an entry began that cannot be read or kept is counted", arguments: ["999999", "x"])
    func start(year: String) {
        let text =
            #"{"log":{"entries":[{"startedDateTime":"\#(year)-01-01T00:00:00Z","request":{"method":"GET","url":"#
            + #""http://h/"},"response":{"status":200}}]}}"#
        let fixture = ArchiveFixture(bytes: Array(text.utf8))
        #expect(fixture.records.count == 1)
        #expect(fixture.losses.count == 1 && fixture.losses[0].contains("'startedDateTime'"), "\(fixture.losses)")
    }
}
