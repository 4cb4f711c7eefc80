import Foundation
import Support
import Testing

extension UserStories {
    /// What shells offer at the prompt, by the scripts that they get.
    @Suite("Completions")
    struct CompletionStories {
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
            try scratch.makeDirectory("here/folder")
            try scratch.makeDirectory("state/sluice/sessions")
        }

        enum Shell: String, CaseIterable, CustomTestStringConvertible {
            case bash, zsh, fish

            var testDescription: String { rawValue }
            /// Those to test: bash, which the other tests need too, and what else the machine has.
            static let present = allCases.filter { $0 == .bash || (try? Program.path(of: $0.rawValue)) != nil }

            /// The word of a candidate, without what it stands for.
            func word(of candidate: String) -> String {
                switch self {
                case .bash: candidate
                case .fish: String(candidate.prefix { $0 != "\t" })
                case .zsh:
                    String(
                        candidate.replacing("\\\\", with: "\u{1}").replacing("\\:", with: "\u{2}").prefix { $0 != ":" }
                    ).replacing("\u{1}", with: "\\").replacing("\u{2}", with: ":")
                }
            }

            /// Prints what the script in `$1` offers for the command line in `$2`, a candidate a line.
            var driver: String {
                switch self {
                case .bash:
                    """
                    . "$1"
                    read -ra COMP_WORDS <<< "$2"
                    [[ $2 != *' ' ]] || COMP_WORDS+=("")
                    COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                    _sluice sluice "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """
                case .zsh:
                    // The parts of its completion that a script uses, without a line editor.
                    """
                    compdef() { }
                    _describe() { local name=${@[(r)*completions]}; print -rl -- "${(@P)name}" }
                    words=(${(z)2}) CURRENT=$((${#words} + 1))
                    words+=('')
                    . "$1"
                    command_name=sluice command_line=("${words[@]}")
                    eval "__sluice_custom_complete $3 $((CURRENT - 1)) 0"
                    """
                case .fish: "source $argv[1]; complete -C $argv[2]"
                }
            }
        }

        /// What a shell offers for a command line; fails where it says anything else.
        private func offers(
            _ shell: Shell,
            _ line: String,
            asking call: String = ""
        ) async throws -> [String] {
            let script = scratch.path(shell.rawValue)
            if !scratch.exists(shell.rawValue) {
                let text = try await SluiceProcess.run(
                    ["--generate-completion-script", shell.rawValue],
                    scratch: scratch
                ).text
                #expect(text.contains(" 2>/dev/null"))
                try scratch.write(shell.rawValue, text)
            }
            let executable = URL(fileURLWithPath: try SluiceProcess.executable())
            var environment = SluiceProcess.environment(scratch)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            environment["PATH"] = executable.deletingLastPathComponent().path + ":" + path
            environment["SAP_SHELL"] = shell.rawValue
            let options = shell == .fish ? ["--no-config", "-c", shell.driver] : ["-c", shell.driver, "driver"]
            let outcome = try await Program.run(
                shell.rawValue,
                options + [script, line, call],
                environment: environment,
                directory: scratch.path("here")
            )
            #expect(outcome.errors.isEmpty, "\(shell) said: \(outcome.errors)")
            return outcome.text.split(separator: "\n").map(String.init)
        }

        /// What the program itself says for the argument that a script names.
        private func entry(
            _ arguments: String,
            words: [String],
            directory: String = "here"
        ) async throws -> Program.Outcome {
            try await Program.run(
                try SluiceProcess.executable(),
                ["---completion"] + arguments.split(separator: " ").map(String.init) + ["\(words.count - 1)", "0"]
                    + words,
                environment: SluiceProcess.environment(scratch),
                directory: scratch.path(directory)
            )
        }

        // MARK: - What there is

        @Test(
            "Sessions are offered by name, the newest first, with files that can be read; a name is enough to open one"
        )
        func sessions() async throws {
            try scratch.write("commands.txt", "curl https://example.com/first\n")
            let made = try await SluiceProcess.run(
                ["import", "session", scratch.path("commands.txt")],
                scratch: scratch
            )
            #expect(made.status == 0, "\(made.errors)")
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: scratch.path("state/sluice/sessions"))
                    .first { $0.hasSuffix(".sluice") }
            )
            try scratch.write("state/sluice/sessions/1999-12-31T23-59-59.sluice", "")
            for file in ["a.har", "b.SLUICE", "notes.txt", ".hidden.har"] { try scratch.write("here/\(file)", "") }
            let offered = try await entry("list -- positional@0", words: ["sluice", "list", ""])
            #expect(
                offered.text.split(separator: "\n").map(String.init)
                    == ["last", name, "1999-12-31T23-59-59.sluice", "a.har", "b.SLUICE", "folder/"]
            )
            #expect(offered.errors.isEmpty)
            try scratch.write("here/folder/.inner.har", "")
            for (word, wanted) in [(".", ".hidden.har\n"), ("folder/.", "folder/.inner.har\n"), ("folder/", "\n")] {
                let dotted = try await entry("list -- positional@0", words: ["sluice", "list", word])
                #expect(dotted.text == wanted)
            }
            let list = try await SluiceProcess.run(["list", name], scratch: scratch)
            #expect(list.text.contains("https://example.com/first"), "\(list.errors)")
            // What can be changed is a session only.
            let own = try await entry("trim -- positional@0", words: ["sluice", "trim", ""])
            #expect(!own.text.contains("a.har") && own.text.contains("b.SLUICE"))
        }

        @Test("Tools, keys, topics, formats, profiles and terms of filters are offered", arguments: Shell.present)
        func words(shell: Shell) async throws {
            try scratch.write("here/mine.yaml", "")
            try scratch.write("here/other.txt", "")
            let lines: [(line: String, asking: String, wanted: String, unwanted: String)] = [
                ("sluice tool on ", "---completion tool on -- positional@0", "throttle", "mine.yaml"),
                ("sluice profile help rewrite.", "---completion profile help -- positional@0", "rewrite.name", "name"),
                ("sluice list last ", "---completion list -- positional@1", "is:changed", "mine.yaml"),
                ("sluice open ", "---completion open -- positional@0", "folder", "other.txt"),
            ]
            for (line, asking, wanted, unwanted) in lines where shell != .zsh || !line.hasSuffix(".") {
                let offered = try await offers(shell, line, asking: asking)
                let words = offered.map(shell.word)
                #expect(
                    words.contains { $0 == wanted || $0 == wanted + "/" },
                    "\(shell): \(line): \(offered)"
                )
                #expect(!words.contains(unwanted), "\(shell): \(line): \(offered)")
            }
            guard shell != .zsh else { return }
            for (line, wanted) in [
                ("sluice ", "export"), ("sluice export last --format ", "har"), ("sluice guide ", "throttle"),
                ("sluice run --profile ", "mine.yaml"), ("sluice hold ", "execute"),
                ("sluice ca export --format ", "pem"),
            ] {
                let offered = try await offers(shell, line).map(shell.word)
                #expect(offered.contains(wanted), "\(shell): \(line): \(offered)")
                #expect(!offered.contains("other.txt"))
            }
        }

        @Test("bash, which splits words at colons, gets what follows the colon")
        func colons() async throws {
            let script = try await offers(.bash, "sluice list last is")
            #expect(script.contains("is:changed"))
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                ["---completion", "list", "--", "positional@1", "5", "0", "sluice", "list", "last", "is", ":", "ch"],
                environment: SluiceProcess.environment(scratch).merging(["SAP_SHELL": "bash"]) { $1 }
            )
            #expect(outcome.text.split(separator: "\n").contains("changed"), "\(outcome.text)")
        }

        // MARK: - What must not happen

        @Test("Names of files are never run, and what a terminal obeys is not offered", arguments: Shell.present)
        func hostileNames(shell: Shell) async throws {
            let names = [
                "$(touch ran).har", "`touch ran`.har", "`\u{301}touch ran`\u{301}.har", "a b.har", "it's.har",
                "c:d.har", "e\\f.har",
            ]
            for name in names + ["x\u{1B}[31m.har", "y\nz.har", "\u{202E}w.har"] {
                try scratch.write("here/\(name)", "")
            }
            let offered = try await offers(
                shell,
                "sluice open ",
                asking: "---completion open -- positional@0"
            ).map(shell.word)
            for name in names { #expect(offered.contains(name), "\(shell): \(name): \(offered)") }
            #expect(!scratch.exists("here/ran"))
            #expect(!offered.contains { $0.contains("31m") || $0.contains("z.har") || $0.contains("w.har") })
        }

        @Test("Held messages are offered while a Sluice answers, and nobody waits for one that does not")
        func holds() async throws {
            let sluice = try await SluiceProcess(
                profile: "version: 1\nbreakpoints: { at: \"http://held.test/*\", on: [request] }\n",
                scratch: scratch
            )
            let client = try Program("curl", ["-sx", sluice.url, "http://held.test/page"])
            let name = try await sluice.held("http://held.test/page")
            let words = ["sluice", "hold", "execute", ""]
            let offered = try await entry("hold execute -- positional@0", words: words)
            #expect(offered.text == "\(name)\nall\n", "\(offered.text)\(offered.errors)")
            let running = try await entry("hold list -- --control", words: ["sluice", "hold", "list", "--control", ""])
            #expect(running.text == "\(sluice.program.identifier)\n")

            sluice.program.signal(SIGSTOP)
            defer { sluice.program.signal(SIGCONT) }
            let start = ContinuousClock.now
            let silent = try await entry("hold execute -- positional@0", words: words)
            // It waits 0.2 s at the most; commands wait for ten.
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(silent.text == "all\n")
            #expect(silent.errors.isEmpty)
            client.signal(SIGKILL)
        }

        @Test(
            "What cannot be completed says nothing",
            arguments: [
                "", "--", "nonsense -- positional@0", "list -- positional@9", "list -- --nonsense",
                "list -- positional@0 x y",
            ]
        )
        func nonsense(arguments: String) async throws {
            let outcome = try await SluiceProcess.run(
                ["---completion"] + arguments.split(separator: " ").map(String.init),
                scratch: scratch
            )
            #expect(outcome.text.isEmpty)
            #expect(outcome.errors.isEmpty)
            #expect(outcome.status == 1)
        }
    }
}
