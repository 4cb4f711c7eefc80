import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Starts that cannot be")
    struct StartFailures {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func fails(
            _ arguments: [String],
            status: Int32 = 1,
            says words: String...
        ) async throws {
            let outcome = try await SluiceProcess.run(arguments, scratch: scratch, within: 120)
            #expect(outcome.status == status, "\(outcome.errors)")
            #expect(outcome.text.isEmpty)
            for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
        }

        @Test("A port in use is said to be in use, with what to try")
        func portInUse() async throws {
            let origin = try Origin { _, _ in }
            try await fails(
                ["run", "--listen", "127.0.0.1:\(origin.port)"],
                says: "127.0.0.1:\(origin.port) is in use",
                "--listen"
            )
        }

        @Test("A port that another Sluice has is said to be its, with a way to open it")
        func portOfOther() async throws {
            let other = try await SluiceProcess(scratch: scratch)
            try await fails(
                ["run", "-p", "\(other.port)"],
                says: "in use by another Sluice",
                "sluice attach --control "
            )
            #expect(try await other.stop().status == 0)
        }

        @Test("An address of another machine cannot be listened on")
        func foreignAddress() async throws {
            try await fails(["run", "--listen", "192.0.2.99:0", "--allow", "192.0.2.0/24"], says: "192.0.2.99")
        }

        @Test("To listen for other machines without --allow is wrong usage, and so is what is no address")
        func openListener() async throws {
            for arguments in [
                ["run", "--listen", "0.0.0.0:0"], ["run", "--listen", "[::]:0"],
                ["run", "--mode", "socks5@0.0.0.0:0"], ["run", "--listen", "1.2.3.4:0"],
            ] {
                try await fails(arguments, status: 2, says: "lets other machines reach", "--allow")
            }
            try await fails(["run", "--listen", "999.1.1.1:0"], status: 2, says: "999.1.1.1 is not an address.")
        }

        @Test("A session path that cannot be written")
        func unwritableSession() async throws {
            try await fails(
                ["run", "--listen", "127.0.0.1:0", "--session", "/nowhere/at/all.sluice"],
                says: "/nowhere/at/all.sluice"
            )
            try await fails(
                ["run", "--listen", "127.0.0.1:0", "--session", scratch.path],
                says: scratch.path
            )
            // Not even root can write there.
            try await fails(["run", "--listen", "127.0.0.1:0", "--session", "/proc/x.sluice"], says: "/proc/x.sluice")
        }

        @Test("A file that is no session is left as it is", arguments: ["run", "list", "show", "export"])
        func noSession(command: String) async throws {
            let text = String(repeating: "This is a letter, not a session.\n", count: 100)
            let file = try scratch.write("letter.txt", text)
            switch command {
            case "run":
                try await fails(["run", "--listen", "127.0.0.1:0", "--session", file], says: "letter.txt", "no")
            case "show": try await fails(["show", file, "1"], says: "letter.txt")
            case "export": try await fails(["export", file, "--format", "har"], says: "letter.txt")
            default: try await fails(["list", file], says: "letter.txt")
            }
            #expect(latin1(scratch.bytes("letter.txt")) == text)
        }

        @Test("Another program's database is no session, and neither is a file that is not there")
        func otherDatabase() async throws {
            let file = scratch.path("other.db")
            try await Program.require(
                "python3",
                [
                    "-c",
                    "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('create table t(x)'); c.commit()",
                    file,
                ]
            )
            let before = scratch.bytes("other.db")
            try await fails(["run", "--listen", "127.0.0.1:0", "--session", file], says: "other.db")
            #expect(scratch.bytes("other.db") == before)
            try await fails(["list", scratch.path("missing.sluice")], says: "missing.sluice")
            try await fails(["list", "last"], says: "no session")
        }

        @Test("A session of another version of Sluice is not touched")
        func newerSession() async throws {
            let sluice = try await SluiceProcess(scratch: scratch)
            let end = try await sluice.stop()
            #expect(end.status == 0, "\(end.errors)")
            try await Program.require(
                "python3",
                [
                    "-c",
                    "import sqlite3,sys; sqlite3.connect(sys.argv[1]).execute('pragma user_version=9999')",
                    sluice.session,
                ]
            )
            let before = scratch.bytes("session.sluice")
            try await fails(
                ["run", "--listen", "127.0.0.1:0", "--session", sluice.session],
                says: "another version",
                "session.sluice"
            )
            try await fails(["list", sluice.session], says: "another version", "session.sluice")
            #expect(scratch.bytes("session.sluice") == before)
        }

        @Test("An authority that cannot be read, or whose key is another's")
        func badAuthority() async throws {
            let run = ["run", "--listen", "127.0.0.1:0"]
            try await fails(run + ["--ca", scratch.path("none.pem")], says: "none.pem")
            try await fails(run + ["--ca", try scratch.write("letter.pem", "Dear proxy\n")], says: "letter.pem")
            let root = try await TestAuthority.shared.root
            let good = try await TestAuthority.shared.good
            try await fails(run + ["--ca", root, "--ca-key", good.key], says: "key")
            try await fails(run + ["--ca", root, "--ca-key", scratch.path("none.key")], says: "none.key")
            try await fails(run + ["--ca", root], says: "key")
            try await fails(run + ["--ca", good.file, "--ca-key", good.key], says: "authority")
            try await fails(run + ["--upstream-ca", scratch.path("none.pem")], says: "none.pem")
        }

        @Test("A damaged authority among the user's files is said, not replaced")
        func damagedAuthority() async throws {
            try await Program.require("mkdir", ["-p", scratch.path("config/sluice")])
            for file in ["ca-cert.pem", "ca-key.pem", "ca.pem"] {
                try scratch.write("config/sluice/" + file, "broken\n")
            }
            try await fails(["run", "--listen", "127.0.0.1:0"], says: "config/sluice")
            #expect(latin1(scratch.bytes("config/sluice/ca.pem")) == "broken\n")
        }

        @Test("A wrong profile is reported with file, line and column")
        func badProfile() async throws {
            let file = try scratch.write("p.yaml", "version: 1\nblok:\n  - at: x\n")
            try await fails(["run", "--listen", "127.0.0.1:0", "--profile", file], says: "p.yaml:2:1", "block")
            try await fails(
                ["run", "--listen", "127.0.0.1:0", "--profile", scratch.path("none.yaml")],
                says: "none.yaml"
            )
        }

        @Test("Listening for other machines needs --allow", arguments: ["0.0.0.0:0", "[::]:0"])
        func allow(address: String) async throws {
            try await fails(["run", "--listen", address], status: 2, says: "--allow")
        }

        @Test(
            "Wrong usage ends with 2",
            arguments: [
                ["run", "--listen", "nowhere"], ["run", "--listen", "127.0.0.1:70000"], ["run", "--port", "1"],
                ["run", "--quiet", "--json"], ["run", "--allow", "10.0.0.0/33"], ["run", "--connect-timeout", "0"],
                ["run", "--connect-timeout", "nan"], ["run", "--ca-key", "x"], ["show"], ["show", "x", "one"],
                ["export", "x"], ["export", "x", "--format", "pdf"], ["run", "--recorder", "maybe"], ["ca", "export"],
            ]
        )
        func usage(arguments: [String]) async throws {
            try await fails(arguments, status: 2, says: "Usage: sluice")
        }

        @Test("A wrong filter points at the column")
        func badFilter() async throws {
            let sluice = try await SluiceProcess(scratch: scratch)
            let end = try await sluice.stop()
            #expect(end.status == 0, "\(end.errors)")
            try await fails(["list", sluice.session, "status:5xx", "hue:red"], status: 2, says: "12", "^")
        }

        @Test("sluice alone, without a terminal, says how to start")
        func alone() async throws {
            let outcome = try await SluiceProcess.run([], scratch: scratch)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("sluice run"))
            for arguments in [["--version"], ["--help"], ["help", "run"]] {
                #expect(try await SluiceProcess.run(arguments, scratch: scratch).status == 0)
            }
        }
    }
}
