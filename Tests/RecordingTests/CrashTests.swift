import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@Suite("A recorder that ends without a word")
struct CrashTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func child(_ mode: String, _ path: String? = nil) throws -> (ChildProgram, Pipe) {
        let directory = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        let output = Pipe()
        let program = try ChildProgram(
            directory.appending(path: "RecorderCrashChild").path,
            [mode, path ?? scratch.session],
            output: output.fileHandleForWriting,
            errors: .standardError
        )
        try output.fileHandleForWriting.close()
        return (program, output)
    }

    @Test("After kill -9 the file is whole, keeps all that was written in time, and says what was in flight")
    func killed() throws {
        let (program, output) = try child("load")
        let started = Date()
        var text = ""
        while Date().timeIntervalSince(started) < 1 || text.count < 50_000 {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the child ended by itself")
            text += String(decoding: data, as: UTF8.self)
        }
        program.signal(SIGKILL)
        program.wait()

        let lines = text.split(separator: "\n").dropLast().compactMap(Line.init)
        let written = lines.filter { $0.what == "written" }
        let lastWritten = try #require(written.last?.id)
        let ended = lines.filter { $0.what == "ended" }
        let promised = ended.filter { $0.id <= lastWritten }.map(\.id)
        #expect(promised.count > 100)
        // The promise of 200 ms holds for a disk that is fast enough, which a busy one is not at times; a recorder that
        // is slow by itself is slow nearly always.
        #expect(Self.usualDelay(ended: ended, written: written) < 200_000)

        // Another process reads the session as the crash left it.
        let left = try SessionReader(path: scratch.session)
        var present: Set<Int64> = []
        try left.forEachRecord { record in
            if record.state == .complete { present.insert(record.id.number) }
            return true
        }
        let missing = promised.filter { !present.contains($0) }.count
        #expect(missing == 0, "of \(promised.count)")

        let feed = try Feed(path: scratch.session)
        let report = try #require(feed.recorder.recovered)
        #expect(report.count > 0)
        #expect(report.first.first == ExchangeID(100))
        #expect(feed.recorder.nextExchangeID > promised.last ?? 0)
        feed.submit(Samples.exchange(feed.recorder.nextExchangeID))
        feed.recorder.close()

        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(ExchangeID(100))?.state == .interrupted)
        #expect(try reader.runs().map { $0.endedAt == nil } == [true, false])
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM exchange WHERE state = 0") == "0")
        #expect(try sqlite(scratch.session, "SELECT count(*) = (SELECT exchanges FROM summary) FROM exchange") == "1")
    }

    /// The first few of what `Tests/Soak/crash.py` does two hundred times with a whole Sluice.
    @Test("After kill -9 at any moment of a rotation every file opens and is whole, and no exchange is lost or in two")
    func killedWhileRotating() throws {
        var random = SplitMix(20_261_123)
        for moment in 0..<8 {
            let folder = scratch.path("r\(moment)")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (program, output) = try child("rotate", "\(folder)/s-%N.sluice")
            // A moment in how much was told, which needs no clock: some 30 bytes for each exchange.
            let length = 60_000 + Int(random.next() % 300_000)
            var text = ""
            while text.utf8.count < length {
                let data = output.fileHandleForReading.availableData
                try #require(!data.isEmpty, "the child ended by itself")
                text += String(decoding: data, as: UTF8.self)
            }
            program.signal(SIGKILL)
            program.wait()
            let lines = text.split(separator: "\n").dropLast().compactMap(Line.init)
            let lastWritten = try #require(lines.last { $0.what == "written" }?.id)
            var found: [Int64] = []
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sluice") }
            #expect(names.count >= 2, "moment \(moment)")
            for name in names.sorted() {
                let path = "\(folder)/\(name)"
                try SessionReader(path: path).forEachRecord { record in
                    if record.state == .complete { found.append(record.id.number) }
                    return true
                }
                #expect(try sqlite(path, "PRAGMA integrity_check") == "ok", "\(name) of moment \(moment)")
            }
            #expect(Set(found).count == found.count, "moment \(moment)")
            // Those of files that are gone by --keep are the oldest; from the oldest that is left on, none is missing.
            let first = try #require(found.min())
            let promised = lines.filter { $0.what == "ended" && $0.id <= lastWritten && $0.id >= first }.map(\.id)
            let lost = Set(promised).subtracting(found)
            #expect(
                lost.isEmpty && !promised.isEmpty,
                "moment \(moment): \(lost.sorted().prefix(5)) of \(promised.count)"
            )
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test(
        "20,000 exchanges more do not make the process larger by 8 MiB",
        .disabled(
            if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil,
            "a sanitiser keeps memory that was freed"
        )
    )
    func memory() throws {
        let (program, output) = try child("memory")
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.wait()
        let grown = try #require(text.split(separator: "\n").first.flatMap(Line.init))
        #expect(grown.id < 8 << 10, "KiB")
    }

    /// One line of what the child tells.
    private struct Line {
        var what: Substring
        var id: Int64
        var time: Int64

        init?(_ text: Substring) {
            let words = text.split(separator: " ")
            guard words.count == 3, let id = Int64(words[1]), let time = Int64(words[2]) else { return nil }
            (what, self.id, self.time) = (words[0], id, time)
        }
    }

    /// The lower quartile of the time in microseconds from the end of an exchange to its being written.
    private static func usualDelay(ended: [Line], written: [Line]) -> Int64 {
        var delays: [Int64] = []
        var next = 0
        for line in ended {
            while next < written.count, written[next].id < line.id { next += 1 }
            guard next < written.count else { break }
            delays.append(written[next].time - line.time)
        }
        delays.sort()
        return delays.isEmpty ? .max : delays[delays.count / 4]
    }

    @Test("Another process's recorder keeps ours away until it is killed")
    func twoProcesses() throws {
        let (program, output) = try child("load")
        _ = output.fileHandleForReading.availableData
        #expect(sessionError { try Feed(path: scratch.session) }?.code == .locked)
        program.signal(SIGKILL)
        program.wait()
        #expect(sessionError { try Feed(path: scratch.session).recorder.close() } == nil)
    }

    @Test("A write that the system refuses stops the recording and leaves a whole file")
    func smallDisk() throws {
        let (program, output) = try child("small-disk")
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.wait()
        let words = text.split(whereSeparator: \.isWhitespace)
        try #require(words.count == 3, "\(text)")
        #expect(words[0] == "write-failed")
        let ended = try #require(Int64(words[1]))
        let notRecorded = try #require(Int64(words[2]))
        #expect(notRecorded > 0)
        let reader = try SessionReader(path: scratch.session)
        var complete: Int64 = 0
        try reader.forEachRecord { record in
            if record.state == .complete { complete += 1 }
            return true
        }
        #expect(complete == ended - notRecorded)
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
    }
}
