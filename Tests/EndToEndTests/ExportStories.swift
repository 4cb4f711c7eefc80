import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Exports that other programs read")
    struct ExportStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func run(_ name: String, python: String = "python3", _ arguments: String...) async throws {
            let outcome = try await Program.run(
                python,
                [script(name), try SluiceProcess.executable(), scratch.path] + arguments,
                environment: ["PYTHONDONTWRITEBYTECODE": "1"]
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }

        @Test("A session that is exported, recorded or linked to, and an archive, are not written over: exit code 2")
        func itself() async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess()
            _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/one")
            _ = try await sluice.exchange(path: "/one")
            let (har, link) = (sluice.scratch.path("x.har"), sluice.scratch.path("link"))
            let made = try await sluice.command(["export", sluice.session, "--format", "har", "-o", har])
            #expect(made.status == 0 && symlink(sluice.session, link) == 0, "\(made.errors)")
            let before = try Data(contentsOf: URL(filePath: har))
            for (from, to, words) in [
                (sluice.session, sluice.session, "is the session itself"),
                (sluice.session, link, "is the session itself"),
                (sluice.session, sluice.session + "-wal", "belongs to the session"),
                (har, har, "is the archive itself"),
                (har, sluice.session, "is another session"),
            ] {
                let outcome = try await sluice.command(["export", from, "--format", "curl", "-o", to])
                #expect(outcome.status == 2 && outcome.errors.contains("\(to) \(words)"), "\(to): \(outcome.errors)")
            }
            #expect(try Data(contentsOf: URL(filePath: har)) == before)
            #expect(try await sluice.stop().status == 0)
            #expect(try sluice.records().count == 1)
            let executable = try SluiceProcess.executable()
            let appended = try await Program.run(
                "sh",
                ["-c", "\"$0\" export \"$1\" --format har >> \"$1\"", executable, sluice.session],
                environment: SluiceProcess.environment(sluice.scratch)
            )
            #expect(appended.status == 2 && appended.errors.contains("standard output is the session itself"))
            #expect(try sluice.records().count == 1)
        }

        @Test("Raw messages are the bytes that passed, Python's parsers read them, an origin understands them again")
        func rawMessages() async throws { try await run("raw_messages.py") }

        @Test("DuckDB reads compressed lines of JSON as they are, and answers the guide's three questions")
        func duckdb() async throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let page = root.appending(path: "Sources/Formats/Formats.docc/Guide/json.md").path
            try await run("duckdb_queries.py", python: try PeerEnvironment.program("python"), page)
        }

        @Test("haralyzer and mitmproxy read our HARs, and we read mitmproxy's flows, with the same fields and bodies")
        func archives() async throws {
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "FormatsTests/Archives/Fixtures")
            // An environment of its own, since mitmproxy wants other versions of what the peers have.
            let python = try PeerEnvironment.program("../archives/bin/python")
            try await run("archive_readers.py", python: python, fixtures.path)
        }
    }
}
