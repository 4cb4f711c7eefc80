import Foundation
import NIOCore
import Support
import Testing

@testable import Files

extension Scratch {
    fileprivate func callAsFunction(_ name: String) -> String { path(name) }

    fileprivate func facts(_ name: String) -> stat {
        var facts = stat()
        lstat(self(name), &facts)
        return facts
    }

    fileprivate var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

    fileprivate func makePipe(_ name: String) -> String {
        mkfifo(self(name), 0o600)
        return self(name)
    }
}

private func failure(_ body: () throws -> Void) -> FileError? {
    #expect(throws: FileError.self, performing: body)
}

@Suite("Whether a file is where it was")
struct FilePlaceTests {
    @Test("It is not where there is nothing or another file; where nothing can be told, it may be")
    func places() throws {
        let scratch = try Scratch()
        let path = try scratch.write("a", "1")
        let identity = try #require(FileFacts(path: path)?.identity)
        #expect(FileFacts.mayLead(path, to: identity))
        #expect(!FileFacts.mayLead(try scratch.write("b", "1"), to: identity))
        #expect(!FileFacts.mayLead(scratch("none"), to: identity))
        #expect(!FileFacts.mayLead(path + "/a", to: identity))
        // As a folder that may not be looked into, but for root too.
        #expect(symlink("loop", scratch("loop")) == 0)
        #expect(FileFacts.mayLead(scratch("loop/a"), to: identity))
    }
}

@Suite("Files that are read")
struct InputFileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("A file is read to its end, or as far as is asked")
    func regular() throws {
        let file = try scratch.write("a", "0123456789")
        #expect(try InputFile.contents(of: file, atMost: 100) == Array("0123456789".utf8))
        #expect(try InputFile.contents(of: file, atMost: 4) == Array("0123".utf8))
        #expect(symlink("a", scratch("link")) == 0)
        #expect(try InputFile.contents(of: scratch("link"), atMost: 2) == Array("01".utf8))
    }

    @Test("What is no file is refused at once, in words")
    func others() throws {
        func said(_ path: String) -> String? { failure { _ = try InputFile.contents(of: path, atMost: 1) }?.reason }
        #expect(said(scratch("none")) == "cannot be read: No such file or directory")
        #expect(said(scratch.path) == "cannot be read: it is a directory, not a file")
        #expect(said(scratch.makePipe("pipe")) == "cannot be read: it is a pipe, not a file")
        #expect(said("/dev/zero") == "cannot be read: it is a device, not a file")
        let missing = failure { _ = try InputFile.contents(of: scratch("none"), atMost: 1) }
        #expect(missing?.cause == .missing)
        #expect(missing?.description == "\(scratch("none")) cannot be read: No such file or directory.")
    }

    @Test("A command's output is read to its end where pipes are taken")
    func pipe() async throws {
        let pipe = scratch.makePipe("pipe")
        async let written: Void = blocking {
            let file = try OutputFile(pipe)
            try file.write(ByteBuffer(repeating: 7, count: 200_000))
        }
        let read = try await blocking { try InputFile.contents(of: pipe, atMost: 1 << 20, takesPipes: true) }
        try await written
        #expect(read == [UInt8](repeating: 7, count: 200_000))
        #expect(InputFile.isPipe(pipe) && !InputFile.isPipe(scratch.path))
    }

    @Test("A pipe that is silent is given up")
    func silent() throws {
        let pipe = scratch.makePipe("pipe")
        let problem = failure {
            _ = try InputFile.contents(of: pipe, atMost: 1, takesPipes: true, patience: 20)
        }
        #expect(problem?.reason.hasPrefix("cannot be read: the pipe sent nothing for ") == true)
    }
}

@Suite("Files that are written")
struct OutputFileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func put(_ text: String, _ path: String, isSecret: Bool = false) throws {
        let file = try OutputFile(path, isSecret: isSecret, waits: false)
        try file.write(text)
        #expect(file.count == text.utf8.count)
        try file.finish()
    }

    @Test("A file appears when it is whole, and not at all where it is not finished")
    func whole() throws {
        do {
            let file = try OutputFile(scratch("a.har"), isSecret: true)
            try file.write("half")
            let temporary = try #require(scratch.names.first)
            #expect(scratch.names.count == 1 && temporary.hasPrefix("a.har.") && scratch.mode(temporary) == 0o600)
        }
        #expect(scratch.names == [])
        try put("whole", scratch("a.har"))
        #expect(scratch.names == ["a.har"] && scratch.text("a.har") == "whole")
        let long = String(repeating: "é", count: 120)
        try put("long", scratch(long))
        #expect(scratch.text(long) == "long")
    }

    @Test("A secret file is the user's alone whatever it replaces; another keeps the mode of that one")
    func modes() throws {
        try scratch.write("secret", "old", mode: 0o666)
        try put("new", scratch("secret"), isSecret: true)
        #expect(scratch.mode("secret") == 0o600)
        try scratch.write("plain", "old", mode: 0o640)
        try put("new", scratch("plain"))
        #expect(scratch.mode("plain") == 0o640 && scratch.text("plain") == "new")
    }

    @Test("A link stays, and what it leads to is written, whether it is there or not")
    func links() throws {
        try FileManager.default.createDirectory(atPath: scratch("sub"), withIntermediateDirectories: true)
        try scratch.write("sub/target", "old")
        symlink("sub/target", scratch("one"))
        symlink("one", scratch("two"))
        symlink(scratch("sub/new"), scratch("dangling"))
        symlink("loop", scratch("loop"))
        try put("new", scratch("two"))
        try put("made", scratch("dangling"))
        #expect(scratch.text("sub/target") == "new" && scratch.text("sub/new") == "made")
        for name in ["one", "two", "dangling"] { #expect(scratch.facts(name).st_mode & S_IFMT == S_IFLNK) }
        #expect(failure { try put("x", scratch("loop")) } != nil)
        #expect(scratch.names == ["dangling", "loop", "one", "sub", "two"])
    }

    @Test("A link that another user put into a directory is not followed", .enabled(if: geteuid() == 0))
    func foreignLink() throws {
        try scratch.write("mine", "kept")
        symlink("mine", scratch("planted"))
        lchown(scratch("planted"), 65_534, 65_534)
        #expect(failure { try put("new", scratch("planted")) }?.reason.contains("another user") == true)
        #expect(scratch.text("mine") == "kept")
    }

    @Test("A temporary file is a new one: what stands there is neither followed nor emptied")
    func exclusive() throws {
        let target = try scratch.write("target", "kept")
        symlink(target, scratch("link"))
        symlink(scratch("nothing"), scratch("dangling"))
        for name in ["target", "link", "dangling"] {
            #expect(OutputFile.create(scratch(name), mode: 0o600) == -1, "\(name)")
        }
        #expect(scratch.text("target") == "kept")
        #expect(!scratch.names.contains("nothing"))
        let descriptor = OutputFile.create(scratch("new"), mode: 0o600)
        #expect(descriptor >= 0 && close(descriptor) == 0)
        #expect(scratch.mode("new") == 0o600)
    }

    @Test("A device is written into and stays one", .enabled(if: geteuid() == 0))
    func device() throws {
        // The same as /dev/null.
        guard mknod(scratch("null"), S_IFCHR | 0o666, 1 << 8 | 3) == 0 else { return }
        symlink("null", scratch("link"))
        try put("gone", scratch("null"))
        try put("gone", scratch("link"))
        #expect(scratch.facts("null").st_mode & S_IFMT == S_IFCHR)
        #expect(scratch.names == ["link", "null"])
    }

    @Test("A pipe is written into; nobody reading it is an error, where it is not waited for")
    func pipe() async throws {
        let pipe = scratch.makePipe("pipe")
        #expect(failure { try put("x", pipe) }?.reason == "cannot be written: nobody reads the pipe")
        async let read = blocking { try InputFile.contents(of: pipe, atMost: 100, takesPipes: true) }
        try await blocking {
            let file = try OutputFile(pipe)
            try file.write("through")
            try file.finish()
        }
        #expect(try await read == Array("through".utf8))
        #expect(scratch.facts("pipe").st_mode & S_IFMT == S_IFIFO)
    }

    @Test("An open descriptor is written where it stands")
    func descriptor() throws {
        let descriptor = open(try scratch.write("log", "before "), O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        try put("after", "/dev/fd/\(descriptor)")
        #expect(scratch.text("log") == "before after")
        #expect(failure { try put("x", "/dev/fd/9999") } != nil)
    }

    @Test("Directories are refused, and a folder that is not there")
    func impossible() throws {
        #expect(failure { try put("x", scratch.path) }?.reason == "cannot be written: it is a directory")
        #expect(failure { try put("x", scratch("none/a")) }?.reason == "cannot be written: No such file or directory")
        #expect(failure { try put("x", "") } != nil)
    }

    @Test("What is there is told, and left where that is asked for")
    func there() throws {
        try scratch.write("full", "x")
        try scratch.write("empty", "")
        symlink("full", scratch("link"))
        #expect(["full", "link"].allSatisfy { OutputFile.isThere(scratch($0)) })
        #expect(!["empty", "none"].contains { OutputFile.isThere(scratch($0)) } && !OutputFile.isThere("/dev/null"))
        for (name, isNew) in [("full", false), ("new", true)] {
            let file = try OutputFile(scratch(name))
            try file.write("y")
            #expect(try file.finishUnlessThere() == isNew)
        }
        #expect(scratch.text("full") == "x" && scratch.text("new") == "y")
        #expect(scratch.names == ["empty", "full", "link", "new"])
    }
}

@Suite("Directories that are written")
struct OutputDirectoryTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func fill(_ directory: OutputDirectory, _ names: String...) throws {
        for name in names {
            let file = try directory.file(name)
            try file.write(ByteBuffer(string: "new "))
            try file.write(ByteBuffer(string: name))
        }
    }

    @Test("It appears whole, with modes for the user alone; what is not finished leaves nothing")
    func whole() throws {
        for end in ["", "/"] {
            do {
                let directory = try OutputDirectory(scratch("d") + end)
                try fill(directory, "a", "b")
                #expect(!scratch.exists("d") && scratch.names.count == 1)
            }
            #expect(scratch.names.isEmpty)
        }
        let directory = try OutputDirectory(scratch("d/"))
        try fill(directory, "a", "b")
        try directory.finish()
        #expect(scratch.names == ["d"] && scratch.bytes("d/b") == Array("new b".utf8))
        #expect(scratch.facts("d").st_mode & 0o777 == 0o700 && scratch.facts("d/a").st_mode & 0o777 == 0o600)
        #expect(throws: FileError.self) { try OutputDirectory(scratch("missing/d")) }
    }

    @Test("An empty directory is replaced, by a link to it too; one with files only where it is forced, and they stay")
    func there() throws {
        try FileManager.default.createDirectory(atPath: scratch("d"), withIntermediateDirectories: false)
        #expect(symlink("d", scratch("link")) == 0 && !OutputDirectory.isThere(scratch("link")))
        let first = try OutputDirectory(scratch("link"))
        try fill(first, "a", "b")
        try first.finish()
        #expect(scratch.names == ["d", "link"] && scratch.facts("link").st_mode & S_IFMT == S_IFLNK)
        #expect(OutputDirectory.isThere(scratch("link")))
        #expect(failure { _ = try OutputDirectory(scratch("d")) }?.reason.contains("files in it already") == true)
        _ = try scratch.write("d/a", "old")
        let second = try OutputDirectory(scratch("d"), isForced: true)
        try fill(second, "a", "c")
        #expect(scratch.bytes("d/a") == Array("old".utf8))
        try second.finish()
        #expect(scratch.bytes("d/a") == Array("new a".utf8) && scratch.bytes("d/b") == Array("new b".utf8))
        #expect(scratch.exists("d/c") && scratch.names == ["d", "link"])
    }

    @Test("A file in its place, and files that come meanwhile, are not lost")
    func inTheWay() throws {
        _ = try scratch.write("f", "file")
        #expect(OutputDirectory.isThere(scratch("f")))
        #expect(
            failure { _ = try OutputDirectory(scratch("f"), isForced: true) }?.reason.contains("not a dir") == true
        )
        let directory = try OutputDirectory(scratch("d"))
        try fill(directory, "a")
        try FileManager.default.createDirectory(atPath: scratch("d"), withIntermediateDirectories: false)
        _ = try scratch.write("d/mine", "mine")
        #expect(failure { try directory.finish() } != nil)
        #expect(scratch.bytes("d/mine") == Array("mine".utf8) && !scratch.exists("d/a"))
    }
}
