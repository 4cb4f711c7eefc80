import Foundation
import Support
import Testing

extension UserStories {
    /// What texts tell the user to type on the command line is there.
    @Suite("Options and subcommands that texts name")
    struct NamedOptions {
        /// A command as ArgumentParser describes it.
        private struct Described: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable { let kind: String, name: String }
                let names: [Name]?
            }

            let commandName: String
            let arguments: [Argument]?
            let subcommands: [Described]?

            var options: Set<String> {
                Set((arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map { "--" + $0.name })
            }

            /// The options of all commands below too.
            var all: Set<String> { (subcommands ?? []).reduce(options) { $0.union($1.all) } }
        }

        private struct Dump: Decodable { let command: Described }

        private static func table() async throws -> Described {
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run(["--experimental-dump-help"], scratch: scratch)
            return try JSONDecoder().decode(Dump.self, from: Data(outcome.text.utf8)).command
        }

        /// Programs whose options are not ours.
        private static var others: Regex<Substring> {
            /\b(?:protoc|openssl|curl|keytool|certutil|git|npm|http|prlimit|[Cc]hromium|sudo)\b/
        }

        private static func problems(_ text: String, _ sluice: Described) -> [String] {
            // Words behind a lone "--" are for another program.
            let text = text.replacing(#/ -- -[^\n]*/#, with: "")
            var problems: [String] = []
            func options(_ text: Substring) -> [String] {
                text.matches(of: /(?:^|[\s(`'])(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)/).map { String($0.output.1) }
            }
            // What follows a command, up to the end of its quotation or clause, is about its options.
            for match in text.matches(of: /(?:^|[`'\s(])sluice ([a-z]+(?:-[a-z]+)*)(?: ([a-z]+))?([^'`,;()\n]*)/) {
                guard let child = sluice.subcommands?.first(where: { $0.commandName == match.output.1 }) else {
                    // A sentence about Sluice has other words there.
                    if text.contains("`sluice \(match.output.1)") || text.contains("'sluice \(match.output.1)") {
                        problems.append("no command \(match.output.1)")
                    }
                    continue
                }
                let below = match.output.2.flatMap { word in child.subcommands?.first { $0.commandName == word } }
                let known = (below ?? child).all
                for option in options(match.output.3) where !known.contains(option) && !option.hasPrefix("--help") {
                    problems.append("no option \(option) of \(match.output.1)")
                }
            }
            let known = sluice.all
            for option in options(text[...]) where !known.contains(option) && !option.hasPrefix("--help") {
                problems.append("no option \(option)")
            }
            return problems
        }

        @Test("Every option and subcommand in a text is there")
        func texts() async throws {
            let sluice = try await Self.table()
            #expect(sluice.all.count > 60 && sluice.all.contains("--listen"))
            // Commands of other programs are made there, and the page of an export has its own style.
            let elsewhere = ["Formats/Curl/", "Formats/Requests/", "Formats/Page/", "Content/RPC/"]
            let texts = try SourceText.all().filter { text in !elsewhere.contains { text.file.hasPrefix($0) } }
            #expect(texts.count > 5_000, "the sources were not read")
            for text in texts where text.text.contains(" ") && text.text.firstMatch(of: Self.others) == nil {
                let problems = Self.problems(text.text, sluice)
                #expect(problems.isEmpty, "\(text): \(problems)")
            }
        }

        @Test("What the console shows names no option without the command that has it")
        func console() throws {
            let folders = ["Console", "Description/Document", "Description/RPC"]
            let texts = try folders.flatMap { try SourceText.all(in: $0) }
            for text in texts where text.text.firstMatch(of: /(?:^|[\s(`'])--[a-z]/) != nil {
                // A word alone is an argument for another program.
                guard text.text.contains(" ") else { continue }
                let isOfCommand = ["sluice ", "in the console", "tart with", "tart Sluice with", "ttached with"]
                    .contains {
                        text.text.contains($0)
                    }
                let isPrinted = text.around.contains("isPrinted")
                let isOfOther = text.text.firstMatch(of: Self.others) != nil
                #expect(isOfCommand || isPrinted || isOfOther, "\(text)")
            }
        }

        @Test("A text that names what is not there is noticed")
        func wrong() async throws {
            let sluice = try await Self.table()
            for text in [
                "Run `sluice ca exprt --format trust-hlp` or --upstream-cas FILE.", "sluice list --body prints it",
                "Try `sluice expert` once.", "start with --listen-to ADDRESS",
            ] {
                #expect(!Self.problems(text, sluice).isEmpty, "\(text)")
            }
            #expect(Self.problems("sluice why SESSION 3 --profile FILE", sluice).isEmpty)
        }
    }
}
