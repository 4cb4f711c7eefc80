import Foundation
import GRDB
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Deleting, commenting and colouring")
struct DeletionTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let secret = "hunter2-SECRET"

    private static func secretExchange(_ id: Int64, count: Int = 1) -> [RecordEvent] {
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: "GET / HTTP/1.1\r\nAuthorization: \(secret)\r\n\r\n")
        let body = ByteBuffer(string: String(repeating: secret, count: count))
        return Samples.exchange(id, bodies: [(.responseReceived, body)], messages: messages)
    }

    private func holdsSecret() throws -> Bool {
        try Data(contentsOf: URL(filePath: scratch.session)).firstRange(of: Data(Self.secret.utf8)) != nil
    }

    private func numbers(_ reader: SessionReader, _ filter: String = "") throws -> [Int64] {
        var numbers: [Int64] = []
        try reader.forEachRecord(matching: try Filter(filter)) { numbers.append($0.id.number) }
        return numbers
    }

    @Test("hides exchanges from every reader at once, what is in flight stays, and brings them back")
    func marks() async throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...5 {
            feed.submit(Samples.exchange(Int64(id), bodies: [(.responseReceived, ByteBuffer(string: "x"))]))
        }
        feed(.opened(Samples.record(6), ExchangeMessages()))
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        let result = try await feed.recorder.edit(.delete(ExchangeNumbers(ranges: [2...3, 6...9])))
        #expect((result.changed, result.inFlight) == (2, 1))
        #expect(feed.recorder.edits == 1)
        #expect(try numbers(reader) == [1, 4, 5, 6])
        #expect(try reader.numbers(matching: .everything, by: .startedAt) == [1, 4, 5, 6])
        #expect(try reader.records(limit: 9).map(\.id.number) == [1, 4, 5, 6])
        #expect(try reader.records([1, 2]).map { $0?.id.number } == [1, nil])
        #expect(try reader.exchange(ExchangeID(2)) == nil)
        #expect(try (reader.count(), reader.summary().responseBodyBytes) == (4, 3))
        // A second deletion of the same takes nothing away, and each is taken back by itself.
        let second = try await feed.recorder.edit(.delete(ExchangeNumbers(ranges: [1...3])))
        #expect((second.changed, second.mark == result.mark) == (1, false))
        #expect(try await feed.recorder.edit(.restore(mark: result.mark)).changed == 2)
        #expect(try numbers(reader) == [2, 3, 4, 5, 6])
        #expect(try await feed.recorder.edit(.restore(mark: nil)).changed == 1)
        #expect(try (reader.count(), reader.summary().responseBodyBytes) == (6, 5))
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM annotation") == "0")
        await #expect(throws: SessionError.self) { try await feed.recorder.edit(.restore(mark: nil)) }
        feed.recorder.close()
    }

    @Test(
        "removes and overwrites what was deleted when the session is closed; numbers are never used twice",
        arguments: [1, 20_000]
    )
    func removes(count: Int) async throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.submit(Self.secretExchange(2, count: count))
        feed.submit(Self.secretExchange(3, count: count))
        feed.recorder.flush()
        _ = try await feed.recorder.edit(.annotate(ExchangeNumbers([2]), .comment(Self.secret)))
        _ = try await feed.recorder.edit(.delete(ExchangeNumbers([2, 3])))
        let summary = feed.recorder.close()
        #expect(summary.error == nil && summary.removingError == nil)
        #expect(try !holdsSecret())
        for table in ["payload", "chunk", "arrival"] {
            let rows = try sqlite(scratch.session, "SELECT count(*) FROM \(table)")
            #expect(rows == (table == "payload" ? "1" : "0"))
        }
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
        #expect(try FileManager.default.attributesOfItem(atPath: scratch.session)[.size] as? Int ?? 0 < 640_000)
        let next = try Recorder(RecorderConfiguration(path: scratch.session))
        #expect(next.nextExchangeID == 4)
        next.close()
        // Everything gone, twice: the number still grows.
        let again = try Feed(path: scratch.session)
        again.submit(Samples.exchange(4))
        again.recorder.flush()
        _ = try await again.recorder.edit(.delete(ExchangeNumbers(ranges: [1...Int64.max])))
        again.recorder.close()
        #expect(try SessionReader(path: scratch.session).count() == 0)
        let last = try Recorder(RecorderConfiguration(path: scratch.session))
        #expect(last.nextExchangeID == 5)
        last.close()
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM connection") == "0")
    }

    @Test("gives the pages of a large session back without writing it anew, and what was between rows is gone")
    func givesBack() throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...120 { feed.submit(Self.secretExchange(Int64(id), count: 3_000)) }
        // What a row of an exchange in flight held is not left behind when it is written again.
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: "GET / HTTP/1.1\r\nAuthorization: \(Self.secret)\r\n\r\n")
        for id in 121...140 { feed(.opened(Samples.record(Int64(id)), messages)) }
        feed.recorder.flush()
        for id in 121...140 { feed(.finished(Samples.record(Int64(id), state: .complete), ExchangeMessages())) }
        for id in 141...150 { feed.submit(Samples.exchange(Int64(id))) }
        feed.recorder.close()
        _ = try sqlite(
            scratch.session,
            "INSERT INTO annotation(exchange, deleted_at) SELECT id, 1 FROM exchange WHERE id <= 120"
        )
        let size = { try FileManager.default.attributesOfItem(atPath: scratch.session)[.size] as? Int ?? 0 }
        #expect(try size() > 5_000_000)
        let database = try DatabaseQueue(path: scratch.session)
        try database.writeWithoutTransaction { try DeletedRows.remove(in: $0, rewriting: 0) }
        try database.close()
        #expect(try size() < 500_000)
        #expect(try !holdsSecret())
        #expect(try sqlite(scratch.session, "PRAGMA freelist_count; PRAGMA integrity_check") == "0\nok")
        #expect(try numbers(try SessionReader(path: scratch.session)) == Array(121...150))
    }

    @Test("finishes at the next closing what a crash left marked, which stays hidden until then")
    func crash() async throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...3 { feed.submit(Self.secretExchange(Int64(id))) }
        feed.recorder.flush()
        _ = try await feed.recorder.edit(.delete(ExchangeNumbers(ranges: [1...2])))
        // What is left of the file and its log where the recorder is killed.
        let copy = scratch.path("killed.sluice")
        for end in ["", "-wal"] { try FileManager.default.copyItem(atPath: scratch.session + end, toPath: copy + end) }
        feed.recorder.close()
        #expect(try numbers(try SessionReader(path: copy)) == [3])
        let recorder = try Recorder(RecorderConfiguration(path: copy))
        #expect(recorder.nextExchangeID == 4)
        await #expect(throws: SessionError.self) { try await recorder.edit(.restore(mark: nil)) }
        recorder.close()
        #expect(try sqlite(copy, "SELECT count(*) FROM payload") == "1")
        #expect(try sqlite(copy, "SELECT count(*) FROM annotation") == "0")
    }

    @Test("keeps comments and colours, finds them, and forgets what says nothing")
    func annotations() async throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...3 { feed.submit(Samples.exchange(Int64(id))) }
        feed(.opened(Samples.record(4), ExchangeMessages()))
        feed.recorder.flush()
        _ = try await feed.recorder.edit(.annotate(ExchangeNumbers([1, 4]), .comment("Flaky: see 'ticket' 12")))
        #expect(try await feed.recorder.edit(.annotate(ExchangeNumbers([2, 99]), .colour(.red))).changed == 1)
        feed(.finished(Samples.record(4, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try numbers(reader, "comment:FLAKY") == [1, 4])
        #expect(try numbers(reader, "is:commented comment:*12") == [1, 4])
        #expect(try numbers(reader, "colour:red") == [2])
        #expect(try numbers(reader, "!is:commented colour:r*") == [2])
        let record = try #require(try reader.record(ExchangeID(4)))
        #expect(record.state == .complete && record.extras.annotation.comment == "Flaky: see 'ticket' 12")
        #expect(try Filter("comment:ticket").decides(record) == true)
        let editor = try SessionEditor(path: scratch.session)
        _ = try editor.edit(.annotate(ExchangeNumbers([1, 4]), .comment(nil)))
        _ = try editor.edit(.annotate(ExchangeNumbers([2]), .colour(nil)))
        try editor.close()
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM annotation") == "0")
    }

    @Test("edits a recorded file beside its readers, under the lock, and leaves one file")
    func editor() async throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...4 { feed.submit(Self.secretExchange(Int64(id))) }
        feed.recorder.flush()
        #expect(throws: SessionError.self) { try SessionEditor(path: scratch.session) }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let editor = try SessionEditor(path: scratch.session)
        #expect(throws: SessionError.self) { try Recorder(RecorderConfiguration(path: scratch.session)) }
        let mark = try editor.edit(.delete(ExchangeNumbers(ranges: [1...4]))).mark
        #expect(try reader.count() == 0 && numbers(reader).isEmpty)
        #expect(try editor.edit(.restore(mark: mark)).changed == 4)
        #expect(try numbers(reader) == [1, 2, 3, 4])
        _ = try editor.edit(.delete(ExchangeNumbers([1, 2, 3, 4])))
        try editor.close()
        #expect(try !holdsSecret())
        #expect(!FileManager.default.fileExists(atPath: scratch.session + "-journal"))
        #expect(!FileManager.default.fileExists(atPath: scratch.session + "-wal"))
    }

    @Test("copies a session while it is recorded, without what was deleted, and overwrites nothing unasked")
    func copies() async throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Self.secretExchange(1))
        feed.submit(Samples.exchange(2))
        feed(.opened(Samples.record(3), ExchangeMessages()))
        feed.recorder.flush()
        _ = try await feed.recorder.edit(.delete(ExchangeNumbers([1])))
        let copy = scratch.path("copy.sluice")
        try SessionCopy.write(session: scratch.session, to: copy)
        let reader = try SessionReader(path: copy)
        #expect(try reader.records(limit: 9).map(\.state) == [.complete, .interrupted])
        #expect(try reader.count() == 2)
        #expect(try Data(contentsOf: URL(filePath: copy)).firstRange(of: Data(Self.secret.utf8)) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(throws: SessionError.self) { try SessionCopy.write(session: scratch.session, to: copy) }
        #expect(throws: SessionError.self) {
            try SessionCopy.write(session: scratch.session, to: scratch.session, overwrites: true)
        }
        try SessionCopy.write(session: scratch.session, to: copy, overwrites: true)
        feed.recorder.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path("")).sorted() == [
                "copy.sluice", "test.sluice",
            ]
        )
    }

    @Test("records nothing while it is off; what began before goes on to its end")
    func switching() throws {
        let feed = try Feed(path: scratch.session)
        let connection = ConnectionRecord(
            id: ConnectionID(1),
            leg: .client,
            openedAt: 1,
            localAddress: "",
            peerAddress: "a:1"
        )
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.recorder.setRecording(false)
        feed(.connection(connection))
        feed.submit(Samples.exchange(2, bodies: [(.responseReceived, ByteBuffer(string: "x"))]))
        feed(.opened(Samples.record(3), ExchangeMessages()))
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(!feed.recorder.isRecording && feed.recorder.passed == 2)
        feed.recorder.setRecording(true)
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed(.finished(Samples.record(3, state: .complete), ExchangeMessages()))
        feed.submit(Samples.exchange(4))
        let summary = feed.recorder.close()
        #expect((summary.exchanges, summary.passed, summary.leftOut, summary.notRecorded) == (4, 2, 0, 0))
        #expect(try numbers(reader) == [1, 4])
        #expect(try reader.connection(ConnectionID(1)) == connection)
    }

    @Test("records what the rules admit, from the moment on at which they are in force")
    func admission() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.recorder.noteRules(sources: [], switchedOff: [], admits: { $0.query == "page=3" })
        for id in 2...3 { feed.submit(Samples.exchange(Int64(id))) }
        feed.recorder.noteRules(sources: [], switchedOff: [])
        feed.submit(Samples.exchange(4))
        #expect(feed.recorder.close().leftOut == 1)
        #expect(try numbers(try SessionReader(path: scratch.session)) == [1, 3, 4])
    }

    @Test("records of connections only those that a recorded exchange used, whichever ends first")
    func usedConnections() throws {
        func connection(_ id: Int64, _ leg: ConnectionRecord.Leg, closedAt: Int64? = nil) -> RecordEvent {
            var connection = ConnectionRecord(
                id: ConnectionID(id),
                leg: leg,
                openedAt: 1,
                localAddress: "",
                peerAddress: "host\(id):1"
            )
            connection.closedAt = closedAt
            return .connection(connection)
        }
        func record(_ id: Int64, _ client: Int64, _ upstream: Int64, _ query: String) -> ExchangeRecord {
            var record = Samples.record(id, state: .complete)
            record.url.query = query
            (record.clientConnection, record.upstreamConnection) = (ConnectionID(client), ConnectionID(upstream))
            return record
        }
        let feed = try Feed(path: scratch.session)
        feed(connection(1, .client))
        feed.recorder.noteRules(sources: [], switchedOff: [], admits: { $0.query == "in" })
        for (id, leg) in [(2, .client), (3, .upstream), (4, .upstream), (5, .client), (6, .upstream)]
            as [(Int64, ConnectionRecord.Leg)]
        {
            feed(connection(id, leg))
        }
        feed(.opened(record(1, 2, 3, "out"), ExchangeMessages()))
        feed(.finished(record(1, 2, 3, "out"), ExchangeMessages()))
        feed.recorder.flush()
        // The client goes on to something that is recorded; there the server's end comes first, with many others'.
        feed(.opened(record(2, 2, 4, "in"), ExchangeMessages()))
        feed(connection(4, .upstream, closedAt: 7))
        for id in 100..<1_100 { feed(connection(Int64(id), .client, closedAt: 8)) }
        feed(.finished(record(2, 2, 4, "in"), ExchangeMessages()))
        feed.recorder.flush()
        for id in [1, 2, 3] { feed(connection(Int64(id), .client, closedAt: 9)) }
        feed.recorder.flush()
        let closed = "SELECT group_concat(id || ' ' || coalesce(closed_at, 'open'), ', ') FROM connection"
        #expect(try sqlite(scratch.session, closed) == "1 9, 2 9, 4 7")
        // Where all is recorded again, so are the connections that are there.
        feed.recorder.noteRules(sources: [], switchedOff: [])
        feed(connection(6, .upstream, closedAt: 10))
        feed.recorder.close()
        let rest = "SELECT count(*), sum(closed_at IS NULL) FROM connection WHERE id < 100"
        #expect(try sqlite(scratch.session, rest) == "6|1")
    }
}
