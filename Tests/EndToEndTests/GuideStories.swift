import Foundation
import Support
import Testing

extension UserStories {
    @Suite("The guide")
    struct GuideStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func sluice(_ arguments: [String], status: Int32 = 0) async throws -> String {
            let outcome = try await SluiceProcess.run(arguments, scratch: scratch, within: 60)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            return outcome.text + outcome.errors
        }

        /// The pages as their files are.
        private func pages() throws -> [(topic: String, text: String)] {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let files = FileManager.default.enumerator(
                at: root.appending(path: "Sources"),
                includingPropertiesForKeys: nil
            )
            return try (files?.allObjects ?? []).compactMap { $0 as? URL }
                .filter { $0.path().contains(".docc/Guide/") && $0.pathExtension == "md" }
                .map { ($0.deletingPathExtension().lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
        }

        /// The code blocks of one language.
        private func blocks(_ language: String, in text: String) -> [[String]] {
            var blocks: [[String]] = []
            var isWithin = false
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
                if line == "```\(language)" {
                    blocks.append([])
                    isWithin = true
                } else if line.hasPrefix("```") {
                    isWithin = false
                } else if isWithin {
                    blocks[blocks.count - 1].append(line)
                }
            }
            return blocks
        }

        @Test("Topics are listed, a page is shown by the beginning of its name, words are found, pages are written")
        func reading() async throws {
            let list = try await sluice(["guide"])
            for (topic, _) in try pages() { #expect(list.contains("  \(topic) "), "\(topic)") }
            let page = try await sluice(["guide", "throttl"])
            #expect(page.hasPrefix("THROTTLING\n\nA slow, unreliable"))
            #expect(page.contains("modem-56k"), "the table of presets")
            #expect(!page.contains("<!--") && !page.contains("\u{1B}"))
            #expect(try await sluice(["guide", "--search", "trust JAVA"]).contains("trust, One command: Java"))
            let none = try await sluice(["guide", "--search", "zebra violin"], status: 1)
            #expect(none.contains("no line of the guide has these words"))
            #expect(try await sluice(["guide", "map"], status: 2).contains("map-remote, map-local"))
            #expect(try await sluice(["guide", "nonsense"], status: 2).contains("no topic 'nonsense'."))
            #expect(try await sluice(["guide", "keyz"], status: 2).contains("no topic 'keyz' (did you mean 'keys'?)"))
            let unquoted = try await sluice(["guide", "--search", "throttle", "preset"], status: 2)
            #expect(unquoted.contains("--search 'throttle preset'"), "\(unquoted)")
        }

        @Test("On a terminal a page is shown whole: in the pager, and without one where it is not there or of no use")
        func pager() async throws {
            let sluice = try SluiceProcess.executable()
            for (terminal, pager, marks) in [
                ("xterm", "sed s/^/paged:/", "paged:"), ("xterm", "no-such-pager", ""), ("xterm", "/dev/null", ""),
                ("dumb", "", ""), ("dumb", "no-such-pager", ""),
            ] {
                let environment = ["TERM": terminal, "PAGER": pager, "NO_COLOR": "1"]
                let outcome = try await Program.run(
                    "python3",
                    [script("on_terminal.py"), sluice, "guide", "throttle"],
                    environment: SluiceProcess.environment(scratch).merging(environment) { $1 },
                    within: 90
                )
                #expect(outcome.status == 0, "\(terminal), \(pager): \(outcome.errors)")
                let lines = outcome.text.split(whereSeparator: \.isNewline)
                #expect(lines.contains("\(marks)THROTTLING"), "\(terminal), \(pager): \(outcome.text)")
                #expect(outcome.text.contains("modem-56k"), "\(terminal), \(pager)")
            }
        }

        @Test("Each table that a page names is one that the program has, and is shown")
        func tables() async throws {
            var count = 0
            for (topic, text) in try pages() {
                let parts = text.split(separator: /(?m)^<!-- table: .* -->$/, omittingEmptySubsequences: false)
                guard parts.count > 1 else { continue }
                let plain = try await sluice(["guide", topic])
                let markdown = try await sluice(["guide", topic, "--markdown"])
                #expect(markdown.hasPrefix(parts[0]), "\(topic)")
                var rest = markdown.dropFirst(parts[0].count)
                for (index, part) in parts.enumerated().dropFirst() {
                    count += 1
                    // The last part may be a mere end of a line, which each row has.
                    let isLast = index == parts.count - 1
                    let found = isLast ? rest.ranges(of: part).last : rest.firstRange(of: part)
                    let end = try #require(found, "\(topic): \(part)")
                    let rows = rest[..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("| ") }
                    #expect(rows.count > 2, "\(topic) has a table that the program does not know, before \(part)")
                    let word = rows.last?.split(whereSeparator: { "|`\\ ".contains($0) }).first ?? ""
                    #expect(!word.isEmpty && plain.contains(word), "\(topic): \(word)")
                    // Out of code, two hyphens are a dash on the site.
                    for row in rows where !row.hasPrefix("| ---") {
                        #expect(!row.replacing(/`[^`]*`/, with: "").contains("--"), "\(topic): \(row)")
                    }
                    rest = rest[end.upperBound...]
                }
            }
            #expect(count >= 30)
            #expect(try await sluice(["guide", "--markdown"], status: 2).contains("needs a topic"))
        }

        /// A command as ArgumentParser describes it.
        private struct Described: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable { let kind: String, name: String }
                let names: [Name]?
                let shouldDisplay: Bool
                let abstract: String?
            }

            let commandName: String
            let arguments: [Argument]?
            let subcommands: [Described]?

            /// The long options of it and all commands below, each with the words of its command.
            func options(_ path: [String] = []) -> [(command: String, option: String)] {
                let path = path + [commandName]
                let names = (arguments ?? []).filter { $0.shouldDisplay || $0.abstract != nil }.flatMap {
                    $0.names ?? []
                }
                let own = names.filter { $0.kind == "long" && !["help", "version"].contains($0.name) }
                return own.map { (path.joined(separator: " "), "--" + $0.name) }
                    + (subcommands ?? []).flatMap { $0.options(path) }
            }
        }

        @Test("Each option of each command, and each key of profiles, is on some page")
        func whole() async throws {
            struct Dump: Decodable { let command: Described }
            var text = ""
            for (topic, _) in try pages() { text += try await sluice(["guide", topic, "--markdown"]) }
            let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
            let dump = try await sluice(["--experimental-dump-help"])
            let options = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command.options()
            #expect(options.count > 200)
            for (command, option) in options { #expect(words.contains(option), "\(command) \(option)") }
            func keys(_ arguments: [String]) async throws -> [String] {
                let help = try await sluice(["profile", "help"] + arguments)
                return help.matches(of: #/(?m)^ {2}([a-z-]+) {2}/#).map { String($0.output.1) }
            }
            let marks = text.matches(of: /`([a-z-]+)`|([a-z-]+):/)
            let marked = Set(marks.compactMap { $0.output.1 ?? $0.output.2 }.map { String($0) })
            var count = 0
            for key in try await keys([]) {
                for inner in try await keys([key]) {
                    count += 1
                    #expect(marked.contains(inner), "\(key).\(inner)")
                }
            }
            #expect(count > 60)
        }

        @Test("Numbers, keys, exit codes and formats are those that the commands tell")
        func contents() async throws {
            let limits = try await sluice(["guide", "limits", "--markdown"])
            for row in [
                "| a request line | 64 KiB | 414 |", "| 1,000 of another", "| 60 s | closed |", "| 600 s, `--idle-",
            ] {
                #expect(limits.contains(row), "\(row)")
            }
            let codes = try await sluice(["guide", "exit-codes"])
            for command in ["doctor", "keys check", "profile test", "import session"] {
                #expect(codes.contains("\n\(command) "), "\(command)")
                let help = try await sluice(command.split(separator: " ").map(String.init) + ["--help"])
                #expect(help.contains("Exit codes: 0 "), "\(command)")
            }
            let words = { (text: String) in text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            let help = words(try await sluice(["export", "--help"]))
            let formats = try await sluice(["guide", "export", "--markdown"]).matches(of: /(?m)^\| `(\w+)` \| (.*) \|$/)
            #expect(formats.count >= 12)
            for format in formats {
                #expect(help.contains(" \(format.1) - "), "\(format.1)")
            }
            let keys = try await sluice(["guide", "throttle", "--markdown"])
            for line in try await sluice(["profile", "help", "throttle"]).split(separator: "\n") {
                guard let key = line.prefixMatch(of: #/  ([a-z-]+)  /#)?.1 else { continue }
                #expect(keys.contains("\n| `\(key)` | "), "\(key)")
            }
        }

        @Test("Manual pages are written for all commands and topics, and man reads them")
        func manual() async throws {
            let directory = scratch.path("man")
            #expect(try await sluice(["guide", "--man", directory]).contains("manual pages are in"))
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            for name in ["sluice.1", "sluice-export.1", "sluice-throttle.7"] { #expect(names.contains(name)) }
            for name in names {
                let text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
                #expect(text.hasPrefix(".TH \"SLUICE"), "\(name)")
                // A line that begins with a dot is a request of the man macros, or it is lost.
                for line in text.split(separator: "\n") where line.hasPrefix(".") {
                    #expect(line.wholeMatch(of: /\.(TH|SH|SS|PP|TP|IP|RS|RE|nf|fi)( .*)?/) != nil, "\(name): \(line)")
                }
            }
            let export = try String(contentsOfFile: "\(directory)/sluice-export.1", encoding: .utf8)
            #expect(export.contains("\\fB\\-\\-format <"), "the options of the command")
            for (name, line) in [
                ("run", "sluice run [OPTIONS] [-- <command> …]"),
                ("replay", "sluice replay [OPTIONS] <file> [<filter>] [-- <command> …]"),
                ("list", "sluice list [OPTIONS] <file> [<filter> …]"), ("guide", "sluice guide [OPTIONS] [<topic>]"),
                ("export", "sluice export [OPTIONS] <file> [<filter> …]"),
                ("trim", "sluice trim [OPTIONS] <file> [<filter> …]"), ("keys", "sluice keys check [<file>]"),
                ("ca", "sluice ca export --format <format> [OPTIONS]"),
                ("hold", "sluice hold edit [OPTIONS] <id> [<place=value> …]"),
            ] {
                let page = try String(contentsOfFile: "\(directory)/sluice-\(name).1", encoding: .utf8)
                let synopsis = page.split(separator: ".SH ").first { $0.hasPrefix("\"SYNOPSIS\"") } ?? ""
                #expect(synopsis.replacing("\\-", with: "-").split(separator: "\n").contains(line[...]), "\(synopsis)")
            }
            let guide = try String(contentsOfFile: "\(directory)/sluice-guide.1", encoding: .utf8)
            #expect(guide.contains("1 \\-\\-search found nothing"), "the exit codes of the command")
            await #expect(throws: Never.self) { try await sluice(["guide", "--man", "/dev/null/x"], status: 1) }
        }

        @Test("The profiles in the guide are right")
        func profiles() async throws {
            // The files that pages name beside a profile.
            for name in ["client.password", "proxy.password"] { try scratch.write(name, "a secret\n") }
            let certificate = ["-keyout", scratch.path("client.key"), "-out", scratch.path("client.pem")]
            let packed = ["-in", scratch.path("client.pem"), "-inkey", scratch.path("client.key")]
            for arguments in [
                ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=client"] + certificate,
                ["pkcs12", "-export", "-out", scratch.path("client.p12"), "-passout", "pass:a secret"] + packed,
            ] {
                let outcome = try await Program.run("openssl", arguments, within: 60)
                try #require(outcome.status == 0, "\(outcome.errors)")
            }
            var count = 0
            for (topic, text) in try pages() {
                for lines in blocks("yaml", in: text) {
                    count += 1
                    let file = scratch.path("\(topic)-\(count).yaml")
                    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
                    // The variable that a page names.
                    let environment = SluiceProcess.environment(scratch).merging(["API_TOKEN": "a secret"]) { $1 }
                    let outcome = try await Program.run(
                        try SluiceProcess.executable(),
                        ["profile", "check", file],
                        environment: environment,
                        within: 120
                    )
                    #expect(outcome.status == 0, "\(topic): \(outcome.text)\(outcome.errors)")
                }
            }
            #expect(count > 10)
        }

        #if os(Linux)
        @Test(
            "Every command in the guide runs word for word, and every screen is what is printed",
            .enabled(if: Namespaces.problem == nil, "\(Namespaces.problem ?? "")")
        )
        func played() async throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().path()
            let outcome = try await Program.run(
                "python3",
                [script("guide.py"), try SluiceProcess.executable(), root, scratch.path("world")],
                within: 400
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }
        #endif

        @Test("The commands in the guide exist, with the options that they are given")
        func commands() async throws {
            var helps: [String: String] = [:]
            var count = 0
            for (topic, text) in try pages() {
                for line in blocks("sh", in: text).joined() {
                    // What follows `--` is another program's.
                    let words = line.split(separator: " ").prefix { $0 != "--" && $0 != "&&" && $0 != "|" }.map(
                        String.init
                    )
                    guard words.first == "sluice", words.count > 1 else { continue }
                    count += 1
                    let command = words.dropFirst().prefix { $0.wholeMatch(of: /[a-z-]+/) != nil && !$0.hasPrefix("-") }
                    var help = ""
                    // Of the words as many as are commands: `sluice list last` is `list`.
                    for length in 1...max(command.count, 1) {
                        let path = command.prefix(length).joined(separator: " ")
                        if helps[path] == nil {
                            let outcome = try await SluiceProcess.run(
                                path.split(separator: " ").map(String.init) + ["--help-hidden"],
                                scratch: scratch
                            )
                            helps[path] = outcome.text
                        }
                        if helps[path]?.contains("USAGE: sluice \(path)") == true { help = helps[path] ?? "" }
                    }
                    #expect(!help.isEmpty, "\(topic): \(line)")
                    for option in words where option.hasPrefix("--") {
                        let name = option.prefix { $0 != "=" }
                        #expect(help.contains(name), "\(topic): \(line)")
                    }
                }
            }
            #expect(count > 20)
        }
    }
}
