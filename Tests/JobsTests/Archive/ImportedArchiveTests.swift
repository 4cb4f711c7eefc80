import Content
import Description
import Files
import Formats
import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs
@testable import Runner

@Suite("A HAR becomes a session")
struct ImportedArchiveTests {
    private func written(_ text: some StringProtocol) throws -> String {
        let path = NSTemporaryDirectory() + "sluice-test-\(UUID().uuidString).har"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func imported(_ text: String, _ body: (ImportedArchive, SessionReader) throws -> Void) throws {
        let path = try written(text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let archive = try ImportedArchive(path)
        defer { archive.remove() }
        try body(archive, try SessionReader(path: archive.session))
    }

    private static let archive = #"""
        {"log": {"version": "1.2", "creator": {"name": "Firefox"}, "entries": [
          {"startedDateTime": "2026-11-21T10:57:03.000125Z", "time": 230.5,
           "request": {"method": "POST", "url": "https://api.example.com/login?a=1", "httpVersion": "HTTP/1.1",
             "headers": [{"name": "Host", "value": "api.example.com"}, {"name": "X-A", "value": "one\r\nX-B: two"}],
             "postData": {"mimeType": "application/json", "text": "{\"name\": \"Ad\u00e4\"}"}},
           "response": {"status": 401, "statusText": "Unauthorized", "httpVersion": "HTTP/1.1",
             "headers": [{"name": "Content-Encoding", "value": "gzip"}, {"name": "Content-Type", "value": "image/png"}],
             "content": {"size": 4, "mimeType": "image/png", "text": "AAECAw==", "encoding": "base64"}},
           "timings": {"blocked": -1, "dns": 1, "connect": 5, "ssl": 3, "send": 1, "wait": 200, "receive": 2.5},
           "serverIPAddress": "10.0.0.1", "connection": "8443"},
          {"startedDateTime": "not a time", "request": {"method": "GET", "url": "nothing"},
           "response": {"status": 0, "_error": "dns: There is no such name.",
             "headers": [{"name": "Content-Encoding", "value": "rot13"}], "content": {"text": "plain"}}}
        ]}}
        """#

    @Test("Heads, bodies, times, and servers are what the archive says")
    func reads() throws {
        try imported(Self.archive) { archive, reader in
            #expect(archive.count == 2)
            let first = try #require(try reader.exchange(ExchangeID(1)))
            #expect(first.record.method == "POST")
            #expect(first.record.url.description == "https://api.example.com/login?a=1")
            #expect(first.record.status == 401)
            #expect(first.record.state == .complete)
            #expect(Timestamp.iso8601(first.record.startedAt).hasPrefix("2026-11-21T10:57:03.000"))
            #expect(first.record.timings.total == 230_500)
            #expect(first.record.timings.connect == 2_000)
            #expect(first.record.timings.tls == 3_000)
            #expect(first.record.timings.blocked == nil)
            #expect(first.record.mediaType == "image/png")
            #expect(first.upstream?.peerAddress == "10.0.0.1:8443")
            let head = try #require(first.messages.requestHead.flatMap { StoredHead.request($0) })
            #expect(head.fields.values(of: "x-a") == ["one", "X-B: two"])
            #expect(head.fields.value(of: "x-b") == nil)
            let body = try reader.body(of: ExchangeID(1), side: .requestReceived, limit: 1_000)
            #expect(String(buffer: body) == #"{"name": "Adä"}"#)
            // It is compressed again, as its field says.
            let coded = try reader.body(of: ExchangeID(1), side: .responseReceived, limit: 1_000)
            #expect(coded.getBytes(at: coded.readerIndex, length: 2) == [0x1F, 0x8B])

            let second = try #require(try reader.exchange(ExchangeID(2)))
            #expect(second.record.state == .failed)
            #expect(second.record.failure?.code == .dns)
            #expect(second.record.failure?.message == "There is no such name.")
            #expect(second.record.url.description == "http://unreadable.invalid/nothing")
            #expect(second.messages.fields(of: .responseReceived).description == "Content-Encoding: rot13")
            #expect(second.messages.trace.map(\.text).first?.contains("'rot13', which Sluice cannot apply") == true)
        }
    }

    @Test(
        "A date of any year is kept, or becomes the nearest one that microseconds reach",
        arguments: [
            ("1960-01-01T00:00:00Z", -315_619_200_000_000), ("1601-01-01T00:00:00.5Z", -11_644_473_599_500_000),
            ("2255-01-01T00:00:00Z", 8_993_721_600_000_000), ("9999-12-31T00:00:00Z", 1 << 60), ("nonsense", 0),
        ]
    )
    func dates(text: String, moment: Int64) throws {
        let kept = min(max(moment, -1 << 53), 1 << 53)
        let archive = """
            {"log": {"entries": [{"startedDateTime": "\(text)", "serverIPAddress": "10.0.0.1",
              "request": {"method": "GET", "url": "ws://a.example/"}, "response": {"status": 101},
              "_webSocketMessages": [{"type": "send", "time": \(Double(kept) / 1e6), "opcode": 1, "data": "x"}]}]}}
            """
        try imported(archive) { _, reader in
            let exchange = try #require(try reader.exchange(ExchangeID(1)))
            #expect(exchange.record.startedAt == kept && exchange.upstream?.openedAt == kept)
            let arrivals = try reader.arrivals(of: ExchangeID(1), side: .requestReceived)
            #expect(arrivals.map(\.at) == [kept])
            var times: [Int64] = []
            try reader.forEachRecord {
                times.append($0.startedAt)
                return true
            }
            #expect(times == [kept])
        }
    }

    @Test("Commands that read a session read a HAR, and leave nothing behind")
    func query() throws {
        let path = try written(Self.archive)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let query = try SessionQuery(session: path, filter: ["method:POST"])
        #expect(query.path == path)
        #expect(!FileManager.default.fileExists(atPath: query.reader.path))
        var ids: [ExchangeID] = []
        try query.forEachMatch { ids.append($0.id) }
        #expect(ids == [ExchangeID(1)])
        let body = try query.reader.body(of: ExchangeID(1), side: .requestReceived, limit: 1_000)
        #expect(String(buffer: body) == #"{"name": "Adä"}"#)
        #expect(try RecordedWhy.text(session: path, id: 1).hasPrefix("#1 POST https://api.example.com/login?a=1\n"))
    }

    @Test("A file that is no session is refused in words for who reads", arguments: ["<html>", "", "SQLite format 3"])
    func noSession(text: String) throws {
        let path = try written(text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = #expect(throws: (any Error).self) { try SessionQuery.open(path) }
        let words = error.map { "\($0)" } ?? ""
        let names = text == "<html>" ? "Charles" : "HAR"
        #expect(words.contains(path) && words.contains(names) && !words.contains("write"), "\(words)")
    }

    @Test("The messages of a WebSocket come back, in their order and with their times")
    func webSocket() throws {
        let long = String(repeating: "x", count: 70_000)
        let archive = """
            {"log": {"entries": [{"startedDateTime": "2026-11-21T10:57:03Z", "_resourceType": "websocket",
              "request": {"method": "GET", "url": "wss://chat.example/s", "headers": []},
              "response": {"status": 101, "headers": [
                {"name": "Sec-WebSocket-Extensions", "value": "permessage-deflate"}]},
              "_webSocketMessages": [
                {"type": "send", "time": 1795258623.5, "opcode": 1, "data": "hello ä"},
                {"type": "receive", "time": 1795258624.25, "opcode": 2, "data": "AAEC"},
                {"type": "receive", "time": 1795258625, "opcode": 1, "data": "\(long)"},
                {"type": "send", "time": 1795258626, "opcode": 77, "data": "no kind"},
                {"type": "send", "time": "never", "opcode": 9, "data": "\(long)"}, 7, {}]}]}}
            """
        try imported(archive) { _, reader in
            let exchange = try #require(try reader.exchange(ExchangeID(1)))
            #expect(exchange.record.kind == .webSocket && exchange.record.status == 101)
            // A ping is no message.
            #expect(exchange.record.tally.fromClient == 1 && exchange.record.tally.fromServer == 3)
            let sides = (BodySide.requestReceived, BodySide.responseReceived)
            let timeline = try #require(MessageTimeline(exchange, source: reader, sides: sides, payloadLimit: 1 << 20))
            var texts: [String] = []
            var times: [Int64?] = []
            while let message = try timeline.next() {
                texts.append(message.text ?? "\(message.payload.readableBytes) bytes")
                times.append(message.arrivedAt)
            }
            #expect(Set(texts) == ["hello ä", "3 bytes", long, "125 bytes", ""])
            #expect(times.contains(1_795_258_623_500_000) && times.contains(1_795_258_624_250_000))
            #expect(timeline.remarks.isEmpty)
        }
    }

    @Test("What our own export writes comes back: method, URL, status, fields, bodies")
    func roundTrip() throws {
        try imported(Self.archive) { _, reader in
            var text = ""
            var export = HARExport(source: reader, options: EntryOptions()) { text += String(buffer: $0) }
            let first = try #require(try reader.exchange(ExchangeID(1)))
            try export.add(first)
            try export.finish()
            try imported(text) { archive, again in
                #expect(archive.count == 1)
                let exchange = try #require(try again.exchange(ExchangeID(1)))
                #expect(exchange.record.method == first.record.method)
                #expect(exchange.record.url == first.record.url)
                #expect(exchange.record.status == first.record.status)
                #expect(exchange.record.startedAt == first.record.startedAt)
                #expect(exchange.messages.requestHead == first.messages.requestHead)
                #expect(exchange.messages.responseHead == first.messages.responseHead)
                for side in [BodySide.requestReceived, .responseReceived] {
                    let (one, other) = (
                        try reader.body(of: ExchangeID(1), side: side, limit: 1_000),
                        try again.body(of: ExchangeID(1), side: side, limit: 1_000)
                    )
                    #expect(one == other)
                }
            }
        }
    }

    @Test(
        "What is no HAR is refused with its place, and nothing stays behind",
        arguments: [
            (
                "{\"log\": {\"entries\": [{\"request\": {\n  \"method\": \"GE",
                ":2:16: the HAR cannot be read: the string does not end"
            ),
            ("{\"log\": {\"entries\": [", "the text ends too early"),
            ("{\"log\": 3}", "it has no 'log' with 'entries'"),
            ("{}", "it has no 'log' with 'entries'"), ("", "the text ends too early"),
            ("[1]", "there are no transactions of Charles in it"),
            ("{\"log\": {\"entries\": []}} more", "text after the end"),
            (String(repeating: "[", count: 100_000), "the text ends too early"),
            ("{\"log\":" + String(repeating: "[", count: 100_000), "the text ends too early"),
            ("{\"log\":" + String(repeating: "[", count: 1_100_000), "nested deeper than 1048576 levels"),
        ]
    )
    func refuses(text: String, words: String) throws {
        let path = try written(text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = #expect(throws: StartError.self) { try ImportedArchive(path) }
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("\(path):") == true)
    }

    @Test("A bundle whose session is damaged is refused by its own name, not that of the file it is unpacked into")
    func damagedBundle() async throws {
        let path = try written("")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let header = Array("SQLite format 3\0".utf8)
        for content in [Array("no session".utf8), header + Array(repeating: 7, count: 500)] {
            let file = path + ".content"
            try Data(content).write(to: URL(filePath: file))
            defer { try? FileManager.default.removeItem(atPath: file) }
            try FileManager.default.removeItem(atPath: path)
            try ZipWriter.write([.init("session.sluice", file: file)], to: path)
            var said: [String] = []
            do { _ = try SessionQuery.open(path) } catch { said.append("\(error)") }
            let other = path + ".sluice"
            defer { try? FileManager.default.removeItem(atPath: other) }
            do {
                _ = try await RecordedSessionEdits(path: other).importExchanges(of: path) { _ in true }
            } catch {
                said.append("\(error)")
            }
            #expect(said.count == 2)
            for error in said { #expect(error.contains(path) && !error.contains("archive.sluice"), "\(error)") }
        }
    }

    @Test("Twenty thousand entries and a long body are read")
    func large() throws {
        let entry =
            #"{"request":{"method":"GET","url":"http://a.example/"},"response":{"status":200,"content":{"text":"x"}}}"#
        let long = entry.replacing("\"x\"", with: "\"\(String(repeating: "long", count: 500_000))\"")
        let entries = (Array(repeating: entry, count: 20_000) + [long]).joined(separator: ",\n")
        try imported("{\"log\":{\"entries\":[\(entries)]}}") { archive, reader in
            #expect(archive.count == 20_001)
            let count = try reader.count()
            let size = try reader.bodySize(of: ExchangeID(20_001), side: .responseReceived)
            #expect(count == 20_001)
            #expect(size == 2_000_000)
        }
    }
}
