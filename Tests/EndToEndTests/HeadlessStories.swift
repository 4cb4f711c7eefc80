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
                (["--log", "-"], "--log takes a file"), (["--junit", "-"], "--junit takes a file"),
                (["--log", "x", "--junit", "x"], "--junit needs a file of its own"),
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

        /// The cases of a JUnit report, and the sums, as Python's parser reads them.
        private func cases(_ report: String) async throws -> [String] {
            let script = """
                import sys, xml.etree.ElementTree as tree
                root = tree.parse(sys.argv[1]).getroot()
                print(root.tag, root[0].get("tests"), root[0].get("failures"))
                for case in root.iter("testcase"):
                    assert float(case.get("time")) >= 0 and int(case.get("line")) > 0
                    failure = case.find("failure")
                    words = "passed" if failure is None else failure.get("message") + "|" + failure.text.strip()
                    print(case.get("classname"), case.get("name"), words.replace("\\n", "|"), sep="|")
                """
            let outcome = try await Program.run(
                try Program.path(of: "python3"),
                ["-c", script, scratch.path(report)],
                environment: [:]
            )
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.text.split(separator: "\n").map(String.init)
        }

        @Test("A build reads assertions about heads and bodies as JUnit XML, also if its command failed")
        func junit() async throws {
            let origin = try await Nginx()
            let text = """
                version: 1
                map-local: { from: "http://shop.test/*", to: items.json }
                assert:
                  - { name: 'a "b" <c>', filter: "res.json.items[*].id:7 req.header.x-y:z", count: 1 }
                  - { name: found, filter: "res.json.error.code:42", status: 2xx }
                """
            _ = try scratch.write("items.json", #"{"items": [{"id": 7}], "error": {"code": 42}}"#)
            let profile = try scratch.write("shop.yaml", text)
            let command = """
                curl -s -o /dev/null -H 'X-Y: z' 'http://shop.test/1?token=Xk29dkL1qpz83hf'
                curl -s -o /dev/null '\(origin.url("http", "/hello.txt"))'
                exit 7
                """
            let arguments = [
                "run", "--profile", profile, "--junit", scratch.path("junit.xml"), "--", "sh", "-c", command,
            ]
            #expect(try await run(arguments).status == 7)
            #expect(
                try await cases("junit.xml") == [
                    "testsuites 2 0", "shop|a \"b\" <c>|passed", "shop|found|passed",
                ]
            )
            _ = try scratch.write("shop.yaml", text.replacing("2xx", with: "404"))
            let failed = try await run(arguments.dropLast() + [command.replacing("exit 7", with: "exit 0")])
            #expect(failed.status == 1 && failed.errors.contains("Xk29dkL1qpz83hf"), "\(failed)")
            let summary = "status: expected 404, different in 1 of 1"
            #expect(
                try await cases("junit.xml") == [
                    "testsuites 2 1", "shop|a \"b\" <c>|passed",
                    "shop|found|\(summary)|\(profile):5:5: assertion failed: found|  \(summary)"
                        + "|    #1 GET http://shop.test/1?token=sluice-token-1 → 200",
                ]
            )
            let empty = try await run(["run", "--junit", scratch.path("empty.xml"), "--", "true"])
            #expect(empty.status == 0 && empty.errors.contains("empty.xml has no tests"), "\(empty)")
            #expect(try await cases("empty.xml") == ["testsuites 0 0"])
            let nowhere = try await run(["run", "--junit", "/none/x.xml", "--", "touch", scratch.path("ran")])
            #expect(nowhere.status == 1 && nowhere.errors.contains("/none/x.xml cannot be written"), "\(nowhere)")
            #expect(!scratch.exists("ran"))
            let test = "expect: [ { name: a, request: GET http://a.test/, fires: [] } ]"
            let tests = try scratch.write("tests.yaml", "version: 1\n\(test)\n")
            let tested = try await run(["profile", "test", tests, "--junit", scratch.path("tests.xml")])
            #expect(tested.status == 0 && tested.text.hasPrefix("TAP version 14\n1..1\n"), "\(tested)")
            #expect(try await cases("tests.xml") == ["testsuites 1 0", "tests|a|passed"])
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
