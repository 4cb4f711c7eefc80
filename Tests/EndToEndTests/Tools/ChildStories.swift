import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("run -- COMMAND")
    struct ChildStories {
        /// Runs a command behind a proxy of its own.
        private func run(
            _ command: [String],
            _ scratch: Scratch,
            profile: String = "",
            options: [String] = []
        ) async throws -> Program.Outcome {
            let arguments = [
                "run", "--session", scratch.path("session.sluice"), "--upstream-ca",
                try await TestAuthority.shared.root,
                "--profile", try scratch.write("profile.yaml", "version: 1\n" + profile),
            ]
            return try await Program.run(
                try SluiceProcess.executable(),
                arguments + options + ["--"] + command,
                environment: SluiceProcess.environment(scratch)
            )
        }

        private func records(_ scratch: Scratch) throws -> [ExchangeRecord] {
            try SessionReader(path: scratch.path("session.sluice")).records(limit: 100)
        }

        @Test(
            "Clients go through the proxy and trust it by their environment alone",
            arguments: [
                ["curl", "-sS", "URL"],
                [
                    "python3", "-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())",
                    "URL",
                ],
                ["sh", "-c", "node \"$1\" \"${SLUICE_PROXY##*:}\" \"$2\"", "-", script("client.js"), "URL"],
                ["sh", "-c", "curl -sS --proxy \"$SLUICE_PROXY\" --cacert \"$SLUICE_CA\" \"$0\"", "URL"],
            ]
        )
        func clients(command: [String]) async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            let url = "https://localhost:\(nginx.secure)"
            let outcome = try await run(
                command.map { $0 == "URL" ? url : $0 },
                scratch,
                profile:
                    "rewrite: { at: \"\(url)/*\", rules: [ { add: header, on: request, name: X-Note, to: seen } ] }\n"
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.contains("note seen\n"), "\(outcome.text)\(outcome.errors)")
            let records = try records(scratch)
            #expect(!records.isEmpty)
            for record in records {
                #expect(record.url.authority == "localhost:\(nginx.secure)")
                #expect(record.status == 200)
            }
        }

        @Test("The command's exit status, output and input are its own")
        func status() async throws {
            let scratch = try Scratch()
            let failing = try await run(["sh", "-c", "echo out; echo err >&2; exit 7"], scratch)
            #expect(failing.status == 7)
            #expect(failing.text == "out\n")
            #expect(failing.errors.contains("err\n"))
            let killed = try await run(["sh", "-c", "kill -TERM $$"], scratch)
            #expect(killed.status == 128 + SIGTERM)
            let missing = try await run(["no-such-command-here"], scratch)
            #expect(missing.status == 127)
            #expect(missing.errors.contains("no-such-command-here"), "\(missing.errors)")
        }

        @Test("Assertions about the traffic decide about the exit status of a command that succeeded")
        func assertions() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            let url = "https://localhost:\(nginx.secure)/asked"
            let curl = ["curl", "-sS", "-o", "/dev/null", url, "-o", "/dev/null", url]
            func profile(_ assertion: String) -> String {
                "assert: [ { name: claim, filter: \"path:/asked\", \(assertion) } ]\n"
            }
            let cases = [
                ("count: 2, status: 200, within: 10s", 0, "claim: 2 exchanges, as expected"),
                ("count: \">=3\"", 1, "assertion failed: claim\n  count: expected >=3, found 2"),
                ("status: 404", 1, "assertion failed: claim"),
            ]
            for (assertion, status, text) in cases {
                try? FileManager.default.removeItem(atPath: scratch.path("session.sluice"))
                let outcome = try await run(curl, scratch, profile: profile(assertion))
                #expect(outcome.status == Int32(status), "\(assertion): \(outcome.errors)")
                #expect(outcome.errors.contains(text), "\(assertion): \(outcome.errors)")
            }
            // The command's own failure counts more.
            let failing = try await run(["sh", "-c", "exit 9"], scratch, profile: profile("count: 5"))
            #expect(failing.status == 9)
        }

        @Test("A connection that ignores the proxy is told of")
        func bypass() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            // The connection stays open until the watcher has had many chances to see it.
            let python = """
                import socket, sys, time
                s = socket.create_connection(("127.0.0.2", int(sys.argv[1])))
                end = time.monotonic() + 3
                while time.monotonic() < end: time.sleep(0.05)
                """
            let outcome = try await run(["python3", "-c", python, "\(nginx.plain)"], scratch)
            #expect(outcome.status == 0)
            #expect(outcome.errors.contains("127.0.0.2:\(nginx.plain)"), "\(outcome.errors)")
        }
    }
}
