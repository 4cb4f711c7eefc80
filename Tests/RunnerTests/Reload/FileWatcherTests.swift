import Foundation
import Testing

@testable import Runner

@Suite("Watching files")
struct FileWatcherTests {
    /// A clock that stands still until it is told to go on.
    private struct Clock: Sendable {
        let ticks: AsyncStream<Void>
        let moves: AsyncStream<Void>.Continuation
        /// Says that a look is over: the watcher waits again.
        let rests: AsyncStream<Void>
        private let rest: AsyncStream<Void>.Continuation

        init() {
            (ticks, moves) = AsyncStream.makeStream()
            (rests, rest) = AsyncStream.makeStream()
        }

        func tick() async -> Bool {
            rest.yield()
            var iterator = ticks.makeAsyncIterator()
            return await iterator.next() != nil
        }

        /// Lets the watcher look once, and waits until it has.
        func step(_ rests: inout AsyncStream<Void>.Iterator) async {
            moves.yield()
            _ = await rests.next()
        }
    }

    private actor Calls {
        private(set) var count = 0
        func add() { count += 1 }
    }

    @Test("calls back once for each change of real files, also of those that a change has added")
    func files() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (main, include) = (directory + "/main.yaml", directory + "/include.yaml")
        func write(_ text: String, _ path: String, atomically: Bool = false) throws {
            try Data(text.utf8).write(to: URL(filePath: path), options: atomically ? .atomic : [])
        }
        try write("1", main)
        try write("1", include)

        let clock = Clock()
        let calls = Calls()
        let watcher = FileWatcher([main], tick: clock.tick) {
            await calls.add()
            return [main, include]
        }
        var rests = clock.rests.makeAsyncIterator()
        _ = await rests.next()
        func settle() async {
            for _ in 0..<3 { await clock.step(&rests) }
        }
        await settle()
        #expect(await calls.count == 0)
        try write("22", main)
        await settle()
        #expect(await calls.count == 1)
        // As editors do that write another file and rename it.
        try write("33", main, atomically: true)
        await settle()
        #expect(await calls.count == 2)
        try write("22", include)
        await settle()
        #expect(await calls.count == 3)
        try FileManager.default.removeItem(atPath: include)
        await settle()
        #expect(await calls.count == 4)
        await settle()
        #expect(await calls.count == 4)
        // As for one that was made readable.
        #expect(chmod(main, 0o600) == 0)
        await settle()
        #expect(await calls.count == 5)
        clock.moves.finish()
        await watcher.stop()
    }

    @Test("ends when it is stopped")
    func stop() async throws {
        let watcher = FileWatcher(["/no/such/file"]) { [] }
        await watcher.stop()
    }
}
