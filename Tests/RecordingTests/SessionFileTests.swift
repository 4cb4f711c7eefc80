import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("The session file")
struct SessionFileTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func record(_ ids: ClosedRange<Int64>) throws {
        let feed = try Feed(path: scratch.session)
        for id in ids {
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(5_000, seed: 1))]))
        }
        feed.recorder.close()
    }

    private func opening(_ path: String) -> SessionError? {
        sessionError { try Recorder(RecorderConfiguration(path: path)).close() }
    }

    @Test("A closed session is one file, 0600, with our marks and page size")
    func oneFile() throws {
        try record(1...3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["test.sluice"])
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.session)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try sqlite(scratch.session, "PRAGMA page_size; PRAGMA user_version; PRAGMA journal_mode").contains(
                "32768\n5\ndelete"
            )
        )
        #expect(try sqlite(scratch.session, "PRAGMA application_id") == "\(Schema.applicationID)")
    }

    @Test("While it is open, the log and its index are 0600 too")
    func openModes() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.recorder.flush()
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.session + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        feed.recorder.close()
    }

    @Test("A session that others may read is the user's alone once it goes on, with the log that a killed run left")
    func continuedModes() throws {
        try record(1...1)
        #expect(FileManager.default.createFile(atPath: scratch.session + "-wal", contents: nil))
        for suffix in ["", "-wal"] { #expect(chmod(scratch.session + suffix, 0o644) == 0) }
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(2))
        feed.recorder.flush()
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.session + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
        feed.recorder.close()
    }

    @Test("What another user made beforehand is not recorded into", .enabled(if: geteuid() == 0))
    func foreignOwner() throws {
        try record(1...1)
        let empty = scratch.path + "/pre.sluice"
        for file in [empty, empty + ".sluice-shm"] {
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
            chmod(file, 0o666)
            chown(file, 65_534, 65_534)
        }
        #expect(opening(empty)?.message.hasPrefix("\(empty) belongs to another user") == true)
        #expect(opening(empty + ".sluice")?.message.contains(".sluice-shm belongs to another user") == true)
        chown(scratch.session, 65_534, 65_534)
        #expect(opening(scratch.session)?.code == .cannotOpen)
        #expect(try SessionReader(path: scratch.session).count() == 1)
    }

    @Test("A pipe is no session, and is not waited for")
    func pipe() throws {
        let path = scratch.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(opening(path)?.code == .notASession)
        #expect(sessionError { try SessionReader(path: path) }?.code == .notASession)
        try record(1...1)
        #expect(mkfifo(scratch.session + "-wal", 0o600) == 0)
        #expect(sessionError { try SessionReader(path: scratch.session) }?.code == .damaged)
        #expect(opening(scratch.session)?.code == .cannotOpen)
    }

    @Test("Opening an existing session appends, and numbers go on")
    func appending() throws {
        try record(1...3)
        let connection = RoundTripTests.connections[1]
        let feed = try Feed(path: scratch.session)
        #expect(feed.recorder.nextExchangeID == 4)
        #expect(feed.recorder.nextConnectionID == 1)
        #expect(feed.recorder.recovered == nil)
        feed.submit(Samples.exchange(4) + [.connection(connection)])
        feed.recorder.close()
        #expect(try Feed(path: scratch.session).recorder.nextConnectionID == connection.id.number + 1)

        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == 4)
        let runs = try reader.runs()
        #expect(runs.map(\.firstExchange.number) == [1, 4, 5])
        #expect(runs.map(\.sluiceVersion) == ["1.2.3", "1.2.3", "1.2.3"])
        #expect(runs[0].endedAt != nil)
    }

    @Test("What is in flight at the end is interrupted, with what came of its body")
    func inFlightAtEnd() throws {
        let feed = try Feed(path: scratch.session)
        feed(.opened(Samples.record(1), RoundTripTests.fullMessages))
        feed(.body(ExchangeID(1), .responseReceived, ByteBuffer(string: "half")))
        feed.submit(Samples.exchange(2))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let found = try #require(try reader.exchange(ExchangeID(1)))
        #expect(found.record.state == .interrupted)
        #expect(found.messages == RoundTripTests.fullMessages)
        #expect(try reader.body(of: ExchangeID(1), side: .responseReceived, limit: 9) == ByteBuffer(string: "half"))
        #expect(try Feed(path: scratch.session).recorder.recovered == nil)
    }

    @Test("A second recorder is refused while the first one lives")
    func twoWriters() throws {
        let first = try Feed(path: scratch.session)
        #expect(opening(scratch.session)?.code == .locked)
        first.submit(Samples.exchange(1))
        #expect(first.recorder.close().error == nil)
        #expect(opening(scratch.session) == nil)
    }

    @Test("A reader does not keep the recorder from closing, and goes on reading")
    func readerAtClose() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.recorder.flush()
        var reader: SessionReader? = try SessionReader(path: scratch.session)
        #expect(try reader?.count() == 1)
        feed.submit(Samples.exchange(2))
        #expect(feed.recorder.close().error == nil)
        #expect(try reader?.count() == 2)
        reader = nil
        #expect(opening(scratch.session) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["test.sluice"])
    }

    @Test("What cannot be a session is refused with a reason")
    func wrongFiles() throws {
        let text = scratch.path + "/text"
        try Data("not a database, but long enough to be one if it were made of pages".utf8).write(
            to: URL(filePath: text)
        )
        let other = scratch.path + "/other.db"
        _ = try sqlite(other, "CREATE TABLE exchange(id)")
        let before = try Data(contentsOf: URL(filePath: other))
        for path in [text, other, "/dev/null"] {
            #expect(opening(path)?.code == .notASession, "\(path)")
            #expect(sessionError { try SessionReader(path: path) }?.code == .notASession, "\(path)")
        }
        #expect(try Data(contentsOf: URL(filePath: other)) == before)
        #expect(opening(scratch.path)?.code == .cannotOpen)
        #expect(sessionError { try SessionReader(path: scratch.path) }?.code == .cannotOpen)
        let nowhere = scratch.path + "/no/such/dir.sluice"
        #expect(opening(nowhere)?.code == .cannotOpen)
        #expect(opening(nowhere)?.hint.contains("directory") == true)
        #expect(opening("")?.code == .cannotOpen)
        #expect(sessionError { try SessionReader(path: nowhere) }?.code == .missing)
    }

    @Test("A link in place of a file beside the session is refused, wherever it leads")
    func linkBeside() throws {
        let target = scratch.session + ".other"
        try Data("x".utf8).write(to: URL(filePath: target))
        try FileManager.default.createSymbolicLink(atPath: scratch.session + "-wal", withDestinationPath: target)
        #expect(throws: SessionError.self) { try Feed(path: scratch.session) }
    }

    @Test("A session of another schema is refused with a way out, and not changed", arguments: [0, 1, 4, 99])
    func otherSchema(version: Int) throws {
        try record(1...1)
        _ = try sqlite(scratch.session, "PRAGMA user_version = \(version)")
        let before = try Data(contentsOf: URL(filePath: scratch.session))
        for error in [opening(scratch.session), sessionError { try SessionReader(path: scratch.session) }] {
            #expect(error?.code == .otherSchema)
            #expect(
                error?.description == """
                    \(scratch.session) was written by another version of Sluice (schema \(version); this version reads 5). \
                    Export it with that version (sluice export SESSION --format har -o FILE), then sluice open FILE.
                    """
            )
        }
        #expect(try Data(contentsOf: URL(filePath: scratch.session)) == before)
    }

    @Test("A session keeps its identifier, and the labels that it was made with")
    func identity() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.labels = ["environment": "staging", "a \"b\"": "\u{e4}\n"]
        try Recorder(configuration).close()
        let made = try SessionReader(path: scratch.session).identity()
        #expect(made.labels == configuration.labels)
        try record(1...1)
        #expect(try SessionReader(path: scratch.session).identity() == made)
        let other = scratch.path + "/other.sluice"
        try Feed(path: other).recorder.close()
        let fresh = try SessionReader(path: other).identity()
        #expect(fresh.identifier != made.identifier && fresh.labels.isEmpty)
        _ = try sqlite(other, "UPDATE session SET identifier = 'x'")
        #expect(sessionError { try SessionReader(path: other).identity() }?.code == .damaged)
    }

    @Test("Names that SQLite would read as something else are plain names")
    func oddNames() throws {
        for name in ["file:x?mode=memory", ":memory:", "100% #1?.sluice"] {
            let path = scratch.path + "/" + name
            let feed = try Feed(path: path)
            feed.submit(Samples.exchange(1))
            feed.recorder.close()
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try SessionReader(path: path).count() == 1)
        }
        #expect(SessionPath.plain("file:x") == "./file:x")
        #expect(SessionPath.immutable("/a b?%") == "file:///a%20b%3F%25?immutable=1")
    }

    @Test("A session that disappears stops the recording with a message")
    func removed() throws {
        let failures = DispatchSemaphore(value: 0)
        let recorder = try Recorder(RecorderConfiguration(path: scratch.session), onFailure: { _ in failures.signal() })
        let feed = Feed(recorder)
        try FileManager.default.removeItem(atPath: scratch.session)
        feed.submit(Samples.exchange(1))
        failures.wait()
        feed.submit(Samples.exchange(2))
        let summary = recorder.close()
        #expect(summary.error?.message.contains("removed or replaced") == true)
        #expect(summary.exchanges == 2)
        #expect(summary.notRecorded == 2)
    }

    @Test("A session that is removed just before the end is told, with all that was in it; one that is moved has it")
    func removedAtTheEnd() throws {
        for (isRemoved, lost) in [(true, 2), (false, 0)] {
            let feed = try Feed(path: scratch.session)
            feed.submit(Samples.exchange(1))
            feed.recorder.flush()
            feed.submit(Samples.exchange(2))
            feed.recorder.flush()
            let moved = scratch.path + "/moved.sluice"
            if isRemoved {
                try FileManager.default.removeItem(atPath: scratch.session)
            } else {
                #expect(rename(scratch.session, moved) == 0)
            }
            let summary = feed.recorder.close()
            #expect(summary.error?.message.contains("removed or replaced") == true)
            #expect(summary.exchanges == 2 && summary.notRecorded == lost)
        }
    }

    @Test("Who opens a session that is just being made waits for it; an empty file that nobody has is none")
    func justBeingMade() throws {
        let path = scratch.session
        let lock = try SessionLock(path: path)
        var pauses = 0
        SessionCreation.wait(for: path) {
            pauses += 1
            if pauses == 2 { #expect(throws: Never.self) { try WritableSession.make(path, labels: [:]) } }
        }
        #expect(pauses == 2)
        lock.release()
        #expect(try SessionReader(path: path).count() == 0)

        let empty = try scratch.write("empty.sluice", "")
        SessionCreation.wait(for: empty) { Issue.record("it waits for nobody") }
        #expect(sessionError { try SessionReader(path: empty) }?.code == .notASession)
        // Another process has it, as far as the lock can tell.
        let descriptor = open(empty, O_RDWR)
        #expect(flock(descriptor, LOCK_EX) == 0)
        pauses = 0
        SessionCreation.wait(for: empty) {
            pauses += 1
            if pauses == 3 { #expect(flock(descriptor, LOCK_UN) == 0) }
        }
        #expect(pauses == 3)
        close(descriptor)
    }

    @Test(
        "Damaged values are errors that name the place",
        arguments: [
            "UPDATE exchange SET port = -1", "UPDATE exchange SET port = 70000", "UPDATE exchange SET status = 'x'",
            "UPDATE exchange SET kind = 77", "UPDATE exchange SET request_body_size = -5",
            "UPDATE exchange SET host = x'41'",
            "UPDATE exchange SET method = x'00'", "UPDATE exchange SET failure = 'nonsense'",
            "UPDATE exchange SET flags = 1 << 40", "UPDATE exchange SET wait = -1", "UPDATE payload SET trace = '{'",
            "UPDATE payload SET request_head = 12", "UPDATE exchange SET client_version = 3",
            "UPDATE exchange SET client_messages = -1", "UPDATE exchange SET grpc_status = 'OK'",
            "UPDATE exchange SET masked = '{'", "UPDATE exchange SET process_id = -1",
            "UPDATE exchange SET server_address = 7; UPDATE exchange SET server_address = x'00'",
            "INSERT INTO annotation VALUES(1, x'ff', NULL, NULL)",
        ]
    )
    func damagedValues(sql: String) throws {
        try record(1...2)
        _ = try sqlite(scratch.session, sql)
        let reader = try SessionReader(path: scratch.session)
        let error = sessionError { try reader.exchange(ExchangeID(1)) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(" 1 ") == true)
    }

    @Test("Damaged counters are said with the session's path when it goes on")
    func damagedSummary() throws {
        try record(1...1)
        _ = try sqlite(scratch.session, "UPDATE summary SET exchanges = -1")
        #expect(opening(scratch.session)?.message.hasPrefix("The session \(scratch.session) is damaged: ") == true)
    }

    @Test(
        "Damaged bodies are errors or short, never more than was asked",
        arguments: [
            "UPDATE chunk SET data = 'text'", "UPDATE chunk SET data = x''", "UPDATE chunk SET offset = -3",
            "UPDATE chunk SET offset = 9223372036854775807", "UPDATE chunk SET offset = 100",
            "UPDATE exchange SET payload = 999; DELETE FROM chunk", "UPDATE payload SET response_body = 5",
            "UPDATE chunk SET data = zeroblob(70000000)",
            "INSERT INTO chunk VALUES(1, 2, 1000000, x'00')",
        ]
    )
    func damagedBodies(sql: String) throws {
        try record(1...2)
        _ = try sqlite(scratch.session, sql)
        let reader = try SessionReader(path: scratch.session)
        do {
            let body = try reader.body(of: ExchangeID(1), side: .responseReceived, limit: 10_000_000)
            #expect(body.readableBytes == 0)
        } catch let error as SessionError {
            #expect(error.code == .damaged)
        }
    }

    @Test(
        "Tables that are not ours are refused",
        arguments: [
            "DROP TABLE summary", "DROP TABLE exchange; CREATE VIEW exchange AS SELECT * FROM payload",
            "ALTER TABLE chunk ADD COLUMN x AS (zeroblob(1000000000))", "DELETE FROM summary", "DROP TABLE arrival",
            "CREATE TRIGGER t AFTER INSERT ON exchange BEGIN DELETE FROM payload; END",
        ]
    )
    func foreignTables(sql: String) throws {
        try record(1...2)
        _ = try sqlite(scratch.session, sql)
        #expect(opening(scratch.session)?.code == .damaged)
        #expect(sessionError { try SessionReader(path: scratch.session).count() }?.code == .damaged)
    }

    @Test("Overwritten pages give errors, never a crash", arguments: 1...20)
    func overwrittenPages(seed: Int) throws {
        try record(1...40)
        var bytes = try Data(contentsOf: URL(filePath: scratch.session))
        var generator = SplitMix(UInt64(seed))
        for _ in 0..<200 {
            bytes[Int.random(in: 100..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        try bytes.write(to: URL(filePath: scratch.session))
        let error = sessionError {
            let reader = try SessionReader(path: scratch.session)
            for id in 1...40 {
                _ = try reader.exchange(ExchangeID(Int64(id)))
                _ = try reader.body(of: ExchangeID(Int64(id)), side: .responseReceived, limit: 100_000)
            }
        }
        #expect(error.map { [.damaged, .notASession, .otherSchema].contains($0.code) } ?? true)
    }
}
