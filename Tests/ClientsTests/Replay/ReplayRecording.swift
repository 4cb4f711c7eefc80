import Dispatch
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Rules
import Support
import Testing
import Tools

@testable import Clients

/// A session of exchanges that a test wrote down, and a replay of it.
struct ReplayRecording {
    struct Entry {
        var method = "GET"
        var url = "https://h.example/"
        /// The URL that was asked upstream, where a tool changed it.
        var sentURL: String?
        var fields = ""
        var body = ""
        var status = 200
        var answerFields = ""
        var answer = ""
        var state = ExchangeRecord.State.complete
        var kind = ExchangeRecord.Kind.http
        var flags: ExchangeRecord.Flags = []
        var wait: Int64 = 0
        /// Where parts of the answer begin, and how many microseconds after the start they came.
        var arrivals: [(Int64, Int64)] = []
    }

    let path: String
    private let scratch: Scratch
    static let start: Int64 = 1_795_000_000_000_000

    init(_ entries: [Entry]) throws {
        scratch = try Scratch()
        path = scratch.path("recorded.sluice")
        let recorder = try Recorder(RecorderConfiguration(path: path))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for (index, entry) in entries.enumerated() {
            let events = try ReplayRecording.events(entry, Int64(index + 1))
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        if let error = recorder.close().error { throw error }
    }

    private static func events(_ entry: Entry, _ number: Int64) throws -> [RecordEvent] {
        let url = try #require(RequestURL(entry.url))
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: entry.kind,
            startedAt: start + number,
            method: entry.method,
            url: url,
            clientConnection: ConnectionID(1)
        )
        record.sentURL = entry.sentURL.flatMap { RequestURL($0) }
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(
            string: "\(entry.method) \(url.pathAndQuery) HTTP/1.1\r\nHost: \(url.authority)\r\n\(entry.fields)\r\n"
        )
        messages.responseHead = ByteBuffer(string: "HTTP/1.1 \(entry.status) X\r\n\(entry.answerFields)\r\n")
        record.sizes.requestBody = Int64(entry.body.utf8.count)
        let opened = RecordEvent.opened(record, messages)
        (record.state, record.status, record.flags) = (entry.state, entry.status, entry.flags)
        if entry.sentURL != nil { record.flags.insert(.requestChanged) }
        record.sizes.responseBody = Int64(entry.answer.utf8.count)
        record.timings.wait = entry.wait
        let bodies = [(entry.body, BodySide.requestReceived), (entry.answer, .responseReceived)]
        let parts = bodies.filter { !$0.0.isEmpty }.map { RecordEvent.body(record.id, $1, ByteBuffer(string: $0)) }
        let arrivals = entry.arrivals.map {
            RecordEvent.arrival(record.id, .responseReceived, offset: $0, at: record.startedAt + $1)
        }
        return [opened] + parts + arrivals + [.finished(record, messages)]
    }

    func replay(
        _ yaml: String = "",
        filter: String = "",
        _ set: (inout Replay.Options) -> Void = { _ in }
    ) throws -> Replay {
        var options = Replay.Options()
        options.rules = try RuleProfile("version: 1\n\(yaml)\n", file: "p.yaml").replay
        set(&options)
        return try Replay(path, filter: filter, options: options)
    }

    static func request(
        _ method: String,
        _ url: String,
        _ fields: [(String, String)] = [],
        body: String = ""
    ) throws -> AskedRequest {
        let url = try #require(RequestURL(url))
        var compared = ComparedBody()
        if !body.isEmpty { compared.add(ByteBuffer(string: body)) }
        let head = RequestHead(method: method, target: url.pathAndQuery, fields: [("Host", url.authority)] + fields)
        return AskedRequest(url: url, head: head, body: compared)
    }
}

extension Replay {
    /// The number of the exchange that answers; `nil` for a miss.
    func found(
        _ method: String,
        _ url: String,
        _ fields: [(String, String)] = [],
        body: String = ""
    ) throws -> Int64? {
        find(try ReplayRecording.request(method, url, fields, body: body))?.number
    }

    /// Why there is no answer.
    func missed(
        _ method: String,
        _ url: String,
        _ fields: [(String, String)] = [],
        body: String = ""
    ) throws -> ExchangeFailure {
        let request = try ReplayRecording.request(method, url, fields, body: body)
        #expect(find(request) == nil)
        return explainMiss(request)
    }
}
