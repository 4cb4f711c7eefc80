import Content
import Description
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("One message whole, and what comes of an exchange in flight")
struct FollowingTests {
    private static func event(_ text: String) -> [UInt8] { Array("data: \(text)\n\n".utf8) }

    private static func frame(_ payload: [UInt8]) -> [UInt8] {
        [0] + withUnsafeBytes(of: UInt32(payload.count).bigEndian, Array.init) + payload
    }

    private func exchange(
        _ source: MemorySource,
        type: String,
        state: ExchangeRecord.State,
        request: String = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    ) throws -> RecordedExchange {
        try source.add("http://h/", request: request, response: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n") {
            $0.record.state = state
        }
    }

    private func text(_ follower: ExchangeFollower, _ state: ExchangeRecord.State) throws -> String {
        var text = ByteBuffer()
        try follower.advance(state) { text.writeImmutableBuffer($0) }
        return String(buffer: text)
    }

    @Test("A long message is there whole, exactly, whatever came before it")
    func wholeEvent() throws {
        let source = MemorySource()
        let exchange = try exchange(source, type: "text/event-stream", state: .complete)
        let long = String(repeating: "0123456789\u{E9}", count: 100_000)
        source.setStream(exchange, .responseReceived, [(1, Self.event("first")), (2, Self.event(long))])
        guard case .found(let message) = try MessageExport.message(2, of: exchange, from: source) else {
            Issue.record("there are two messages")
            return
        }
        #expect(String(buffer: message.bytes) == long && message.remarks.isEmpty && message.isText)
        guard case .missing(let count) = try MessageExport.message(3, of: exchange, from: source) else {
            Issue.record("there is no third message")
            return
        }
        #expect(count == 2)
        guard case .found(let cut) = try MessageExport.message(2, of: exchange, from: source, limit: 100) else {
            Issue.record("there are two messages")
            return
        }
        #expect(
            cut.bytes.readableBytes == 100 && cut.remarks == ["its last \(long.utf8.count - 100) bytes are left out"]
        )
        var dropped = exchange
        dropped.record.flags.insert(.bodiesDropped)
        guard case .dropped(let reason) = try MessageExport.message(3, of: dropped, from: source) else {
            Issue.record("its bodies were dropped")
            return
        }
        #expect(reason == "the body was dropped to keep the session small")
        let page = try self.exchange(source, type: "text/html", state: .complete)
        guard case .noStream = try MessageExport.message(1, of: page, from: source) else {
            Issue.record("a page carries no messages")
            return
        }
    }

    @Test("Messages of both sides of a gRPC call are counted in the order in which they came, and decoded")
    func call() throws {
        let source = MemorySource()
        let request = "POST /a.B/C HTTP/2\r\ncontent-type: application/grpc\r\n\r\n"
        let exchange = try exchange(source, type: "application/grpc", state: .complete, request: request)
        let note: [UInt8] = [0x0A, 2, 0x68, 0x69]
        source.setStream(exchange, .requestReceived, [(1, Self.frame(note)), (30, Self.frame([0x10, 7]))])
        source.setStream(exchange, .responseReceived, [(20, Self.frame([0x10, 9]))])
        let expected: [(String, [UInt8])] = [
            ("1: \"hi\"\n", note), ("2: 9  # or -5 as sint\n", [0x10, 9]),
            ("2: 7  # or -4 as sint\n", [0x10, 7]),
        ]
        for (index, (text, bytes)) in expected.enumerated() {
            guard case .found(let found) = try MessageExport.message(index + 1, of: exchange, from: source) else {
                Issue.record("message \(index + 1) is there")
                continue
            }
            #expect(found.text == text && Array(found.bytes.readableBytesView) == bytes)
        }
    }

    @Test("An event stream is followed line by line: nothing twice, what is not whole waits, the end tells of it")
    func events() throws {
        let source = MemorySource()
        let exchange = try exchange(source, type: "text/event-stream", state: .inFlight)
        var pieces: [(after: Int64, bytes: [UInt8])] = [(1_000, Self.event("one") + Array("data: tw".utf8))]
        source.setStream(exchange, .responseReceived, pieces)
        let follower = ExchangeFollower(exchange, source: source)
        #expect(follower.writesLines)
        let first = try text(follower, .inFlight)
        #expect(first == "   0.001 s  ← to client             message     3 B  one\n")
        #expect(try text(follower, .inFlight).isEmpty)
        pieces.append((2_000_000, Array("o\n\n".utf8) + Array("data: rest".utf8)))
        source.setStream(exchange, .responseReceived, pieces)
        let second = try text(follower, .inFlight)
        #expect(second == "   2.000 s  ← to client     +1.9 s  message     3 B  two\n")
        let end = try text(follower, .failed)
        #expect(end.contains("message     4 B  rest  [its end is missing]") && !end.contains("two"))
    }

    @Test("gRPC messages are followed with what they say, a body with its bytes, decoded")
    func others() throws {
        let source = MemorySource()
        let grpc = try exchange(
            source,
            type: "application/grpc",
            state: .inFlight,
            request: "POST /a.B/C HTTP/2\r\ncontent-type: application/grpc\r\n\r\n"
        )
        source.setStream(grpc, .responseReceived, [(1_000, Self.frame([0x10, 7]) + [0, 0])])
        let call = ExchangeFollower(grpc, source: source)
        #expect(try text(call, .inFlight).hasSuffix("message 1\n             2: 7  # or -4 as sint\n"))
        source.setStream(
            grpc,
            .responseReceived,
            [(1_000, Self.frame([0x10, 7]) + [0, 0]), (5_000, [0, 0, 2, 0x10, 8])]
        )
        #expect(try text(call, .inFlight).hasSuffix("message 2\n             2: 8\n"))
        #expect(try text(call, .complete).isEmpty)

        let page = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n"
        ) { $0.record.state = .inFlight }
        let words = String(repeating: "some words ", count: 2_000)
        let packed = Array(try ContentEncoder.encode(ByteBuffer(string: words), codings: [.gzip]).readableBytesView)
        source.setBody(page.record.id, .responseReceived, packed.prefix(60))
        let body = ExchangeFollower(page, source: source)
        #expect(!body.writesLines)
        var read = try text(body, .inFlight)
        source.setBody(page.record.id, .responseReceived, packed)
        read += try text(body, .inFlight)
        read += try text(body, .complete)
        #expect(read == words)
        let raw = ExchangeFollower(page, source: source, side: .responseReceived, raw: true)
        var bytes = ByteBuffer()
        try raw.advance(.complete) { bytes.writeImmutableBuffer($0) }
        #expect(Array(bytes.readableBytesView) == packed)
    }
}
