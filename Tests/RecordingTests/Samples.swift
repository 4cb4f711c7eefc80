import Dispatch
import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

extension Scratch {
    var session: String { path("test.sluice") }
}

/// A recorder and one producer that waits for credit, as no event loop may.
struct Feed {
    let recorder: Recorder
    private let producer: RecorderProducer
    private let credit = DispatchSemaphore(value: 0)

    init(_ configuration: RecorderConfiguration) throws {
        self.init(try Recorder(configuration))
    }

    init(path: String?) throws {
        try self.init(RecorderConfiguration(path: path, sluiceVersion: "1.2.3"))
    }

    init(_ recorder: Recorder) {
        self.recorder = recorder
        producer = recorder.makeProducer { [credit] in credit.signal() }
    }

    func callAsFunction(_ events: RecordEvent...) {
        submit(events)
    }

    func submit(_ events: [RecordEvent]) {
        if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
    }
}

/// Exchanges to record.
enum Samples {
    static func record(_ id: Int64, state: ExchangeRecord.State = .inFlight) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(id),
            kind: .http,
            startedAt: 1_795_000_000_000_000 + id,
            method: "GET",
            url: RequestURL(
                scheme: "https",
                host: "api.example.com",
                port: 443,
                path: "/v1/items",
                query: "page=\(id)"
            ),
            clientConnection: ConnectionID(1)
        )
        record.state = state
        if state != .inFlight { record.status = 200 }
        return record
    }

    /// One exchange from its beginning to its end, with bodies in parts of `part` bytes.
    static func exchange(
        _ id: Int64,
        bodies: [(BodySide, ByteBuffer)] = [],
        part: Int = 10_000,
        messages: ExchangeMessages = ExchangeMessages()
    ) -> [RecordEvent] {
        var events: [RecordEvent] = [.opened(record(id), messages)]
        var ended = record(id, state: .complete)
        for (side, body) in bodies {
            var rest = body
            repeat {
                let next = rest.readSlice(length: min(part, rest.readableBytes)) ?? ByteBuffer()
                events.append(.body(ended.id, side, next))
            } while rest.readableBytes > 0
            if side == .requestReceived { ended.sizes.requestBody = Int64(body.readableBytes) }
            if side == .responseReceived { ended.sizes.responseBody = Int64(body.readableBytes) }
        }
        events.append(.finished(ended, messages))
        return events
    }

    /// Bytes that differ from place to place, the same for the same seed.
    static func bytes(_ count: Int, seed: UInt64) -> ByteBuffer {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var buffer = ByteBufferAllocator().buffer(capacity: count + 8)
        while buffer.readableBytes < count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            buffer.writeInteger(state)
        }
        return buffer.getSlice(at: 0, length: count) ?? ByteBuffer()
    }

    /// Heads as a browser and nginx send them.
    static var realisticMessages: ExchangeMessages {
        var messages = ExchangeMessages()
        let fields = """
            Host: api.example.com\r
            User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r
            Accept: application/json, text/plain, */*\r
            Accept-Encoding: gzip, deflate, br, zstd\r
            Referer: https://app.example.com/items\r

            """
        messages.requestHead = ByteBuffer(
            string: "GET /v1/items?page=12345 HTTP/1.1\r\n\(fields)Connection: keep-alive\r\n\r\n"
        )
        messages.responseHead = ByteBuffer(
            string: """
                HTTP/1.1 200 OK\r
                Server: nginx/1.22.1\r
                Date: Sat, 21 Nov 2026 10:57:03 GMT\r
                Content-Type: application/json\r
                Content-Length: 1024\r
                Connection: keep-alive\r
                ETag: "65a3e1f0-400"\r
                \r

                """
        )
        return messages
    }
}

/// The error that opening or reading is to end with.
func sessionError<Value>(_ body: () throws -> Value) -> SessionError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? SessionError
    }
}

/// Runs SQL in a file, as a user or an attacker would.
func sqlite(_ path: String, _ sql: String) throws -> String {
    let outcome = try ChildProgram.run("sqlite3", [path, sql])
    try #require(outcome.status == 0, "sqlite3 failed on: \(sql)")
    return outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)
}
