import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Trimming a session")
struct TrimTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let secret = "hunter2-SECRET"

    /// Exchanges 1 to `count`, those with an even number with a body that holds the secret.
    private func record(_ count: Int64, length: Int = 200) throws {
        let feed = try Feed(path: scratch.session)
        for id in 1...count {
            var messages = ExchangeMessages()
            let field = id % 2 == 0 ? "Authorization: \(Self.secret)\r\n" : ""
            messages.requestHead = ByteBuffer(string: "GET /\(id) HTTP/1.1\r\n\(field)\r\n")
            let text = id % 2 == 0 ? Self.secret : "ordinary-text-"
            let body = ByteBuffer(string: String(repeating: text, count: length))
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, body)], messages: messages))
        }
        feed.recorder.close()
    }

    private func numbers(_ path: String) throws -> [Int64] {
        try SessionReader(path: path).numbers(matching: .everything)
    }

    private func size(_ path: String) throws -> Int64 {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
    }

    private func holdsSecret(_ path: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: path)).firstRange(of: Data(Self.secret.utf8)) != nil
    }

    private static let odd = (1...60).map { Int64($0) }.filter { $0 % 2 == 1 }
    private static let even = try? Filter("header:authorization")

    @Test("in place leaves nothing of the removed exchanges, gives pages back, and keeps numbers and counts")
    func inPlace() throws {
        try record(60)
        let outcome = try SessionTrim(removed: Self.even).inPlace(scratch.session)
        #expect((outcome.removed, outcome.kept) == (30, 30))
        #expect(try outcome.sizeAfter == size(scratch.session) && outcome.sizeAfter < outcome.sizeBefore)
        #expect(try numbers(scratch.session) == Self.odd)
        #expect(try !holdsSecret(scratch.session))
        #expect(try sqlite(scratch.session, "PRAGMA freelist_count; PRAGMA integrity_check") == "0\nok")
        #expect(try sqlite(scratch.session, "PRAGMA journal_mode") == "delete")
        for end in ["-wal", "-shm", "-journal"] {
            #expect(!FileManager.default.fileExists(atPath: scratch.session + end))
        }
        let summary = try SessionReader(path: scratch.session).summary()
        #expect((summary.exchanges, summary.responseBodyBytes) == (30, 30 * 200 * 14))
        let next = try Recorder(RecorderConfiguration(path: scratch.session))
        #expect(next.nextExchangeID == 61)
        next.close()
    }

    @Test("to a copy leaves the session alone, records or not, and writes over nothing")
    func copy() throws {
        try record(60)
        let feed = try Feed(path: scratch.session)
        let copy = scratch.path("copy.sluice")
        let outcome = try SessionTrim(removed: Self.even).copy(scratch.session, to: copy)
        #expect((outcome.removed, outcome.kept) == (30, 30))
        #expect(try numbers(copy) == Self.odd && numbers(scratch.session).count == 60)
        #expect(try !holdsSecret(copy) && holdsSecret(scratch.session))
        let again = sessionError { try SessionTrim(removed: nil).copy(scratch.session, to: copy) }
        #expect(again?.code == .exists)
        #expect(sessionError { try SessionTrim(removed: Self.even).inPlace(scratch.session) }?.code == .locked)
        feed.recorder.close()
        #expect(try numbers(scratch.session).count == 60)
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path(""))
        #expect(files.sorted() == ["copy.sluice", "test.sluice"])
        #expect(try sqlite(copy, "PRAGMA integrity_check") == "ok")
        let summary = try SessionReader(path: copy).summary()
        #expect((summary.exchanges, summary.responseBodyBytes) == (30, 30 * 200 * 14))
        // The highest number is of an exchange that went.
        let next = try Recorder(RecorderConfiguration(path: copy))
        #expect(next.nextExchangeID == 61)
        next.close()
    }

    @Test("to a size removes the oldest, and no more than has to go")
    func toSize() throws {
        try record(200, length: 2_000)
        let before = try size(scratch.session)
        let trim = SessionTrim(removed: nil, largestSize: before / 2)
        let estimate = try trim.rehearsal(try SessionReader(path: scratch.session))
        let copied = try trim.copy(scratch.session, to: scratch.path("trimmed.sluice"))
        let outcome = try trim.inPlace(scratch.session)
        #expect(outcome == estimate && copied == estimate, "\(outcome) \(copied) \(estimate)")
        #expect(outcome.removed + outcome.kept == 200 && outcome.kept > 0 && !estimate.isEstimate)
        // One exchange more would take another page.
        #expect(outcome.sizeAfter <= before / 2 && outcome.sizeAfter > before / 2 - 2 * Int64(Schema.pageSize))
        let rest = try numbers(scratch.session)
        #expect(rest == Array(outcome.removed + 1...200))
        let small = SessionTrim(removed: nil, largestSize: 1_000)
        #expect(sessionError { try small.inPlace(scratch.session) }?.message.contains("without any exchange") == true)
        #expect(try numbers(scratch.session) == rest)
    }

    @Test("to a size removes no more than has to go, where the oldest are longer than most, too")
    func toSizeOfUneven() throws {
        let feed = try Feed(path: scratch.session)
        for id in Int64(1)...200 {
            let body = Samples.bytes(id <= 100 ? 30_000 : 10_000, seed: UInt64(id))
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, body)]))
        }
        feed.recorder.close()
        let largest = try size(scratch.session) - 600_000
        let outcome = try SessionTrim(removed: nil, largestSize: largest).inPlace(scratch.session)
        // One of them and its pages less would have been too much.
        #expect(outcome.sizeAfter <= largest && outcome.sizeAfter > largest - 90_000, "\(outcome)")
    }

    @Test("to a size takes from a session of a few pages no more than from a large one, as it said before")
    func toSizeOfFew() throws {
        let feed = try Feed(path: scratch.session)
        for id in Int64(1)...29 {
            feed.submit(
                Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(id == 20 ? 90_000 : 9_000, seed: 2))])
            )
        }
        feed.recorder.close()
        for part in [95, 85, 75] as [Int64] {
            let trim = SessionTrim(removed: nil, largestSize: try size(scratch.session) * part / 100)
            let said = try trim.rehearsal(try SessionReader(path: scratch.session))
            let target = scratch.path("\(part).sluice")
            let outcome = try trim.copy(scratch.session, to: target)
            #expect(outcome == said, "\(outcome) \(said)")
            #expect(try outcome.sizeAfter <= trim.largestSize ?? 0 && size(target) == outcome.sizeAfter)
            guard outcome.removed > 0 else { continue }
            // One less would not do.
            let fewer = ExchangeNumbers(ranges: outcome.removed > 1 ? [1...outcome.removed - 1] : [])
            #expect(try SessionCopy.size(scratch.session, without: fewer, upTo: 29) > trim.largestSize ?? 0)
        }
    }

    @Test("in place is refused if another program reads the log of a session, and follows links")
    func readers() throws {
        let feed = try Feed(path: scratch.session)
        for id in Int64(1)...4 { feed.submit(Samples.exchange(id)) }
        feed.recorder.flush()
        // What is left of the file and its log if the recorder is killed.
        let killed = scratch.path("killed.sluice")
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: scratch.session + end, toPath: killed + end)
        }
        feed.recorder.close()
        let trim = SessionTrim(removed: try Filter("id:1"))
        do {
            let reader = try SessionReader(path: killed)
            #expect(try reader.count() == 4)
            let error = sessionError { _ = try trim.inPlace(killed) }
            #expect(error?.message == "\(killed) is open in another program.", "\(String(describing: error))")
            #expect(try reader.count() == 4)
        }
        let link = scratch.path("link.sluice")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: killed)
        let reader = try SessionReader(path: scratch.session)
        #expect(try trim.inPlace(link).kept == 3)
        #expect(try numbers(killed) == [2, 3, 4] && numbers(link) == [2, 3, 4])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == killed)
        #expect(try sqlite(killed, "SELECT ended_at FROM run") == "")
        // A reader of a closed session keeps the file that it opened.
        #expect(try trim.inPlace(scratch.session).kept == 3)
        #expect(try reader.numbers(matching: .everything) == [1, 2, 3, 4] && !reader.isInPlace)
    }

    @Test("reports its progress, and ends if the report throws, with the session unchanged")
    func reports() throws {
        struct Stopped: Error {}
        try record(60)
        var steps: [SessionTrim.Step] = []
        let copy = scratch.path("copy.sluice")
        _ = try SessionTrim(removed: Self.even).copy(scratch.session, to: copy) { step, part in
            if steps.last != step { steps.append(step) }
            #expect(part.map { (0...1).contains($0) } ?? true)
        }
        #expect(steps == [.choosing, .copying])
        for stop in [SessionTrim.Step.choosing, .copying] {
            let other = scratch.path("other.sluice")
            #expect(throws: Stopped.self) {
                try SessionTrim(removed: Self.even).copy(scratch.session, to: other) { step, _ in
                    if step == stop { throw Stopped() }
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            #expect(!left.contains { $0.hasPrefix("other.sluice") }, "\(left)")
        }
        #expect(throws: Stopped.self) {
            try SessionTrim(removed: Self.even).inPlace(scratch.session) { step, _ in
                if step == .copying { throw Stopped() }
            }
        }
        #expect(try numbers(scratch.session) == Array(1...60))
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(files.sorted() == ["copy.sluice", "test.sluice"])
    }

    @Test("into a copy removes what a killed one left there, and nothing that another one still writes")
    func leftovers() throws {
        try record(4)
        // No process has a number as high.
        let (dead, alive) = ("copy.sluice.part-2147483600", "copy.sluice.part-\(getppid())")
        for name in [dead, dead + "-wal", alive, "copy.sluice.part-x", "copy.sluice.part-"] {
            try scratch.write(name, "x")
        }
        _ = try SessionTrim(removed: Self.even).copy(scratch.session, to: scratch.path("copy.sluice"))
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.contains(".part") }
        #expect(Set(left) == [alive, "copy.sluice.part-x", "copy.sluice.part-"])
    }

    @Test("only looked at changes nothing, and counts the same")
    func rehearsal() throws {
        try record(60)
        let bytes = try Data(contentsOf: URL(filePath: scratch.session))
        let outcome = try SessionTrim(removed: Self.even).rehearsal(try SessionReader(path: scratch.session))
        #expect((outcome.removed, outcome.kept, outcome.isEstimate) == (30, 30, false))
        #expect(try Data(contentsOf: URL(filePath: scratch.session)) == bytes)
    }

    @Test("only looked at tells the size that it would have, which is never none, and an error names the user's file")
    func rehearsedSize() throws {
        try record(60)
        for removed in [Self.even, .everything] {
            let trim = SessionTrim(removed: removed)
            let said = try trim.rehearsal(try SessionReader(path: scratch.session))
            let target = scratch.path("copy.sluice")
            let outcome = try trim.copy(scratch.session, to: target)
            #expect(said == outcome && said.sizeAfter >= 10 * Int64(Schema.pageSize), "\(said) \(outcome)")
            #expect(try size(target) == said.sizeAfter)
            try FileManager.default.removeItem(atPath: target)
        }
        let small = SessionTrim(removed: Self.even, largestSize: 1_000)
        let error = sessionError { _ = try small.copy(scratch.session, to: scratch.path("small.sluice")) }
        #expect(error?.message.contains("test.sluice") == true && error?.message.contains(".part-") == false)
    }

    @Test("of all and of nothing, and of what was marked before, comes out right")
    func ends() throws {
        try record(10)
        #expect(try SessionTrim(removed: nil).inPlace(scratch.session).removed == 0)
        #expect(try numbers(scratch.session).count == 10)
        #expect(try SessionTrim(removed: .everything).inPlace(scratch.session).removed == 10)
        #expect(try SessionReader(path: scratch.session).count() == 0)
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM connection") == "0")
        let next = try Recorder(RecorderConfiguration(path: scratch.session))
        #expect(next.nextExchangeID == 11)
        next.close()
        #expect(sessionError { try SessionTrim(removed: nil).inPlace(scratch.path("none.sluice")) }?.code == .missing)
        let other = try scratch.write("text", "no session")
        #expect(sessionError { try SessionTrim(removed: nil).inPlace(other) }?.code == .notASession)
    }
}
