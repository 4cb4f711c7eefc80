import Foundation
import Support
import Testing

@testable import Jobs
@testable import Runner

@Suite("Temporary directories")
struct TemporaryDirectoryTests {
    private static let mark = "a temporary directory of sluice, process 1\n"

    @Test("Files in it are the user's alone")
    func mode() throws {
        let scratch = try Scratch()
        let directory = try TemporaryDirectory(.run, in: scratch.path)
        let file = try directory.write(Data("x".utf8), to: "ca.pem")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }

    @Test("What a process left that was killed is removed by the next one; what is in use, or is no directory, stays")
    func sweep() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path)) }
        let used = try TemporaryDirectory(.archive, in: scratch.path)
        try Data("secret".utf8).write(to: URL(filePath: used.path + "/archive.sluice"))
        let usedName = URL(filePath: used.path).lastPathComponent
        #expect(try FileManager.default.attributesOfItem(atPath: used.path)[.posixPermissions] as? Int == 0o700)
        for kind in TemporaryDirectory.Kind.allCases {
            try scratch.makeDirectory("sluice-\(kind.rawValue).aB3xyz/php")
            try scratch.write("sluice-\(kind.rawValue).aB3xyz/php/sluice.ini", "x")
            try scratch.write("sluice-\(kind.rawValue).aB3xyz/.sluice-temporary", Self.mark)
        }
        // What a user named so, and what only looks like one of ours.
        try scratch.makeDirectory("sluice-raw.export")
        try scratch.makeDirectory("sluice-raw.exports")
        try scratch.write("sluice-raw.exports/.sluice-temporary", Self.mark)
        try scratch.makeDirectory("sluice-har.mymark")
        try scratch.write("sluice-har.mymark/.sluice-temporary", "mine")
        try scratch.makeDirectory("other")
        try scratch.write("other/file", "kept")
        symlink("other", scratch.path + "/sluice-archive.link")
        try scratch.write("sluice-demo.file", "x")
        let next = try TemporaryDirectory(.run, in: scratch.path)
        let nextName = URL(filePath: next.path).lastPathComponent
        let kept: Set = [
            "other", "sluice-archive.link", "sluice-demo.file", "sluice-raw.export", "sluice-raw.exports",
            "sluice-har.mymark",
        ]
        #expect(try names() == kept.union([usedName, nextName]))
        #expect(scratch.text("other/file") == "kept")
        next.remove()
        #expect(try names() == kept.union([usedName]))
        #expect(FileManager.default.fileExists(atPath: used.path + "/archive.sluice"))
    }

    #if os(Linux)
    @Test("A browser whose Sluice was killed is ended before its profile is removed; what only names the folder is not")
    func orphans() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        func start(_ arguments: String...) throws -> Process {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "while sleep 0.1; do :; done", "browser"] + arguments
            try process.run()
            return process
        }
        let (left, used) = (
            scratch.path + "/sluice-browser.left12", try TemporaryDirectory(.browser, in: scratch.path)
        )
        try scratch.makeDirectory("sluice-browser.left12/profile")
        try scratch.write("sluice-browser.left12/.sluice-temporary", Self.mark)
        let chromium = try start("--user-data-dir=\(left)/profile", "--proxy-server=x")
        let firefox = try start("--no-remote", "--profile", left)
        let others = [try start("--user-data-dir=\(used.path)/profile"), try start("rm", "-r", left)]
        defer { for process in others { process.terminate() } }
        TemporaryDirectory.sweep(scratch.path)
        for process in [chromium, firefox] {
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
        }
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(others.allSatisfy { $0.isRunning })
        used.remove()
    }
    #endif

    @Test("A key log is not waited for, and goes into no file of another user")
    func keyLog() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let pipe = scratch.path + "/pipe"
        mkfifo(pipe, 0o600)
        let problem = #expect(throws: StartError.self) { try KeyLogFile(path: pipe) }
        #expect(problem?.message == "The key log \(pipe) cannot be written: nobody reads the pipe.")
        let file = try scratch.write("keys", "old\n")
        try KeyLogFile(path: file).append("new")
        #expect(scratch.text("keys") == "old\nnew\n")
        guard geteuid() == 0 else { return }
        chown(file, 65_534, 65_534)
        #expect(throws: StartError.self) { try KeyLogFile(path: file) }
    }
}
