import Foundation
import HTTPModel
import Support
import Testing

extension UserStories {
    @Suite("A build machine: commands behind the proxy, without a screen")
    struct HeadlessStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func run(_ arguments: [String]) async throws -> Program.Outcome {
            try await SluiceProcess.run(arguments, scratch: scratch)
        }

        @Test("A command that goes past the proxy is told so, with what its runtime needs")
        func unused() async throws {
            let origin = try await Nginx()
            let client = """
                import socket
                s = socket.create_connection(("127.0.0.1", \(origin.plainPort)))
                s.sendall(b"GET /hello.txt HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n")
                s.recv(1)
                """
            let outcome = try await run(["run", "--", "python3", "-c", client])
            #expect(outcome.status == 0)
            #expect(outcome.errors.contains("sluice: nothing used the proxy\n"), "\(outcome.errors)")
            #expect(outcome.errors.contains("trust_env=True"), "\(outcome.errors)")
        }

        @Test("A command's exchanges are lines of a file, its session is 'last', and no listener is past the proxy")
        func log() async throws {
            let origin = try await Nginx()
            let (log, session) = (scratch.path("log.jsonl"), scratch.path("named.sluice"))
            let script = """
                curl -s -o /dev/null \(origin.url("http", "/hello.txt"))
                curl -s -o /dev/null --noproxy '*' http://127.0.0.1:$PORT/hello.txt
                """
            let reverse = try unusedPort()
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                [
                    "run", "--mode", "reverse:\(origin.url("http", ""))@\(reverse)", "--log", log, "--session", session,
                    "--", "sh", "-c", script,
                ],
                environment: SluiceProcess.environment(scratch).merging(["PORT": "\(reverse)"]) { $1 }
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome)")
            #expect(!outcome.errors.contains("past the proxy"), "\(outcome.errors)")
            let lines = scratch.text("log.jsonl").split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(lines)")
            _ = try await run(["demo"])
            _ = try await run(["run", "--session", session, "--", "true"])
            let list = try await run(["list", "last"])
            #expect(list.text.ranges(of: "/hello.txt").count == 2, "\(list)")
            let both = try await run(["list", session, session, "path:/hello.txt"])
            #expect(both.text.ranges(of: "/hello.txt").count == 4, "\(both)")
        }

        @Test(
            "What cannot work is refused before the command runs",
            arguments: [
                (["--json"], "--json with a command needs --log FILE"),
                (["--quiet", "--log", "x"], "--quiet and --log exclude each other."),
                (["--log", "-"], "--log takes a file"),
                (["--no-session", "--profile", "PROFILE"], "the assertions need a session"),
            ]
        )
        func refused(options: [String], words: String) async throws {
            let profile = try scratch.write("p.yaml", "version: 1\nassert: { filter: \"*\" }\n")
            let options = options.map { $0 == "PROFILE" ? profile : $0 }
            let outcome = try await run(["run"] + options + ["--", "touch", scratch.path("ran")])
            #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: scratch.path("ran")))
        }

        @Test("A running Sluice says what it does, takes a comment, and stops")
        func steered() async throws {
            let sluice = try await SluiceProcess()
            let origin = try await Nginx()
            _ = try await Program.run("curl", ["-s", "-x", sluice.url, origin.url("http", "/hello.txt")])
            _ = try await sluice.exchange(path: "/hello.txt")
            func command(_ arguments: [String]) async throws -> Program.Outcome {
                try await SluiceProcess.run(arguments, scratch: sluice.scratch)
            }
            let status = try await command(["status"])
            #expect(status.text.contains("listening  127.0.0.1:\(sluice.port)\n"), "\(status)")
            let comment = try await command(["comment", sluice.session, "1", "flaky"])
            #expect(comment.status == 0, "\(comment)")
            #expect(try sluice.records().first?.extras.annotation.comment == "flaky")
            let stop = try await command(["stop"])
            #expect(stop.text == "Sluice has stopped.\n", "\(stop)")
            #expect(try await sluice.program.outcome(within: 60).status == 0)
        }
    }
}
