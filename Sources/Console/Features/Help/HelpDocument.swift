import Description
import HTTPModel
import Rules
import Terminal
import Text

struct HelpPage: Sendable, Hashable {
    let word: String
    let lines: [DetailLine]
}

/// Help, built from the command table and the current keys. The first page shows what works in the current context.
enum HelpDocument {
    /// The space inside the frame on a screen of 80×24, without the tabs and the empty line below them.
    private static let firstPage = (rows: 17, columns: 74)
    static let keyWidth = 16

    static func pages(_ model: ConsoleModel, for place: Context) -> [HelpPage] {
        let groups = CommandEntry.Group.allCases.filter { $0 != .send }.map { group in
            let more = group == .share ? [DetailLine([])] + lines(of: .send, model) : []
            return HelpPage(word: group.word, lines: lines(of: group, model) + more)
        }
        let signs = HelpPage(word: "signs", lines: HelpSigns.lines(model.look))
        let language = [HelpPage(word: "filter", lines: filterLines), signs]
        return [HelpPage(word: "now", lines: here(model, place))] + groups + language
    }

    static func document(_ pages: [HelpPage], shown: Int) -> DetailDocument {
        var tabs: [Span] = []
        for (index, page) in pages.enumerated() {
            let name = "\((index + 1) % 10) \(page.word)"
            let isShown = index == shown
            tabs.append(Span(isShown ? "[\(name)]" : name, isShown ? .heading : .key))
            if index < pages.count - 1 { tabs.append(Span(" ")) }
        }
        let lines = pages.indices.contains(shown) ? pages[shown].lines : []
        return DetailDocument(lines: [DetailLine(tabs), DetailLine([])] + lines)
    }

    /// What the keys do now; in a field or an editor, only the keys that work there.
    private static func here(_ model: ConsoleModel, _ place: Context) -> [DetailLine] {
        switch model.overlays.last {
        case .editor(let editor): return rows(HelpKeys.editor(editor), remark: HelpKeys.remark(editor))
        case .panel(let panel):
            let remark = "\(panel.tool.title): \(model.describe(panel.tool)). Changes apply at once; ctrl-s saves them."
            return rows(FooterView.hints(model).map { ($0.key, HelpKeys.panel[$0.key] ?? $0.word) }, remark: remark)
        case .holds: return rows(HelpKeys.holds(model), remark: "A message is held until you decide.")
        case .picker(let picker):
            let remark =
                picker.command == nil
                ? "A command and its argument can be typed too, for example: filter status:404" : picker.title
            return rows(HelpKeys.picker, remark: remark)
        case .prompt(let prompt): return rows(HelpKeys.field, remark: remark(prompt))
        case .confirm(let question):
            return rows(question.choices.map { (String($0.key), $0.title) } + [("esc", "cancel")])
        case .report: return rows(HelpKeys.report)
        case nil where model.filter.isEditing:
            return rows(HelpKeys.filter, remark: "The list follows while you type.") + [DetailLine([])] + filterLines
        case nil: return columns(commands(model, place), model, place)
        }
    }

    private static func remark(_ prompt: PromptState) -> String {
        guard let entry = CommandTable.entry(prompt.command) else { return prompt.title }
        let values = entry.argument.values.map { ": \($0.joined(separator: ", "))" } ?? ""
        return "\(entry.title). It takes \(entry.argument.name)\(values)."
    }

    private static func rows(_ hints: [FooterView.Hint], remark: String = "") -> [DetailLine] {
        let lines = hints.flatMap { row(Span($0.key, .key), $0.word) }
        let above = TextWidth.wrap(remark, to: firstPage.columns).map { DetailLine([Span(String($0))]) }
        return (remark.isEmpty ? [] : above + [DetailLine([])]) + lines
    }

    /// The commands with keys in this context: first those that work only here, then the most used.
    private static func commands(_ model: ConsoleModel, _ place: Context) -> [CommandEntry] {
        let ranks = Dictionary(Command.mostUsed.enumerated().map { ($1, $0) }) { first, _ in first }
        // In the detail, the key of `open` folds a section, so `fold` stands for both.
        let bound = CommandTable.entries.filter {
            !model.keymap.keys(for: $0.command, in: place).isEmpty && (place != .detail || $0.command != .open)
        }
        func rank(_ entry: CommandEntry) -> Int {
            let isOwn = place != .list && (!entry.contexts.contains(.list) || entry.command == .fold)
            return (isOwn ? 0 : 1_000) + (ranks[entry.command] ?? 500)
        }
        let sorted = bound.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
        return sorted.map(\.element)
    }

    /// Two columns, or one on a narrow screen; as many rows as fit on a small screen.
    private static func columns(_ entries: [CommandEntry], _ model: ConsoleModel, _ place: Context) -> [DetailLine] {
        let isWide = model.size.width >= firstPage.columns
        let width = isWide ? firstPage.columns / 2 : max(20, model.size.width - 6)
        let cells = entries.prefix(firstPage.rows * 2).map { entry in
            let keys = "\(keys(entry, model, place, most: 2)) ".filled(to: 10)
            let room = width - TextWidth.columns(keys) - 2
            return [Span(keys, .key), Span("\(words(entry, model, room: room)) ".filled(to: room + 2))]
        }
        guard isWide else { return cells.map { DetailLine($0) } }
        let rows = (cells.count + 1) / 2
        return (0..<rows).map { row in
            DetailLine(cells[row] + (cells.indices.contains(row + rows) ? cells[row + rows] : []))
        }
    }

    private static func words(_ entry: CommandEntry, _ model: ConsoleModel, room: Int) -> String {
        let clause = entry.title.prefix { !",;:".contains($0) }
        let candidates = [
            Command.brief[entry.command] ?? "", entry.title, String(clause), entry.short,
            entry.command.rawValue.capitalizedFirst,
        ]
        return candidates.first { !$0.isEmpty && TextWidth.columns($0) <= room } ?? TextWidth.cut(entry.title, to: room)
    }

    private static func lines(of group: CommandEntry.Group, _ model: ConsoleModel) -> [DetailLine] {
        let entries = CommandTable.entries.filter { $0.group == group && $0.form != .lines }
        // A reason that disables several commands is shown once, as a numbered note.
        let reasons = Dictionary(grouping: entries.compactMap { model.whyNot($0.command) }) { $0 }
        let notes = reasons.filter { $0.value.count > 1 }.keys.sorted()
        let lines = entries.flatMap { entry in
            let place: Context = entry.contexts.contains(.list) ? .list : .detail
            let keys = keys(entry, model, place, most: 3)
            let reason = model.whyNot(entry.command)
            let remark = reason.flatMap { notes.firstIndex(of: $0) }.map { "\($0 + 1)" } ?? reason
            return row(Span(keys.isEmpty ? ":\(entry.command.rawValue)" : keys, .key), entry.title, remark: remark)
        }
        let below = notes.enumerated().flatMap { row(Span("(\($0 + 1))", .faint), $1) }
        return [DetailLine([Span(group.rawValue, .heading)])] + lines + (below.isEmpty ? [] : [DetailLine([])] + below)
            + (group == .tools ? tools(model) : [])
    }

    private static func tools(_ model: ConsoleModel) -> [DetailLine] {
        let rows = Tool.all.map { tool in
            let keys = [Command.toggleTool, .panel, .ruleFromExchange].map {
                "\(model.way(to: $0, of: tool)) ".filled(to: 8)
            }
            .joined()
            return DetailLine([Span(keys, .key), Span("\(tool.title): \(model.describe(tool))")])
        }
        let titles = "on/off  panel   rule    tool"
        return [DetailLine([]), DetailLine([Span(titles, .label)])] + rows
    }

    /// The keys of a command as help shows them; if each tool has its own key, an example.
    private static func keys(_ entry: CommandEntry, _ model: ConsoleModel, _ place: Context, most: Int) -> String {
        let keys = model.keymap.keys(for: entry.command, in: place)
        switch entry.command {
        case .ruleFromExchange, .toggleTool:
            // `a …` and `x …`: two keys; the second key is the tool's letter.
            let double = keys.first { $0.contains(" ") }?.first.map { "\($0) …" }
            return double ?? keys.first ?? ""
        case .panel: return keys.prefix(3).joined(separator: " ") + (keys.count > 3 ? " …" : "")
        case .fold where place == .detail:
            return (model.keymap.keys(for: .open, in: place).prefix(1) + keys).prefix(most).joined(separator: " ")
        case .page: return keys.count > 2 ? "\(keys[0])…\(keys[keys.count - 1])" : keys.joined(separator: " ")
        default: return keys.prefix(most).joined(separator: " ")
        }
    }

    /// A key or a sign with its meaning; further lines are indented below the first.
    static func row(_ key: Span, _ text: String, remark: String? = nil, keyWidth: Int = keyWidth) -> [DetailLine] {
        let lines = TextWidth.wrap(text + (remark.map { "  (\($0))" } ?? ""), to: firstPage.columns - keyWidth)
        return lines.enumerated().map { index, line in
            let label = "\(index == 0 ? key.text : "") ".filled(to: keyWidth)
            // The remark is fainter than the title if both are on one line.
            let title = remark == nil || lines.count > 1 ? String(line) : text
            let rest = line.dropFirst(title.count)
            return DetailLine(
                [Span(label, key.role), Span(title)] + (rest.isEmpty ? [] : [Span(String(rest), .faint)])
            )
        }
    }

    private static var filterLines: [DetailLine] {
        func line(_ term: String, _ text: String) -> [DetailLine] { row(Span(term, .key), text, keyWidth: 30) }
        let keys = Filter.reference.flatMap { line($0.example, "\($0.name): \($0.summary)") }
        let facts = Filter.properties.flatMap { line("is:\($0.name)", $0.summary) }
        return filters.flatMap { line($0.0, $0.1) } + keys + [DetailLine([Span(Filter.expressionNote)])] + facts
    }

    /// Examples of filters without a key, and with several terms.
    static let filters = [
        ("res.json.error.code:42", "a value of the JSON; sluice guide places has all places"),
        ("req.header.x-tenant:acme*", "the whole value of a header"),
        ("users", "a word in the URL"), ("-host:cdn.example.com", "not that host"),
        ("status:5xx (method:POST or time:>1s)", "and, or"),
    ]
}

enum HelpKeys {
    typealias Hint = FooterView.Hint

    static let field: [Hint] = [
        ("enter", "OK"), ("esc", "cancel"), ("← → home end", "move"), ("backspace delete", "delete a character"),
        ("ctrl-w", "delete a word"), ("ctrl-u ctrl-k", "delete to the beginning, to the end"),
    ]

    static let filter: [Hint] =
        [("enter", "apply the filter"), ("esc", "cancel: the filter before"), ("↑ ↓", "earlier filters")]
        + field.dropFirst(2)

    static let picker: [Hint] = [
        ("type", "filter the list, also by other words for a command"), ("↑ ↓ pgup pgdn", "move"), ("enter", "choose"),
        ("esc", "close"),
    ]

    static let report: [Hint] = [
        ("↑ ↓ j k", "move"), ("pgup pgdn", "by pages"), ("g G", "to the first line, to the last"), ("f", "find"),
        ("c", "copy: a line, or all that is shown"), ("?", "help; in help, the guide's page about where you were"),
        ("esc q", "close"),
    ]

    static let panel = [
        "enter": "edit the rule", "a": "add a rule, from the selected exchange if there is one",
        "space": "switch the rule on or off", "d": "delete the rule", "J K": "move the rule down, up",
        "0": "start the counts of answers again", "o": "switch the tool on or off", "p": "choose a preset",
        "u": "undo the last change",
        "ctrl-s": "save the rules to the profile's file",
    ]

    static func holds(_ model: ConsoleModel) -> [Hint] {
        [("↑ ↓", "move"), ("enter", "edit the message")] + FooterView.holdHints(model) + [("esc", "close")]
    }

    static func editor(_ editor: EditorState) -> [Hint] {
        let word =
            switch editor.purpose {
            case .rule: "apply the rule"
            case .hold: "send the message as edited"
            case .request, .newRequest: "send the request"
            }
        let scope: [Hint] = editor.isNewRule && editor.origin != nil ? [("ctrl-t", "the next wider scope")] : []
        let own: [Hint] =
            editor.isRule
            ? [("tab", "complete the word: a key, a value, a host of the session")]
            : [("ctrl-y", "format JSON; without edits, the body is sent as it was")]
        return [("ctrl-s", word)] + scope + own + [
            ("ctrl-o", "edit in $EDITOR"), ("esc", "close; asks if the text was changed"), ("", ""),
            ("← → ↑ ↓", "move"), ("home end", "to the beginning of the line, to its end"),
            ("ctrl-home/end", "to the first line, to the last"), ("pgup pgdn", "by pages"),
            ("ctrl-u ctrl-k", "delete to the beginning of the line, to its end"),
            ("alt-z", "undo the last change of the text"),
        ]
    }

    static func remark(_ editor: EditorState) -> String {
        switch editor.purpose {
        case .rule(let tool, _): "A rule of \(tool.title), as YAML. What it would match stands below it."
        case .hold: "The message as a text: first line, header fields, an empty line, the body."
        case .request, .newRequest: "The request as a text: method and URL, header fields, an empty line, the body."
        }
    }
}

enum HelpSigns {
    private typealias Row = (sign: String, role: Role, text: String)

    static func lines(_ look: Look) -> [DetailLine] {
        [
            ("Before the number", numberSigns(look.theme.hasColours)), ("STATUS", statusSigns),
            ("Elsewhere", otherSigns),
        ].flatMap { title, rows in
            [DetailLine([Span(title, .heading)])]
                + rows.flatMap { HelpDocument.row(Span($0.sign, $0.role), $0.text) } + [DetailLine([])]
        }
    }

    /// With few colours or none, attributes replace coloured backgrounds.
    private static func numberSigns(_ hasColours: Bool) -> [Row] {
        let underlined = hasColours ? "" : "; its row is underlined"
        return [
            ("*", .faint, "marked"), ("↻ r", .faint, "sent from this console"), ("\"", .faint, "has a comment"),
            ("r o y g b p", .faint, "coloured red, orange, yellow, green, blue, purple\(underlined)"),
            ("2:", .faint, "matches highlight 2; its row \(hasColours ? "has a colour too" : "is underlined")"),
            (">", .text, "the selected row, if there are no colours"),
        ]
    }

    private static let statusSigns: [Row] = [
        ("200", .success, "the server's response"), ("302", .redirect, "a redirect"),
        ("404", .clientError, "an error of the request"), ("500", .serverError, "an error of the server"),
        ("rpc0", .success, "a gRPC call, with its own status; 0 is OK"),
        ("rpc14", .serverError, "a gRPC call that failed, with its own status"),
        ("200~", .changed, "a rule changed the request or the response, or answered for the server"),
        ("403#", .warning, "a rule denied it, and this was the answer"),
        ("denied", .warning, "a rule denied it without an answer"),
        ("200!", .failure, "failed after the response had started"),
        ("failed", .failure, "failed without a response; y says why"),
        ("…  200…", .changed, "in progress: no response yet, or its body is incomplete"),
        ("held", .changed, "waits at a breakpoint"), ("cut", .failure, "the recording ended first"),
        ("-", .faint, "no status: a tunnel"),
    ]

    private static let otherSigns: [Row] = [
        ("+", .text, "before the host: TLS; a wide column has the URL's scheme instead"),
        ("▲ ▼", .label, "sorted by that column, smallest or largest first"),
        ("›2  >2", .warning, "right of the titles: two chosen columns have no room"),
        ("▸ ▾", .text, "folded, unfolded"), ("1.2 s", .warning, "a time of a second or more"),
        ("▬", .link, "from its start to its end, on the scale of the rows on the screen; pauses are shortened"),
        ("▁▂▅█", .text, "exchanges each second, the newest at the right"),
        ("(…)", .text, "in PATH: not a request, for example a tunnel that was not decrypted"),
    ]
}
