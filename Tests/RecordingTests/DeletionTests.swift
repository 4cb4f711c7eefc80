import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

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
        #expect(try FileManager.default.attributesOfItem(atPath: scratch.session)[.size] as? Int ?? 0 < 400_000)
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
}
