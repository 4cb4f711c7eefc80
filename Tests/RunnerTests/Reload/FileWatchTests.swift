import Testing

@testable import Runner

@Suite("Noticing that files have changed")
struct FileWatchTests {
    /// A file system of a few files.
    private struct Files {
        struct Facts: Hashable {
            var modifiedAt: Int64
            var size: Int64
            var number: UInt64
        }

        var facts: [String: Facts] = [:]
        private var clock: Int64 = 0

        mutating func write(_ path: String, size: Int64 = 1) {
            clock += 1
            let number = facts[path]?.number ?? UInt64(100 + facts.count)
            facts[path] = Facts(modifiedAt: clock, size: size, number: number)
        }

        /// Another file takes the name, with the time and size of the old one.
        mutating func replace(_ path: String) {
            clock += 1
            facts[path]?.number = UInt64(1_000 + clock)
        }

        func look(_ path: String) -> Facts? { facts[path] }
    }

    private var files = Files()
    private var watch: FileWatch<Files.Facts>

    init() {
        files.write("a")
        files.write("b")
        watch = FileWatch(["a", "b", "missing"], files.look)
    }

    private mutating func poll() -> Bool { watch.poll(files.look) }

    @Test("says nothing of files that stay as they are")
    mutating func quiet() {
        for _ in 0..<5 { #expect(!poll()) }
    }

    @Test("waits until a file has been quiet for one further look, and tells once")
    mutating func once() {
        files.write("a")
        #expect(!poll())
        #expect(poll())
        #expect(!poll())
    }

    @Test("waits on while a file is being written")
    mutating func halfWritten() {
        for size in 2...6 as ClosedRange<Int64> {
            files.write("a", size: size)
            #expect(!poll())
        }
        #expect(poll())
        #expect(!poll())
    }

    @Test("waits for the last of several files")
    mutating func several() {
        files.write("a")
        #expect(!poll())
        files.write("b")
        #expect(!poll())
        #expect(poll())
    }

    @Test("notices another file of the same name, time and size")
    mutating func replaced() {
        files.replace("a")
        #expect(!poll())
        #expect(poll())
    }

    @Test("says nothing of a file that was away for a moment and is the same again")
    mutating func away() {
        let facts = files.facts.removeValue(forKey: "a")
        #expect(!poll())
        files.facts["a"] = facts
        #expect(!poll())
        #expect(!poll())
    }

    @Test("tells that a file is gone, that it is back, and that one has come")
    mutating func goneAndBack() {
        files.facts["a"] = nil
        #expect(!poll())
        #expect(poll())
        #expect(!poll())
        files.write("a")
        #expect(!poll())
        #expect(poll())
        files.write("missing")
        #expect(!poll())
        #expect(poll())
    }

    @Test("watches what is added from then on, forgets what is not watched any more, keeps what it knows")
    mutating func otherFiles() {
        files.write("include")
        files.write("a")
        #expect(!poll())
        // The change of `a` is known, but not told yet.
        watch.watch(["a", "include"], files.look)
        #expect(poll())
        files.write("b")
        #expect(!poll())
        #expect(!poll())
        files.write("include")
        #expect(!poll())
        #expect(poll())
    }
}
