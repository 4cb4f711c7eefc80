import Description
import HTTPModel
import Rules
import Text

extension ConsoleModel {
    mutating func openLineHelp(_ word: String?) -> [Effect] {
        guard let word = word?.lowercased() else { return report("Commands", LinearHelp.overview) }
        let group = CommandEntry.Group.allCases.first { $0.word == word }
        let isCommand = CommandTable.entries.contains { $0.command.rawValue == word }
        if let group, !isCommand { return report(group.rawValue, LinearHelp.lines(of: group)) }
        if word == "all" { return report("Commands", CommandEntry.Group.allCases.flatMap(LinearHelp.lines)) }
        if word == "tools" {
            return report("Tools", Tool.all.map { "\($0.letter), \($0.key): \($0.title), \(describe($0))." })
        }
        return attempt { model in
            guard let entry = try CommandCall(word).flatMap({ CommandTable.entry($0.command) }) else {
                throw ConsoleError("help takes the word of a command or of a group.")
            }
            return model.report("Help", LinearHelp.lines(on: entry, model))
        }
    }
}

enum LinearHelp {
    /// The maximum width of a line on a screen of 80 columns.
    private static let width = 76

    private static let rows = CommandTable.entries.filter { $0.form != .screen }

    static var overview: [String] {
        let groups = CommandEntry.Group.allCases.flatMap { group in
            let words = rows.filter { $0.group == group }.map(\.command.rawValue)
            return TextWidth.wrap("\(group.word): \(words.joined(separator: ", "))", to: width).map(String.init)
        }
        return groups + [
            "help and a group or a command says more, for example: help rules, help filter.",
            "Commands can be abbreviated. # starts a comment.",
            "Sluice exits with 0 if every line succeeded, else with 1.",
        ]
    }

    static func lines(of group: CommandEntry.Group) -> [String] { rows.filter { $0.group == group }.map(line) }

    private static func line(_ entry: CommandEntry) -> String {
        let name = entry.argument.name
        return "\(entry.command.rawValue)\(name.isEmpty ? "" : " ")\(name): \(entry.title)"
    }

    static func lines(on entry: CommandEntry, _ model: ConsoleModel) -> [String] {
        var lines = [line(entry)]
        let name = entry.argument.name
        if name.contains("ID") {
            lines.append("ID is a number such as 12 or #12, or 'last'; by default the selected exchange.")
        }
        if name.contains("HOLD") {
            lines.append("HOLD is a name such as 12.1, the number of its exchange, or 'last'; optional if one is held.")
        }
        if name.contains("TOOL") {
            lines.append("TOOL is one of \(Tool.all.map { "\($0.letter) or \($0.key)" }.joined(separator: ", ")).")
        }
        if let values = entry.argument.values { lines.append("Values: \(values.joined(separator: ", ")).") }
        switch entry.command {
        case .filter:
            lines += Filter.reference.map { "\($0.name):\($0.argument), \($0.summary), for example \($0.example)" }
            lines += Filter.properties.map { "is:\($0.name), \($0.summary)" }
            lines.append("A place and a value, for example res.json.error.code:42.")
        case .editHold: lines.append("NAME is one of \(HoldOption.allCases.map(\.rawValue).joined(separator: ", ")).")
        case .newRequest, .compose, .requests:
            lines.append("This makes a draft: draft changes it, apply sends it, discard deletes it.")
        case .columns: lines.append("+NAME adds a column to each line, -NAME removes one; names alone replace all.")
        case .draft:
            lines += [
                "draft alone shows it with line numbers; edit opens it in an editor.",
                "draft to http://localhost:3000 sets a key of a rule; draft remove to removes it.",
                "draft header X-Mode: test changes a request, by the same names as edit.",
                "draft 3 TEXT replaces a line, draft insert 3 TEXT adds one, draft remove 3 removes one.",
            ]
        default: break
        }
        if let example = examples[entry.command] { lines.append("For example: \(example)") }
        if let reason = entry.problem(model) { lines.append("Not now: \(reason)") }
        let others = rows.filter { $0.group == entry.group && $0.command != entry.command }.map(\.command.rawValue)
        return lines + TextWidth.wrap("See also: \(others.joined(separator: ", "))", to: width).map(String.init)
    }

    private static let examples: [Command: String] = [
        .filter: "filter host:api.example.com status:5xx",
        .show: "show 12 response",
        .ruleFromExchange: "rule map-remote 12, or written out: rule block {at: \"*/ads/*\"}",
        .editHold: "edit 12.1 method=PUT header=\"X-Mode: test\"",
        .saveBody: "save-body 12 picture.png",
        .export: "export har bug.har; with its secrets: export har shown secrets bug.har",
        .importSession: "import bug.har; filter is:imported lists what came",
        .repeatAdvanced: "repeat-advanced 100 x 10, 50ms",
        .switchRule: "switch-rule block 1",
        .removeRule: "remove-rule block 1",
        .editRule: "edit-rule block 1",
        .moveRule: "move-rule block 2 up",
        .copy: "copy response 12, or without secrets: copy curl last masked",
        .sort: "sort time desc",
        .columns: "columns +size +type",
        .newRequest: "new POST http://localhost:3000/login",
        .decrypt: "decrypt last",
        .highlight: "highlight status:5xx",
        .toggleTool: "toggle no-caching",
    ]
}
