import Console
import Guide
import HTTPModel
import Jobs
import Rules
import Tools

/// The tables that the program fills into the guide; a page has `<!-- table: NAME -->` in their place.
///
/// - `subcommands`: the commands of `sluice`.
/// - `options COMMAND`: the arguments and options of a command, such as `options hold edit`.
/// - `keys`: the console's commands with the keys of each, by groups.
/// - `presets`: the throttle's presets.
/// - `filter-words`: the keys and properties of filters.
/// - `profile-keys [KEY]`: the keys of profiles, or the keys under one key, such as `profile-keys rewrite.rules`.
/// - `exit-codes`: the commands with exit codes that have special meanings.
/// - `formats`: the formats of exports.
/// - `limits`: the numbers that ``LimitsTable`` has.
enum GuideTables {
    static let guide: @Sendable () -> Guide = { Guide(table: markdown) }

    /// `nil` for an unknown name.
    static func markdown(_ name: String) -> String? {
        let words = name.split(separator: " ").map(String.init)
        return switch words.first {
        case "subcommands": CommandInfo.root.map { subcommands($0) }
        case "options": CommandInfo.root?.find(words.dropFirst()).map { options($0) }
        case "keys": keys
        case "presets": presets
        case "filter-words": filterWords
        case "profile-keys":
            ProfileHelp.keys(within: words.dropFirst().first, of: .standard).flatMap { profileKeys($0) }
        case "exit-codes": CommandInfo.root.map { exitCodes($0) }
        case "formats": formats
        case "limits": LimitsTable.markdown
        default: nil
        }
    }

    private static func subcommands(_ root: CommandInfo) -> String {
        table(["command", "what it does"], root.children.map { [code($0.commandName), plain($0.abstract ?? "")] })
    }

    private static func options(_ command: CommandInfo) -> String {
        table(["option", "what it does"], command.options.map { [code($0.text), plain($0.summary)] })
    }

    private static var keys: String {
        CommandEntry.Group.allCases.map { group in
            let rows = CommandTable.entries.filter { $0.group == group }.map { entry in
                [entry.keys.map { code($0) }.joined(separator: " "), code(entry.command.rawValue), plain(entry.title)]
            }
            return "### \(group.rawValue)\n\n" + table(["keys", "command", "what it does"], rows)
        }.joined(separator: "\n\n")
    }

    private static var presets: String {
        let presets = ToolRegistry.standard.withPresets?.presets?.presets ?? []
        let rows = presets.map { [code($0.name), plain($0.text), plain($0.source)] }
        return table(["preset", "numbers", "source"], rows)
    }

    private static var filterWords: String {
        let keys = Filter.reference.map {
            [code($0.argument.isEmpty ? $0.name : "\($0.name):\($0.argument)"), plain($0.summary)]
        }
        let properties = Filter.properties.map { [code("is:\($0.name)"), plain($0.summary)] }
        return table(["term", "what fits"], keys + properties)
    }

    /// `nil` for a key without keys under it.
    private static func profileKeys(_ keys: [GrammarKey]) -> String? {
        guard !keys.isEmpty else { return nil }
        return table(["key", "what it is for"], keys.map { [code($0.name), plain($0.summaryWithDefault)] })
    }

    private static func exitCodes(_ root: CommandInfo) -> String {
        let rows = root.descendants.compactMap { command in
            command.exitCodes.map { [code(command.path.dropFirst().joined(separator: " ")), plain($0)] }
        }
        return table(["command", "exit codes"], rows)
    }

    private static var formats: String {
        table(["format", "what it is"], ExportFormat.allCases.map { [code($0.rawValue), plain($0.summary)] })
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        let lines = [head, head.map { _ in "---" }] + rows.map { $0.map { $0.replacing("|", with: "\\|") } }
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    /// Escaped for Markdown. Options, and `--` itself, are code, because Markdown turns two hyphens into a dash.
    private static func plain(_ text: String) -> String {
        var plain = ""
        var rest = text[...]
        for match in text.matches(of: /(?:^|[^A-Za-z0-9-])(--(?:[a-z0-9_]+(?:-[a-z0-9_]+)*)?)(?![A-Za-z0-9_-])/) {
            let option = match.output.1
            plain += escaped(rest[..<option.startIndex]) + code(String(option))
            rest = text[option.endIndex...]
        }
        return plain + escaped(rest)
    }

    private static func escaped(_ text: Substring) -> String {
        text.map { "\\`*_[]<".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    private static func code(_ text: String) -> String { text.contains("`") ? "`` \(text) ``" : "`\(text)`" }
}
