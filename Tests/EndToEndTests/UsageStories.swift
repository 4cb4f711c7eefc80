import Foundation
import Recording
import Support
import Testing

extension UserStories {
    @Suite("What the program says of itself")
    struct UsageStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test("--version says version, commit and libraries, a line each")
        func version() async throws {
            let outcome = try await SluiceProcess.run(["--version"], scratch: scratch)
            #expect(outcome.status == 0)
            let lines = outcome.text.split(separator: "\n").map(String.init)
            #expect(lines.first?.wholeMatch(of: /sluice \d+\.\d+\.\d+/) != nil, "\(outcome.text)")
            for pattern in [
                "commit +([0-9a-f]{40}(-changed)?|not known: built outside a repository)", "OpenSSL +OpenSSL 3\\..+",
                "nghttp2 +1\\.\\d+\\.\\d+", "SQLite +3\\.\\d+\\.\\d+", "PCRE2 +10\\.\\d+ .+", "libzip +1\\.\\d+\\.\\d+",
                "zlib +1\\.\\d+.*", "brotli +1\\.\\d+\\.\\d+", "zstd +1\\.\\d+\\.\\d+", "libwebp +[1-9]\\.\\d+\\.\\d+",
            ] {
                let expression = try Regex(pattern)
                #expect(
                    try lines.contains { try expression.wholeMatch(in: $0) != nil },
                    "\(pattern)\n\(outcome.text)"
                )
            }
        }

        @Test(
            "A time limit out of its range is refused with the range",
            arguments: ["idle", "tunnel", "head", "keep-alive", "connect", "response"],
            ["0", "0.0000001", "4294967296"]
        )
        func timeLimits(name: String, seconds: String) async throws {
            let outcome = try await SluiceProcess.run(["run", "--\(name)-timeout", seconds], scratch: scratch)
            #expect(outcome.status == 2)
            let said = outcome.errors
            #expect(said.contains("--\(name)-timeout takes seconds from 0.001 to 1000000."), "\(said)")
        }

        @Test(
            "An empty name of a file is wrong usage",
            arguments: [("run", "--session"), ("run", "--profile"), ("demo", "--session")]
        )
        func emptyNames(command: String, option: String) async throws {
            let outcome = try await SluiceProcess.run([command, option, ""], scratch: scratch)
            #expect(outcome.status == 2 && outcome.text.isEmpty)
            let words = "\(option) has an empty name.\nPerhaps a shell variable is not set."
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }

        @Test("A number alone deletes nothing, since it would be looked for in URLs")
        func deleteByNumber() async throws {
            let outcome = try await SluiceProcess.run(["delete", "last", "1"], scratch: scratch)
            #expect(outcome.status == 2 && outcome.text.isEmpty)
            #expect(outcome.errors.contains("for the exchange of that number, write id:1"), "\(outcome.errors)")
        }

        @Test(
            "A command that is not there is wrong usage, and the nearest one is named",
            arguments: [
                ("exprot", "there is no command 'exprot'; did you mean 'export'?"),
                ("exprot a.sluice --format har", "there is no command 'exprot'; did you mean 'export'?"),
                ("help nosuch", "there is no command 'nosuch'."), ("help statz", "did you mean 'stats'?"),
                ("profile chekc a.yaml", "there is no command 'profile chekc'; did you mean 'profile check'?"),
                ("import x.har", "To import exchanges: sluice import session x.har -o SESSION"),
                ("import x.har", "To import Charles' settings: sluice import charles x.har"),
                ("hold qqqqqq", "The commands are 'hold list', "),
            ]
        )
        func unknownCommands(arguments: String, words: String) async throws {
            let outcome = try await SluiceProcess.run(arguments.components(separatedBy: " "), scratch: scratch)
            #expect(outcome.status == 2 && outcome.text.isEmpty)
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }

        @Test(
            "Wrong usage has one form, and a hint for what is often written",
            arguments: [
                (["run", "--bogus"], "sluice: unknown option '--bogus'"),
                (["run", "--port", "1"], "sluice: unknown option '--port'\nDid you mean --listen 8080, or -p 8080?"),
                (
                    ["run", "ls", "x"],
                    "sluice: 2 unexpected arguments: 'ls', 'x'\nPut -- before the command: sluice run -- ls x"
                ),
                (["show"], "sluice: missing expected argument '<file>'"),
                (["export", "last"], "sluice: give a --format (curl, har, "),
                (["export", "last", "-o", "a.txt"], "sluice: give a --format (curl, har, "),
                (["run", "--quiet", "--json"], "sluice: --quiet and --json exclude each other."),
                (["run", "--", "no such"], "sluice: no such: command not found.\nQuotes make it one name"),
            ]
        )
        func oneForm(arguments: [String], words: String) async throws {
            let outcome = try await SluiceProcess.run(arguments, scratch: scratch)
            #expect(outcome.status == (arguments.contains("--") ? 127 : 2) && outcome.text.isEmpty)
            #expect(outcome.errors.hasPrefix(words), "\(outcome.errors)")
        }

        @Test("The help of each command is less than 90 lines, and that of all has a line for each")
        func helpLength() async throws {
            let root = try await SluiceProcess.run(["--help"], scratch: scratch).text
            #expect(root.contains("\nREAD A SESSION:\n") && !root.contains("SUBCOMMANDS"))
            let lines = root.split(separator: "\n").drop { $0 != "START A PROXY:" }
            let commands = lines.compactMap { $0.prefixMatch(of: #/  ([a-z-]+) /#)?.output.1 }
            #expect(commands.count > 30)
            // A command is one line.
            #expect(!lines.contains { $0.hasPrefix("    ") })
            for command in commands {
                let help = try await SluiceProcess.run([String(command), "--help"], scratch: scratch).text
                let count = help.split(separator: "\n", omittingEmptySubsequences: false).count
                #expect(count < 90 && !help.contains("OVERVIEW"), "\(command): \(count)")
            }
            let hidden = try await SluiceProcess.run(["run", "--help-hidden"], scratch: scratch).text
            #expect(hidden.contains("--idle-timeout") && hidden.contains("--listen"))
        }

        @Test("Help of commands that are there is shown", arguments: ["help", "help export", "help import session"])
        func help(arguments: String) async throws {
            let outcome = try await SluiceProcess.run(arguments.components(separatedBy: " "), scratch: scratch)
            #expect(outcome.status == 0 && !outcome.text.contains("OVERVIEW"), "\(outcome.errors)")
        }

        @Test("To write over the session that is read, or to a file without a name, is wrong usage")
        func outputNames() async throws {
            let session = scratch.path("a.sluice")
            try Recorder(RecorderConfiguration(path: session)).close()
            for command in [["trim", session, "--keep", "id:1"], ["export", session, "--format", "har"]] {
                let itself = try await SluiceProcess.run(command + ["-o", session], scratch: scratch)
                #expect(itself.status == 2 && itself.errors.contains(" is the session itself."), "\(itself.errors)")
                let nameless = try await SluiceProcess.run(command + ["-o", ""], scratch: scratch)
                #expect(nameless.status == 2 && nameless.errors.contains(" is empty."), "\(nameless.errors)")
            }
            let nameless = try await SluiceProcess.run(["import", "session", session, "-o", ""], scratch: scratch)
            #expect(
                nameless.status == 2 && nameless.errors.contains("-o needs the name of a session."),
                "\(nameless.errors)"
            )
        }

        @Test("A number that no exchange has is wrong usage", arguments: ["show", "why", "repeat"])
        func numbers(command: String) async throws {
            let outcome = try await SluiceProcess.run([command, "last", "0"], scratch: scratch)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("xchanges are counted from 1"), "\(outcome.errors)")
        }

        @Test("What a command refuses after its arguments are read comes with that command's usage")
        func usage() async throws {
            let outcome = try await SluiceProcess.run(
                ["transparent", "--print", "--user", "no-such-user"],
                scratch: scratch
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("Usage: sluice transparent "), "\(outcome.errors)")
            #expect(outcome.errors.contains("See 'sluice transparent --help'"))
        }
    }
}
