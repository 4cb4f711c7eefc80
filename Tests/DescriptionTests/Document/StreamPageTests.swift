import HTTPModel
import NIOCore
import Testing
import Text

@testable import Description

struct StreamPageTests {
    private static let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    @Test func `events have their time, direction, type and first line, and open into JSON`() {
        let source = BodySource()
        let exchange = Example.exchange(response: StreamPageTests.events) { $0.record.tally.fromServer = 2 }
        source.stream(
            .responseReceived,
            [
                (120_000, Array("event: price\ndata: {\"v\":1}\n\n".utf8)),
                (1_500_000, Array("data: plain\n\n".utf8)),
            ]
        )
        let document = Example.document(.messages, exchange, source)
        #expect(
            document.lines.map(\.plain) == [
                "Messages: 0 from the client, 2 from the server",
                #"     0.120 s  ← to client             price      7 B  {"v":1}"#,
                "      {",
                #"        "v": 1"#,
                "      }",
                "     1.500 s  ← to client     +1.3 s  message     5 B  plain",
            ]
        )
        #expect(Example.place(of: #""v": 1"#, in: document) == "message#1.json.v")
        #expect(document.initialFolds == [1])
        #expect(document.folded(document.initialFolds) == [0, 1, 5])
        #expect(DetailBuilder(exchange, source: source).pages.contains(.messages))
    }

    @Test func `a long stream is shown in pages`() {
        let source = BodySource()
        let exchange = Example.exchange(response: StreamPageTests.events) { $0.record.tally.fromServer = 1000 }
        source.set(.responseReceived, (0..<1000).map { "data: n\($0)\n\n" }.joined().utf8)
        let first = Example.document(.messages, exchange, source)
        #expect(!first.isWhole)
        #expect(first.lines.last?.plain == "Messages 1 to 200 are shown; about 800 more messages.")
        let last = Example.lines(.messages, exchange, source) { $0.firstMessage = 900 }
        #expect(last.contains { $0.hasSuffix("  n900") } && last.last?.hasSuffix("  n999") == true)
        #expect(Example.lines(.messages, exchange, source) { $0.firstMessage = 5000 }.last == "  There are no more.")
    }

    @Test func `WebSocket frames of both sides are told apart by words`() {
        let source = BodySource()
        let exchange = Example.exchange(
            "wss://api.example.com/live",
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
        ) { $0.record.kind = .webSocket }
        source.set(.requestReceived, [0x81, 0x82, 0, 0, 0, 0] + Array("hi".utf8))
        source.set(.responseReceived, [0x82, 0x03, 1, 2, 3, 0x88, 0x02, 0x03, 0xE8])
        let lines = Example.lines(.messages, exchange, source) { $0.isUnicode = false }
        #expect(lines.contains { $0.contains("-> to server  text") && $0.hasSuffix("hi") })
        #expect(lines.contains { $0.contains("<- to client  binary") && $0.hasSuffix("01 02 03  |...|") })
        #expect(lines.contains { $0.contains("close") && $0.contains("1000") })
    }

    @Test(arguments: [(16, false), (17, true)])
    func `of a binary message the first 16 bytes are in its line, and a sign if there are more`(
        _ count: Int,
        _ isCut: Bool
    ) {
        let source = BodySource()
        let exchange = Example.exchange(
            "wss://api.example.com/live",
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
        ) { $0.record.kind = .webSocket }
        source.set(.responseReceived, [0x82, UInt8(count)] + [UInt8](repeating: 1, count: count))
        let line = Example.lines(.messages, exchange, source).first { $0.contains("binary") } ?? ""
        let bytes = [String](repeating: "01", count: 16).joined(separator: " ")
        #expect(line.contains("\(bytes)\(isCut ? " …" : "")  |"), "\(line)")
    }

    @Test func `gRPC messages come from the report`() {
        let source = BodySource()
        let exchange = Example.exchange(
            "https://api.example.com/pkg.Service/Get",
            request: "POST /pkg.Service/Get HTTP/2\r\ncontent-type: application/grpc\r\n\r\n",
            response: "HTTP/2 200\r\ncontent-type: application/grpc\r\n\r\n"
        ) { $0.record.flags = [.grpc] }
        source.set(.requestReceived, [0, 0, 0, 0, 2, 8, 1])
        let lines = Example.lines(.messages, exchange, source)
        #expect(lines.first == "gRPC messages (1 from the client, 0 from the server)")
        #expect(lines.contains("      1: 1  # or true"))
        let document = Example.document(.messages, exchange, source)
        let row = document.lines.first { $0.plain.contains("  message 1") }
        #expect(row?.foldedSpans.last?.text == "  1: 1  # or true")
        source.set(.requestReceived, [0, 0, 0, 0, 202, 10, 200, 1] + [UInt8](repeating: 0x61, count: 199) + [0x7A])
        for width in [60, 80, 200] {
            let document = Example.document(.messages, exchange, source) { $0.width = width }
            let row = document.lines.first { $0.plain.contains("  message 1") }
            let columns = row?.foldedSpans.reduce(0) { $0 + $1.text.columns } ?? 0
            #expect((60...max(80, width)).contains(columns), "\(columns)")
        }
    }
}
