import Files
import Foundation
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import Recording

@Suite("A recording that goes on in another file")
struct RotationTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func rotation(
        _ name: String = "t-%N.sluice",
        period: Int64? = nil,
        size: Int64? = nil,
        keep: SessionRotation.Keep? = nil
    ) throws -> RecorderConfiguration {
        var configuration = RecorderConfiguration(path: nil, sluiceVersion: "1")
        configuration.rotation = SessionRotation(
            pattern: try SessionPattern(scratch.path(name)),
            period: period,
            size: size,
            keep: keep
        )
        return configuration
    }

    private func sessions() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.hasSuffix(".sluice") }.sorted()
    }

    private func numbers(_ name: String) throws -> [Int64] {
        try SessionReader(path: scratch.path(name)).numbers(matching: .everything)
    }

    // MARK: - Names

    @Test("A pattern's names have the time, a running number, or -2 where one is taken, and are known again")
    func names() throws {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (126, 10, 3, 4, 5, 6)
        parts.tm_isdst = -1
        let time = mktime(&parts)
        let dated = try SessionPattern("/tmp/a/t-%Y-%m-%dT%H-%M-%S.sluice")
        #expect(dated.name(at: time, number: 1) == "t-2026-11-03T04-05-06.sluice")
        #expect(dated.name(at: time, number: 12) == "t-2026-11-03T04-05-06-12.sluice")
        #expect(dated.path(of: "x") == "/tmp/a/x" && dated.directory == "/tmp/a/")
        #expect(dated.number(in: "t-2026-11-03T04-05-06.sluice") == 1)
        #expect(dated.number(in: "t-2026-11-03T04-05-06-12.sluice") == 12)
        for other in [
            "t-2026-11-03T04-05-0.sluice", "t-2026-11-03T04-05-06-1.sluice", "t-2026-11-03T04-05-06-02.sluice",
            "t-2026-11-03T04-05-06.sluice-wal", "u-2026-11-03T04-05-06.sluice", "t-2026-11-03T04-05-06-x.sluice", "",
        ] {
            #expect(dated.number(in: other) == nil, "\(other)")
        }
        let numbered = try SessionPattern("%N%d%%.s")
        #expect(
            numbered.name(at: time, number: 7) == "000703%.s" && numbered.name(at: time, number: 12_345) == "1234503%.s"
        )
        #expect(numbered.number(in: "000703%.s") == 7 && numbered.number(in: "1234503%.s") == 12_345)
        #expect(try SessionPattern("s.sluice").name(at: time, number: 2) == "s-2.sluice")
        #expect(try SessionPattern("s").name(at: time, number: 3) == "s-3")
        for wrong in ["", "a/", "%", "a-%q", "%Y/x.sluice", "%N-%N"] {
            #expect(throws: SessionPattern.PatternError.self, "\(wrong)") { try SessionPattern(wrong) }
        }
    }

    @Test("A file that is there is never recorded into, whoever made it")
    func claims() throws {
        try scratch.write("s.sluice", "mine")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("s-2.sluice"), withDestinationPath: "/nowhere")
        let feed = try Feed(try rotation("s.sluice"))
        #expect(feed.recorder.path == scratch.path("s-3.sluice"))
        feed.recorder.close()
        #expect(scratch.text("s.sluice") == "mine")
        let next = try Feed(try rotation("s.sluice"))
        #expect(next.recorder.path == scratch.path("s-4.sluice"))
        next.recorder.close()
    }

    @Test("A number whose file was removed is not given again")
    func removed() throws {
        for name in ["s-2.sluice", "s-3.sluice"] { try scratch.write(name, "mine") }
        let feed = try Feed(try rotation("s.sluice"))
        #expect(feed.recorder.path == scratch.path("s-4.sluice"))
        feed.recorder.close()
    }

    @Test("What a crash left of a file that was being made goes after a minute; another's stays")
    func parts() throws {
        for name in ["t-0007.sluice.part", "t-0008.sluice.part", "other.part"] { try scratch.write(name, "x") }
        for name in ["t-0007.sluice.part", "other.part"] {
            let old = Date(timeIntervalSinceNow: -120)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: scratch.path(name))
        }
        let feed = try Feed(try rotation())
        feed.recorder.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(names == ["other.part", "t-0001.sluice", "t-0008.sluice.part"])
        // Only root can give a file to another user.
        let part = scratch.path("t-0008.sluice.part")
        guard chown(part, 1, gid_t.max) == 0 else { return }
        let old = Date(timeIntervalSinceNow: -120)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: part)
        try Feed(try rotation()).recorder.close()
        #expect(FileManager.default.fileExists(atPath: part), "it is another user's")
    }

    // MARK: - Rotating

    @Test("Under load no exchange is lost or in two files, each file is whole, and numbers go on")
    func load() throws {
        let remarks = Mutex<[RecorderRemark]>([])
        let recorder = try Recorder(
            try rotation(size: 1_000_000),
            onRemark: { remark in
                remarks.withLock { $0.append(remark) }
            }
        )
        let feed = Feed(recorder)
        // Some begin in one file and end when the next ones are recorded.
        var open: [[RecordEvent]] = []
        let count: Int64 = 900
        for id in 1...count {
            let length = id % 3 == 0 ? 20_000 : 900
            let events = Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(length, seed: UInt64(id)))])
            feed.submit(Array(events.prefix(2)))
            open.append(Array(events.dropFirst(2)))
            if open.count > 40 { feed.submit(open.remove(at: Int(id) % 40)) }
            if id % 50 == 0 { recorder.flush() }
        }
        for rest in open { feed.submit(rest) }
        let summary = recorder.close()
        #expect(summary.error == nil && summary.exchanges == count)
        let names = try sessions()
        #expect(names.count > 4 && summary.earlierPaths.count == names.count - 1)
        let sizes = summary.earlierPaths.map { FileFacts(path: $0)?.size ?? 0 }
        #expect(sizes.allSatisfy { (900_000...1_900_000).contains($0) }, "\(sizes)")
        var all: [Int64] = []
        for name in names {
            let path = scratch.path(name)
            #expect(
                try sqlite(path, "PRAGMA integrity_check; SELECT count(*) FROM exchange WHERE state <> 1") == "ok\n0"
            )
            let reader = try SessionReader(path: path)
            #expect(try reader.runs().map { $0.endedAt == nil } == [false])
            let own = try numbers(name)
            #expect(try reader.count() == Int64(own.count))
            for number in own {
                let length = number % 3 == 0 ? 20_000 : 900
                let body = try reader.body(of: ExchangeID(number), side: .responseReceived, limit: 1 << 20)
                #expect(body == Samples.bytes(length, seed: UInt64(number)), "\(number) in \(name)")
            }
            // Nothing is left beside it.
            for end in ["-wal", "-shm"] { #expect(!scratch.exists(name + end)) }
            #expect(try SessionReader(path: path).identity().labels == ["series": "t-%N.sluice"])
            all += own
        }
        #expect(all.sorted() == Array(1...count))
        #expect(try numbers(names[1]).min() ?? 0 > (try numbers(names[0]).min() ?? 0))
        let rotations = remarks.withLock { $0 }.filter { if case .rotated = $0 { true } else { false } }
        #expect(rotations.count == names.count - 1)
    }

    @Test("An exchange goes on in the file where it began, and a connection is known in each file that uses it")
    func inFlight() async throws {
        let feed = try Feed(try rotation(period: 1))
        var connection = ConnectionRecord(
            id: ConnectionID(1),
            leg: .client,
            openedAt: 1,
            localAddress: "a",
            peerAddress: "b"
        )
        feed(.connection(connection))
        let long = Samples.exchange(1, bodies: [(.responseReceived, Samples.bytes(30_000, seed: 1))])
        feed.submit(Array(long.prefix(2)))
        feed.recorder.flush()
        try await eventually("the first rotation") { feed.recorder.path == scratch.path("t-0002.sluice") }
        feed.submit(Samples.exchange(2))
        feed.recorder.flush()
        #expect(try numbers("t-0001.sluice") == [1])
        #expect(try SessionReader(path: scratch.path("t-0001.sluice")).record(ExchangeID(1))?.state == .inFlight)
        feed.submit(Array(long.dropFirst(2)))
        connection.closedAt = 5
        feed(.connection(connection))
        feed.recorder.close()
        let first = try SessionReader(path: scratch.path("t-0001.sluice"))
        #expect(try first.record(ExchangeID(1))?.state == .complete)
        #expect(
            try first.body(of: ExchangeID(1), side: .responseReceived, limit: 1 << 20) == Samples.bytes(30_000, seed: 1)
        )
        let files = try sessions()
        let holders = try files.filter { try numbers($0).contains(2) }
        #expect(holders.count == 1)
        for name in ["t-0001.sluice"] + holders {
            #expect(try SessionReader(path: scratch.path(name)).connection(ConnectionID(1)) != nil, "\(name)")
        }
    }

    @Test("Who looks at a file while it is rotated and then stops leaves nothing beside it")
    func readers() async throws {
        let feed = try Feed(try rotation(period: 1))
        var reader: SessionReader? = try SessionReader(path: scratch.path("t-0001.sluice"))
        feed.submit(Samples.exchange(1))
        feed.recorder.flush()
        try await eventually("the rotation") { feed.recorder.path == scratch.path("t-0002.sluice") }
        #expect(try reader?.count() == 1)
        reader = nil
        try await eventually("the log is gone") { !scratch.exists("t-0001.sluice-wal") }
        feed.recorder.close()
    }

    @Test("However many exchanges stay open, only so many files do")
    func openFiles() async throws {
        let feed = try Feed(try rotation(period: 1))
        for id in 1...40 as ClosedRange<Int64> {
            feed.submit(Array(Samples.exchange(id).prefix(1)))
            feed.recorder.flush()
        }
        #expect(try sessions().count == RecorderLimits.mostEarlierFiles + 1)
        for id in 1...40 as ClosedRange<Int64> { feed.submit(Array(Samples.exchange(id).dropFirst())) }
        feed.recorder.close()
        var all: [Int64] = []
        for name in try sessions() { all += try numbers(name) }
        #expect(all.sorted() == Array(1...40))
    }

    @Test("A file without an exchange is not rotated, and the rules in force are in each file")
    func rules() async throws {
        let feed = try Feed(try rotation(period: 1))
        feed.recorder.noteRules(sources: [ProfileSource(file: "a.yaml", text: "block: []")], switchedOff: ["rewrite"])
        for id in 1...3 as ClosedRange<Int64> {
            feed.submit(Samples.exchange(id))
            feed.recorder.flush()
            try await eventually("rotation \(id)") { feed.recorder.path == scratch.path("t-000\(id + 1).sluice") }
        }
        feed.recorder.close()
        #expect(try sessions().count == 4)
        for name in try sessions() {
            let rules = try SessionReader(path: scratch.path(name)).rules()
            #expect(
                rules.map(\.switchedOff) == [["rewrite"]] && rules.first?.sources.first?.text == "block: []",
                "\(name)"
            )
        }
    }

    @Test("Where the next file cannot be made the recording stays, says so once, and loses nothing")
    func noNext() throws {
        let remarks = Mutex<[RecorderRemark]>([])
        let recorder = try Recorder(
            try rotation("s.sluice", period: 1),
            onRemark: { remark in
                remarks.withLock { $0.append(remark) }
            }
        )
        let feed = Feed(recorder)
        // The highest number that is read in a name, and more of them behind it than are tried.
        let highest = 99_999_999_999_999_999
        for number in highest...highest + 10_000 {
            try scratch.write("s-\(number).sluice", "")
        }
        for id in 1...20 as ClosedRange<Int64> {
            feed.submit(Samples.exchange(id))
            recorder.flush()
        }
        #expect(recorder.close().error == nil)
        #expect(try numbers("s.sluice") == Array(1...20))
        let told = remarks.withLock { $0 }
        guard case .cannotRotate(let path, let error) = try #require(told.first), told.count == 1 else {
            Issue.record("\(told)")
            return
        }
        #expect(path == scratch.path("s.sluice") && error.code == .exists)
        #expect(scratch.bytes("s-\(highest + 1).sluice").isEmpty)
    }

    // MARK: - Keeping

    @Test("--keep removes finished files of the series, and nothing else: not another's, not an open one, not a link")
    func keep() async throws {
        let hand = try Feed(path: scratch.path("t-0000.sluice"))
        hand.submit(Samples.exchange(1))
        hand.recorder.close()
        try scratch.write("t-0001.sluice", "a text that somebody has called so")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("t-0002.sluice"),
            withDestinationPath: scratch.path("t-0000.sluice")
        )
        let feed = try Feed(try rotation(period: 1, keep: .files(2)))
        var held: FileHandle?
        for id in 1...6 as ClosedRange<Int64> {
            feed.submit(Samples.exchange(id))
            feed.recorder.flush()
            let name = "t-000\(id + 2).sluice"
            if id == 2 { held = try FileHandle(forReadingFrom: URL(filePath: scratch.path(name))) }
            try await eventually("rotation \(id)") { feed.recorder.path != scratch.path(name) }
        }
        feed.recorder.close()
        #expect(
            try sessions() == [
                "t-0000.sluice", "t-0001.sluice", "t-0002.sluice", "t-0004.sluice", "t-0008.sluice", "t-0009.sluice",
            ]
        )
        try held?.close()
        // The one that was open is the first to go with the next run.
        let next = try Feed(try rotation(keep: .files(2)))
        next.recorder.close()
        #expect(
            try sessions() == ["t-0000.sluice", "t-0001.sluice", "t-0002.sluice", "t-0009.sluice", "t-0010.sluice"]
        )
    }

    @Test("--keep goes by the running number, not by a clock that was set back meanwhile")
    func setBack() throws {
        for _ in 0..<3 {
            let feed = try Feed(try rotation())
            feed.submit(Samples.exchange(1))
            feed.recorder.close()
        }
        // As if the clock had been set back an hour before the last one.
        _ = try sqlite(scratch.path("t-0003.sluice"), "UPDATE run SET started_at = started_at - 3600000000")
        let series = SessionSeries(rotation: try #require(try rotation(keep: .files(1)).rotation))
        #expect(series.prune(current: 0) == ["t-0001.sluice", "t-0002.sluice"].map(scratch.path))
        #expect(try sessions() == ["t-0003.sluice"])
    }

    @Test("What a recorder made last is newest, though the clock was set back; what was there before goes by its time")
    func clockSetBack() throws {
        var configuration = try rotation("s.sluice", keep: .files(2))
        let series = SessionSeries(rotation: try #require(configuration.rotation))
        configuration.labels[SessionSeries.label] = series.name
        func made(_ by: SessionSeries, begunAt: Int64) throws {
            let session = try by.next(configuration, following: 0)
            try session.close()
            _ = try sqlite(session.path, "UPDATE run SET started_at = \(begunAt)")
        }
        let earlier = SessionSeries(rotation: series.rotation)
        for time in [7_000, 5_000, 6_000] as [Int64] { try made(earlier, begunAt: time) }
        // The first file of the run, and those after the clock was set back.
        try made(series, begunAt: 8_000)
        #expect(series.prune(current: 0) == ["s-2.sluice", "s-3.sluice"].map(scratch.path))
        for (index, time) in ([3_000, 2_000, 1_000] as [Int64]).enumerated() {
            try made(series, begunAt: time)
            let removed = [["s.sluice"], ["s-4.sluice"], ["s-5.sluice"]][index]
            #expect(series.prune(current: 0) == removed.map(scratch.path), "\(index)")
        }
        #expect(try sessions() == ["s-6.sluice", "s-7.sluice"])
        // What another recorder made meanwhile came after those.
        try made(earlier, begunAt: 500)
        #expect(series.prune(current: 0) == [scratch.path("s-6.sluice")])
    }

    @Test("By age, a file whose time is in the future stays")
    func future() throws {
        for _ in 0..<2 { try Feed(try rotation()).recorder.close() }
        for (name, seconds) in [("t-0001.sluice", 10_800), ("t-0002.sluice", 1e15)] {
            let time = Date(timeIntervalSinceNow: seconds)
            try? FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: scratch.path(name))
        }
        let series = SessionSeries(rotation: try #require(try rotation(keep: .age(3_600_000_000)).rotation))
        #expect(series.prune(current: 0) == [])
        let later = WallClock.now() + 3 * 3_600_000_000
        #expect(series.prune(current: 0, now: later) == [])
        let removed = series.prune(current: 0, now: later + 3_700_000_000)
        #expect(removed.contains(scratch.path("t-0001.sluice")))
    }

    @Test("--keep with an age goes by when a file was written last; a file that another recorder has stays")
    func age() throws {
        for _ in 0..<3 {
            let feed = try Feed(try rotation())
            feed.submit(Samples.exchange(1))
            feed.recorder.close()
        }
        let old = Date(timeIntervalSinceNow: -8 * 86_400)
        for name in ["t-0001.sluice", "t-0003.sluice"] {
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: scratch.path(name))
        }
        let series = SessionSeries(rotation: try #require(try rotation(keep: .age(7 * 86_400_000_000)).rotation))
        let lock = try SessionLock(path: scratch.path("t-0003.sluice"))
        #expect(series.prune(current: 0) == [scratch.path("t-0001.sluice")])
        lock.release()
        #expect(series.prune(current: 0) == [scratch.path("t-0003.sluice")])
        #expect(try sessions() == ["t-0002.sluice"])
    }

    @Test("A clock that is set forward while a recording runs makes no file old")
    func setForward() throws {
        let day = Int64(86_400_000_000)
        let feed = try Feed(try rotation())
        feed.submit(Samples.exchange(1))
        feed.recorder.close()
        // The recording began eight days ago by the clock, and only a moment ago in truth.
        let written = Date(timeIntervalSinceNow: -8 * 86_400)
        try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: scratch.path("t-0001.sluice"))
        let rotation = try #require(try rotation(keep: .age(7 * day)).rotation)
        let clock = SteadyClock(startedAt: WallClock.now() - 8 * day)
        #expect(SessionSeries(rotation: rotation, clock: clock).prune(current: 0) == [])
        #expect(SessionSeries(rotation: rotation).prune(current: 0) == [scratch.path("t-0001.sluice")])
    }
}
