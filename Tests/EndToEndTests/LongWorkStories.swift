import Foundation
import Recording
import Support
import Terminal
import Testing
import Text

extension UserStories {
    @Suite("Work that takes long: its line on a terminal, and stopping it")
    struct LongWorkStories {
        private static let count = 12_000

        /// A HAR with so many exchanges that a debug build works on it for some seconds.
        private func archive(_ scratch: Scratch) throws -> String {
            var text = #"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":["#
            let body = String(repeating: "lorem ipsum ", count: 30)
            for index in 0..<Self.count {
                text += index == 0 ? "" : ",\n"
                text += """
                    {"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"cache":{},"timings":{"send":0,"wait":1,"receive":0},
                    "request":{"method":"GET","url":"http://a.example/items/\(index)","httpVersion":"HTTP/1.1","headers":
                    [{"name":"Host","value":"a.example"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},
                    "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[{"name":"Content-Type",
                    "value":"text/plain"}],"cookies":[],"content":{"size":\(body.utf8.count),"mimeType":"text/plain",
                    "text":"\(body)"},"redirectURL":"","headersSize":-1,"bodySize":\(body.utf8.count)}}
                    """
            }
            return try scratch.write("big.har", Array((text + "]}}").utf8))
        }

        private func files(_ scratch: Scratch, _ folder: String = "") throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: scratch.path(folder)).sorted()
        }

        private static let narrow = Size(width: 72, height: 12)

        @Test("A line tells how far it is, within the terminal's width, and is gone at the end; Ctrl-C leaves no files")
        func terminal() async throws {
            let scratch = try Scratch()
            _ = try archive(scratch)
            let (archive, session) = ("big.har", "s.sluice")
            let importing = try ConsoleScreen(
                ["import", "session", archive, "-o", session],
                size: Self.narrow,
                scratch: scratch
            )
            try await importing.row(containing: "importing big.har", "%", "MB/s")
            // Nothing was written to the rows below.
            let written = importing.rows.filter { row in row.contains { $0 != "#" } }
            #expect(written.count == 1 && (written.first?.count ?? 0) < Self.narrow.width, "\(importing.text)")
            #expect(try await importing.exitStatus() == 0)
            try await importing.wait(for: "Imported 12,000 exchanges into ")
            #expect(!importing.text.contains("importing") && importing.written.contains("\r\u{1B}[K"))
            #expect(importing.rows.first?.contains("big.har: a HAR, 12,000 exchanges") == true)

            // Standard error is the terminal, and so is standard output: then what is exported has it alone.
            let quiet = try ConsoleScreen(
                ["export", session, "id:1..3000", "--format", "csv"],
                size: Size(width: 200, height: 12),
                scratch: scratch
            )
            #expect(try await quiet.exitStatus() == 0)
            #expect(!quiet.written.contains("\u{1B}[K"))

            let exporting = try ConsoleScreen(
                ["export", session, "--format", "har", "-o", "out.har"],
                size: Self.narrow,
                scratch: scratch
            )
            try await exporting.row(containing: "finding secrets", "%", "exchanges")
            try await exporting.send(Keys.control("c"))
            #expect(try await exporting.exitStatus() == 130)
            try await exporting.wait(for: "stopped. out.har was not written.")
            #expect(!exporting.text.contains("%"))
            #expect(try files(scratch).filter { $0.contains("out.har") } == [])
            #expect(exporting.isRestored)

            let whole = try ConsoleScreen(
                ["export", session, "id:1..4000", "--format", "json", "-o", "out.json"],
                size: Self.narrow,
                scratch: scratch
            )
            try await whole.row(containing: "exporting", "%", "exchanges")
            #expect(try await whole.exitStatus() == 0)
            try await whole.waitUntilGone("exporting")
            #expect(try files(scratch).filter { $0.contains("out.json") } == ["out.json"])

            let comparing = try ConsoleScreen(["diff", archive, session], size: Self.narrow, scratch: scratch)
            try await comparing.row(containing: "reading big.har", "%", "MB/s")
            try await comparing.send(Keys.control("c"))
            #expect(try await comparing.exitStatus() == 130)
            try await comparing.wait(for: "stopped. The comparison is incomplete.")
            #expect(try files(scratch).filter { $0.hasPrefix("sluice-archive") } == [])

            let half = try ConsoleScreen(
                ["import", "session", archive, "-o", "half.sluice"],
                size: Self.narrow,
                scratch: scratch
            )
            try await half.row(containing: "importing big.har", "%")
            try await half.send(Keys.control("c"))
            #expect(try await half.exitStatus() == 130)
            try await half.wait(for: "stopped. The rest was not imported.")
            let imported = try SessionReader(path: scratch.path("half.sluice")).count()
            #expect((1..<Int64(Self.count)).contains(imported))
            try await half.wait(for: "Imported \(imported.grouped) exchange")
            #expect(try files(scratch).filter { $0.hasPrefix("half") } == ["half.sluice"])

            let dumb = try ConsoleScreen(
                ["stats", archive],
                size: Self.narrow,
                environment: ["TERM": "dumb"],
                scratch: scratch
            )
            #expect(try await dumb.exitStatus() == 0)
            #expect(!dumb.written.contains("\u{1B}[K") && dumb.written.contains("a.example"))

            let piped = try await SluiceProcess.run(
                ["export", scratch.path(session), "--format", "json", "-o", "/dev/null"],
                scratch: scratch
            )
            #expect(piped.status == 0 && !piped.errors.contains("%") && !piped.errors.contains("\u{1B}"))
        }

        @Test("A signal stops an archive that is read and an export into a pipe that nobody reads, and leaves nothing")
        func signals() async throws {
            let scratch = try Scratch()
            let archive = try archive(scratch)
            try scratch.makeDirectory("tmp")
            let environment = SluiceProcess.environment(scratch).merging(["TMPDIR": scratch.path("tmp")]) { $1 }
            let reading = try Program(
                try SluiceProcess.executable(),
                ["export", archive, "--format", "har", "-o", scratch.path("out.har")],
                environment: environment
            )
            try await eventually("the archive is read") {
                try files(scratch, "tmp").contains { $0.hasPrefix("sluice-archive.") }
            }
            reading.signal(SIGTERM)
            let end = try await reading.outcome(within: 60)
            #expect(
                end.status == 143 && end.errors.hasSuffix("out.har was not written.\n"),
                "\(end.status) \(end.errors)"
            )
            #expect(try files(scratch, "tmp").isEmpty && files(scratch).filter { $0.contains("out.har") }.isEmpty)

            // The pipe is full, and its reader takes no more.
            let pipe = scratch.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let stuck = try Program(
                try SluiceProcess.executable(),
                ["export", archive, "--format", "csv", "--secrets", "-o", pipe],
                environment: environment
            )
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            var last: Int32 = -1
            try await eventually("the pipe is full") {
                var waiting: Int32 = 0
                _ = ioctl(reader, UInt(FIONREAD), &waiting)
                defer { last = waiting }
                return waiting > 50_000 && waiting == last
            }
            stuck.signal(SIGINT)
            let cut = try await stuck.outcome(within: 60)
            #expect(cut.status == 130 && cut.errors.hasSuffix("pipe was not written.\n"), "\(cut.status) \(cut.errors)")
            #expect(try files(scratch, "tmp").isEmpty)
        }

        @Test("A trim into a copy that is stopped leaves no part of it, and says that it was not written")
        func trim() async throws {
            let scratch = try Scratch()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(scratch: scratch)
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/a")
            _ = try await sluice.exchange(path: "/a")
            #expect(try await sluice.stop().status == 0)
            // Whoever holds the session keeps the copy from being made.
            let commands = Pipe()
            let holder = try ChildProgram(
                try Program.path(of: "sqlite3"),
                [sluice.session],
                input: commands.fileHandleForReading,
                output: try scratch.newFile("held")
            )
            try commands.fileHandleForWriting.write(contentsOf: Data("BEGIN EXCLUSIVE;\n.print held\n".utf8))
            try await eventually("the session is held") { scratch.text("held").contains("held") }
            for signal in [SIGINT, SIGTERM] {
                let trim = try Program(
                    try SluiceProcess.executable(),
                    ["trim", sluice.session, "status:404", "-o", scratch.path("copy.sluice")],
                    environment: SluiceProcess.environment(scratch)
                )
                try await eventually("the signal is caught") {
                    let facts = try String(contentsOfFile: "/proc/\(trim.identifier)/status", encoding: .utf8)
                    let caught = facts.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.suffix(16) ?? ""
                    return (UInt64(caught, radix: 16) ?? 0) & 1 << (UInt64(signal) - 1) != 0
                }
                trim.signal(signal)
                let end = try await trim.outcome(within: 30)
                #expect(end.status == 128 + signal, "\(end.errors)")
                #expect(end.errors == "sluice: stopped. \(scratch.path("copy.sluice")) was not written.\n")
                #expect(try files(scratch).filter { $0.hasPrefix("copy") }.isEmpty)
            }
            try commands.fileHandleForWriting.close()
            try await eventually("the holder ends") { holder.status != nil }
        }
    }
}
