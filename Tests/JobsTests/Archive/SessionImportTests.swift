import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Synchronization
import Testing

@testable import Jobs
@testable import Runner

@Suite("Exchanges of other files come into a session", .timeLimit(.minutes(2)))
struct SessionImportTests {
    private let directory = NSTemporaryDirectory() + "sluice-import-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    private func archive(_ entries: String) throws -> String {
        let path = directory + "/bug.har"
        try Data(#"{"log": {"version": "1.2", "entries": [\#(entries)]}}"#.utf8).write(to: URL(filePath: path))
        return path
    }

    private func entry(_ path: String) -> String {
        #"{"startedDateTime": "2026-11-21T10:57:03Z", "time": 5, "comment": "seen", "request": {"method": "GET", "#
            + #""url": "http://h.example\#(path)"}, "response": {"status": 200, "content": {"text": "answer"}}, "#
            + #""serverIPAddress": "10.0.0.1"}"#
    }

    /// A session with a long body, an exchange in flight and, at its client's connection, an address.
    private func session(_ name: String, requests: Int = 2, isOpen: Bool = false) throws -> (String, Recorder) {
        let path = directory + "/" + name
        let recorder = try Recorder(RecorderConfiguration(path: path))
        let producer = recorder.makeProducer {}
        for number in 1...Int64(requests) {
            var record = ExchangeRecord(
                id: ExchangeID(number),
                kind: .http,
                startedAt: 1_700_000_000_000_000,
                method: "GET",
                url: RequestURL(scheme: "http", host: "old.example", port: 80, path: "/\(number)"),
                clientConnection: ConnectionID(1)
            )
            var events: [RecordEvent] = []
            let (leg, peer) = (ConnectionRecord.Leg.client, "192.0.2.7:5000")
            events.append(
                .connection(
                    ConnectionRecord(id: ConnectionID(1), leg: leg, openedAt: 1, localAddress: "", peerAddress: peer)
                )
            )
            events.append(.opened(record, ExchangeMessages()))
            let body = ByteBuffer(repeating: UInt8(number), count: number == 1 ? 3 << 20 : 5)
            events.append(.body(record.id, .responseReceived, body))
            events.append(.arrival(record.id, .responseReceived, offset: 0, at: 1_700_000_000_000_005))
            record.state = .complete
            record.sizes.responseBody = Int64(body.readableBytes)
            record.extras.annotation.colour = "red"
            var messages = ExchangeMessages()
            messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")
            if !isOpen || number < requests { events.append(.finished(record, messages)) }
            _ = producer.submit(events, cost: events.reduce(0) { $0 + $1.cost })
        }
        recorder.flush()
        return (path, recorder)
    }

    private func written(_ name: String) throws -> String {
        let (path, recorder) = try session(name)
        recorder.close()
        return path
    }

    @Test func `a HAR comes into a recorded session under new numbers, with connections of its own`() async throws {
        let path = try written("here.sluice")
        let edits = RecordedSessionEdits(path: path)
        let outcome = try await edits.importExchanges(of: archive(entry("/a") + "," + entry("/b"))) { _ in true }
        #expect(outcome.count == 2 && outcome.first == ExchangeID(3) && outcome.problem == nil)
        let reader = try SessionReader(path: path)
        let records = try reader.records(limit: 9)
        #expect(records.map(\.id.number) == [1, 2, 3, 4])
        #expect(records.map(\.extras.origin) == [nil, nil, "HAR bug.har", "HAR bug.har"])
        #expect(records[3].extras.annotation.comment == "seen" && records[3].status == 200)
        #expect(records[2].clientConnection != ConnectionID(1))
        #expect(try reader.exchange(ExchangeID(3))?.upstream?.peerAddress == "10.0.0.1:80")
        #expect(try reader.exchange(ExchangeID(1))?.client?.peerAddress == "192.0.2.7:5000")
        #expect(try reader.body(of: ExchangeID(4), side: .responseReceived, limit: 99) == ByteBuffer(string: "answer"))
        #expect(try reader.summary().exchanges == 4)
        // The file can be edited again.
        _ = try await edits.edit(.delete(ExchangeNumbers([3])))
        await #expect(throws: ControlError.self) { try await edits.importExchanges(of: path) { _ in true } }
        try await edits.close()
    }

    @Test func `several sessions are joined for a query, with the rules of each`() throws {
        let (first, recorder) = try session("a.sluice")
        recorder.noteRules(sources: [ProfileSource(file: "p.yaml", text: "mask: { also: [x] }")], switchedOff: [])
        recorder.close()
        let (second, open) = try session("b.sluice", requests: 3, isOpen: true)
        defer { open.close() }
        let (sessions, filter) = SessionQuery.split(first, [second, "path:/1", "path:/x.sluice"])
        #expect(sessions == [first, second] && filter == ["path:/1", "path:/x.sluice"])
        let query = try SessionQuery(sessions: sessions, filter: ["path:/1"])
        var found: [Int64] = []
        try query.forEachMatch { found.append($0.id.number) }
        #expect(found == [1, 3])
        #expect(query.remark == "1 exchange in flight left out")
        #expect(try SessionMask.rules(of: query.reader).also == ["x"])
        #expect(throws: Never.self) { try query.requireOneMask() }
        open.noteRules(sources: [ProfileSource(file: "q.yaml", text: "mask: { also: [y] }")], switchedOff: [])
        open.flush()
        #expect(throws: StartError.self) { try SessionQuery(sessions: sessions, filter: []).requireOneMask() }
    }

    @Test func `another session comes in whole: bodies, arrivals, heads, notes and addresses`() async throws {
        let other = try written("other.sluice")
        let path = try written("here.sluice")
        let outcome = try await RecordedSessionEdits(path: path).importExchanges(of: other) { _ in true }
        #expect(outcome.count == 2 && outcome.unfinished == 0)
        let reader = try SessionReader(path: path)
        let exchange = try #require(try reader.exchange(ExchangeID(3)))
        #expect(exchange.record.extras.origin == "session other.sluice")
        #expect(exchange.record.extras.annotation.colour == "red")
        #expect(exchange.client?.peerAddress == "192.0.2.7:5000")
        #expect(exchange.messages.responseHead == ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"))
        let whole = try reader.body(of: ExchangeID(3), side: .responseReceived, limit: 9 << 20)
        #expect(whole == ByteBuffer(repeating: 1, count: 3 << 20))
        #expect(try reader.arrivals(of: ExchangeID(4), side: .responseReceived).map(\.at) == [1_700_000_000_000_005])
        #expect(try reader.bodySize(of: ExchangeID(4), side: .responseSent) == nil)
    }

    @Test func `what is in flight elsewhere is left out and counted, and the session itself is refused`() async throws {
        let (other, recorder) = try session("other.sluice", isOpen: true)
        defer { recorder.close() }
        let path = try written("here.sluice")
        let edits = RecordedSessionEdits(path: path)
        let outcome = try await edits.importExchanges(of: other) { _ in true }
        #expect(outcome.count == 1 && outcome.unfinished == 1)
        await #expect(throws: StartError.self) { try await edits.importExchanges(of: path) { _ in true } }
        await #expect(throws: (any Error).self) { try await edits.importExchanges(of: path + "x") { _ in true } }
        #expect(try SessionReader(path: path).count() == 3)
    }

    @Test func `an import can be stopped, and one that breaks off says where`() async throws {
        let path = try written("here.sluice")
        let edits = RecordedSessionEdits(path: path)
        let calls = Atomic(0)
        let stopped = try await edits.importExchanges(of: written("other.sluice")) { _ in
            calls.add(1, ordering: .relaxed).newValue < 2
        }
        #expect(stopped.isStopped && stopped.count == 1)
        let first = Atomic(0)
        let archive = try archive(entry("/a") + "," + entry("/b"))
        let half = try await edits.importExchanges(of: archive) { _ in first.add(1, ordering: .relaxed).newValue < 2 }
        #expect(half.isStopped && half.count == 1 && half.problem == nil)
        let broken = try await edits.importExchanges(of: self.archive(entry("/a") + ", {\"request\": 7 8}")) { _ in true
        }
        #expect(broken.count == 1 && broken.problem?.contains("bug.har:1:") == true)
        #expect(try SessionReader(path: path).count() == 5)
    }

    @Test func `what is imported is recorded though the recording is off, and counts as no traffic`() async throws {
        let path = directory + "/live.sluice"
        var configuration = RecorderConfiguration(path: path, mode: .lossy)
        configuration.isRecording = false
        let recorder = try Recorder(configuration, onFinished: { _ in Issue.record("told as traffic") })
        let (exchanges, connections) = (Counter(), Counter())
        let imports = SessionImport(
            recorder: recorder,
            makeExchange: { ExchangeID(exchanges.next()) },
            makeConnection: { ConnectionID(connections.next()) }
        )
        _ = try await imports.importExchanges(of: archive(entry("/a"))) { _ in true }
        _ = try await imports.importExchanges(of: written("other.sluice")) { _ in true }
        let reader = try SessionReader(path: path)
        #expect(try reader.records(limit: 9).map(\.flags.isEmpty) == [true, true, true])
        #expect(try reader.body(of: ExchangeID(2), side: .responseReceived, limit: 9 << 20).readableBytes == 3 << 20)
        #expect(recorder.passed == 0 && recorder.close().exchanges == 0)
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int64>(0)
        func next() -> Int64 { count.add(1, ordering: .relaxed).newValue }
    }
}
