import ArgumentParser
import Foundation

/// A command as ArgumentParser describes it (`--experimental-dump-help`).
struct CommandInfo: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let parsingStrategy: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let defaultValue: String?

        /// Such as `-o, --output <file>`.
        var text: String {
            let value = valueName.map { "<\($0)>" + (isRepeating ? " …" : "") } ?? ""
            let names = (names ?? []).sorted { $0.text.count < $1.text.count }.map(\.text).joined(separator: ", ")
            return switch kind {
            case "flag": names
            case "option": "\(names) \(value)"
            default: value
            }
        }

        /// The argument in a usage line: in brackets if it is optional, after `--` if it is accepted only there.
        var usage: String {
            let words = parsingStrategy == "postTerminator" ? "-- " + text : text
            return isOptional ? "[\(words)]" : words
        }

        var summary: String { (abstract ?? "") + (defaultValue.map { " (default: \($0))" } ?? "") }
    }

    let commandName: String
    let superCommands: [String]?
    let shouldDisplay: Bool
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandInfo]?
    let defaultSubcommand: String?
    let arguments: [Argument]?

    /// For example `sluice hold list`.
    var path: [String] { (superCommands ?? []) + [commandName] }
    /// Without `help`, which every command has.
    var children: [CommandInfo] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }
    var options: [Argument] {
        (arguments ?? []).filter {
            // Rare options are hidden but have a text; former names have no text.
            ($0.shouldDisplay || $0.abstract != nil)
                && $0.names?.contains { ["help", "version"].contains($0.name) } != true
        }
    }

    /// The usage lines of the command and its subcommands; two lines for `sluice` itself.
    var usage: [String] {
        let words = path.joined(separator: " ")
        let standard = children.first { $0.commandName == defaultSubcommand }
        let short = standard.map { $0.hasOptions ? "\(words) [OPTIONS]" : words }
        if superCommands?.isEmpty != false { return [short, "\(words) <command> …"].compactMap { $0 } }
        guard children.isEmpty else { return [short].compactMap { $0 } + children.flatMap(\.usage) }
        let required = options.filter { $0.kind == "option" && !$0.isOptional }.map(\.usage)
        let places = options.filter { $0.kind == "positional" }.map(\.usage)
        return [([words] + required + (hasOptions ? ["[OPTIONS]"] : []) + places).joined(separator: " ")]
    }

    private var hasOptions: Bool { options.contains { $0.kind != "positional" && $0.isOptional } }

    private static let exitCodesMark = "Exit codes: "

    /// The exit codes in the discussion; `nil` if the command has only the usual ones.
    var exitCodes: String? {
        guard let paragraph = paragraphs.first(where: { $0.hasPrefix(CommandInfo.exitCodesMark) }) else { return nil }
        return String(paragraph.dropFirst(CommandInfo.exitCodesMark.count)).replacing("\n", with: " ")
    }

    /// The examples in the discussion.
    var examples: [String]? {
        paragraphs.first { CommandInfo.isExample($0) }?.split(separator: "\n").map { String($0.dropFirst(2)) }
    }

    private var paragraphs: [Substring] { (discussion ?? "").split(separator: "\n\n") }

    /// Whether a paragraph, or its first line, is an example.
    static func isExample(_ paragraph: some StringProtocol) -> Bool { paragraph.hasPrefix("  ") }

    /// Each command before its subcommands.
    var descendants: [CommandInfo] { children.flatMap { [$0] + $0.descendants } }

    static let root: CommandInfo? = {
        struct Dump: Decodable { let command: CommandInfo }
        return try? JSONDecoder().decode(Dump.self, from: Data(Sluice._dumpHelp().utf8)).command
    }()

    /// Finds a command by its words without `sluice`.
    func find(_ words: some Collection<String>) -> CommandInfo? {
        guard let word = words.first else { return self }
        return children.first { $0.commandName == word }?.find(words.dropFirst())
    }
}
