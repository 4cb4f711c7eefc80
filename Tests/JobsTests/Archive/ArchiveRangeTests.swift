import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@testable import Formats
@testable import Jobs

@Suite("Numbers in a HAR")
struct ArchiveRangeTests {
    @Test(
        "Whatever a number is, the session that it becomes can be read, or the archive is refused with the place",
        arguments: 0..<HostileNumbers.count(ArchiveProbe.template)
    )
    func numbers(_ place: Int) {
        HostileNumbers.expect(ArchiveProbe.template, at: place) { _ = try ArchiveProbe.read($0) }
    }

    @Test("What is out of range, or below 0, is not known; the archive is read all the same")
    func leftOut() throws {
        func refusal(_ text: String) throws -> String? {
            // The third number of the timings, in the seventh line.
            let json = HostileNumbers.filled(ArchiveProbe.template) { $0 == 7 ? text : nil }
            return try ArchiveProbe.read(Array(json.utf8))
        }
        #expect(try refusal("1e300") == nil)
        #expect(try refusal("-1") == nil)
        #expect(try refusal("-1e400") == nil)
        #expect(try refusal("null") == nil)
    }

    @Test("Codings that are named twenty thousand times are not applied")
    func codings() throws {
        var message = ArchiveEntry.Message()
        message.fields = [("Content-Encoding", Array(repeating: "gzip", count: 20_001).joined(separator: ", "))]
        message.text = "x"
        var entry = ArchiveEntry()
        (entry.method, entry.url, entry.status, entry.response) = ("GET", "http://a.example/", 200, message)
        var recording = ArchiveRecording()
        let events = recording.events(entry)
        let body = events.compactMap { event in
            if case .body(_, .responseReceived, let bytes) = event { String(buffer: bytes) } else { nil }
        }
        #expect(body == ["x"])
    }

    @Test("An import whose task is cancelled ends, and leaves nothing behind")
    func cancelled() async throws {
        let path = NSTemporaryDirectory() + "sluice-test-\(UUID().uuidString).har"
        try Data(HostileNumbers.filled(ArchiveProbe.template) { _ in nil }.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try ImportedArchive(path)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("no input of archives fails", arguments: try FuzzReplay.all("Archives", seeds: ArchiveProbe.seeds))
    func fuzz(_ input: FuzzReplay) throws {
        try ArchiveProbe.run(input.bytes)
    }
}
