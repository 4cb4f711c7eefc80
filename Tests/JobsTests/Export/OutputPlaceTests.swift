import Files
import Formats
import Foundation
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs

@Suite("What is read is not written over")
struct OutputPlaceTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func session(_ name: String) throws -> String {
        let path = scratch.path(name)
        try Recorder(RecorderConfiguration(path: path)).close()
        return path
    }

    private func refusal(_ path: String?, reading source: String) -> String? {
        do throws(StartError) {
            try OutputPlace.check(path, reading: source)
            return nil
        } catch {
            #expect(error.isUsage && error.hint == "Name another file.")
            return error.message
        }
    }

    @Test("A large export is announced once")
    func growth() throws {
        let path = scratch.path("large")
        let file = try OutputFile(path)
        var destination = ExportDestination(file, bodies: BodyDirectory(path: path + ".bodies", referredToAs: nil))
        var announced: [Int] = []
        var written = 0
        destination.onGrowth(beyond: 10) { announced.append(written) }
        for size in [6, 4, 1, 20] {
            try destination.sink(ByteBuffer(repeating: 0x61, count: size))
            written += size
        }
        try file.finish()
        #expect(announced == [10])
        #expect(try Data(contentsOf: URL(filePath: path)).count == 31)
    }

    @Test("The session itself by its name, a link or another path, what SQLite keeps beside it, and another session")
    func session() throws {
        let source = try session("s.sluice")
        #expect(refusal(source, reading: source) == "\(source) is the session itself.")
        let (soft, hard) = (scratch.path("soft"), scratch.path("hard"))
        #expect(symlink(source, soft) == 0 && link(source, hard) == 0)
        for path in [soft, hard, scratch.path("./s.sluice"), scratch.path("x/../s.sluice")] {
            try? FileManager.default.createDirectory(atPath: scratch.path("x"), withIntermediateDirectories: true)
            #expect(refusal(path, reading: source) == "\(path) is the session itself.")
        }
        for end in ["-wal", "-shm", "-journal"] {
            // Whether it is there or not.
            #expect(refusal(source + end, reading: soft) == "\(source + end) belongs to the session \(soft).")
        }
        let other = try session("t.sluice")
        #expect(refusal(other, reading: source) == "\(other) is another session, which would be lost.")
    }

    @Test("An archive, too; other files, new ones, devices and standard output are free")
    func others() throws {
        let source = try scratch.write("x.har", "{}")
        #expect(refusal(source, reading: source) == "\(source) is the archive itself.")
        let file = try scratch.write("y.har", "{}")
        for path in [file, scratch.path("new"), "/dev/null", "-", nil] {
            #expect(refusal(path, reading: source) == nil)
        }
        #expect(throws: StartError.self) { try OutputPlace.check(file, reading: file, calling: "the profile") }
        #expect(refusal("", reading: source) == "The name of the file to write is empty.")
    }
}
