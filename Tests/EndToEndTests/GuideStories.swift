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
            #expect(try await sluice(["guide", "--search", "zebra violin"], status: 1).contains("No line"))
            #expect(try await sluice(["guide", "map"], status: 2).contains("map-remote, map-local"))
            #expect(try await sluice(["guide", "nonsense"], status: 2).contains("no topic 'nonsense'"))
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
                    rest = rest[end.upperBound...]
                }
            }
            #expect(count >= 30)
            #expect(try await sluice(["guide", "--markdown"], status: 2).contains("goes with a topic"))
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
            #expect(formats.count >= 13)
            for format in formats {
                let summary = format.2.replacing("\\", with: "")
                #expect(help.contains("\(format.1) - \(summary)"), "\(summary)")
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
                ("replay", "sluice replay [OPTIONS] <session> [<filter>] [-- <command> …]"),
                ("list", "sluice list [OPTIONS] <session> [<filter> …]"), ("guide", "sluice guide [OPTIONS] [<topic>]"),
                ("export", "sluice export --format <format> [OPTIONS] <session> [<filter> …]"),
                ("trim", "sluice trim [OPTIONS] <session>"), ("keys", "sluice keys check [<file>]"),
                ("ca", "sluice ca export --format <format> [OPTIONS]"), ("hold", "sluice hold edit [OPTIONS] <id>"),
            ] {
                let page = try String(contentsOfFile: "\(directory)/sluice-\(name).1", encoding: .utf8)
                let synopsis = page.split(separator: ".SH ").first { $0.hasPrefix("\"SYNOPSIS\"") } ?? ""
                #expect(synopsis.replacing("\\-", with: "-").split(separator: "\n").contains(line[...]), "\(synopsis)")
            }
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
                    let outcome = try await SluiceProcess.run(["profile", "check", file], scratch: scratch)
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
                                path.split(separator: " ").map(String.init) + ["--help"],
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
