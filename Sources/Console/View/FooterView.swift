import Description
import HTTPModel
import Rules
import Runner
import Terminal
import Text
import Tools

enum FooterView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        for (row, hints) in lines(model, width: rect.width).prefix(rect.height).enumerated() {
            let y = rect.y + row
            var x = rect.x + 1
            for (key, word) in hints {
                x += screen.write(key, x: x, y: y, style: theme.key, limit: rect.maxX - x) + 1
                x += screen.write(word, x: x, y: y, style: theme.faint, limit: max(0, rect.maxX - x)) + 2
            }
        }
    }

    /// One row; as many rows as needed for the keys that can follow a first key.
    static func rows(_ model: ConsoleModel) -> Int {
        model.pendingKey == nil ? 1 : max(1, lines(model, width: model.size.width).count)
    }

    private static func lines(_ model: ConsoleModel, width: Int) -> [[Hint]] {
        var hints = hints(model)
        guard model.pendingKey != nil else { return [fitting(hints, help: help(model), width: width - 1)] }
        var lines: [[Hint]] = []
        while !hints.isEmpty {
            let line = fitting(hints, help: nil, width: width - 1)
            lines.append(line)
            hints.removeFirst(max(1, line.count))
        }
        return lines
    }

    /// The hints that fit; if a hint is left out, the last hint is help.
    static func fitting(_ hints: [Hint], help: Hint?, width: Int) -> [Hint] {
        func columns(_ hint: Hint) -> Int { TextWidth.columns(hint.key) + TextWidth.columns(hint.word) + 3 }
        if hints.reduce(0, { $0 + columns($1) }) <= width + 2 { return hints }
        var left = width + 2 - (help.map(columns) ?? 0)
        var fitting: [Hint] = []
        for hint in hints where help.map({ $0.key != hint.key }) ?? true {
            left -= columns(hint)
            guard left >= 0 else { break }
            fitting.append(hint)
        }
        return fitting + (help.map { [$0] } ?? [])
    }

    private static func help(_ model: ConsoleModel) -> Hint? {
        guard model.pendingKey == nil else { return nil }
        switch model.context {
        case .line, .picker, .editor:
            return model.keymap.keys(for: .help, in: model.context).first { $0.count > 1 }.map { ($0, "help") }
        case .list, .detail, .panel, .report:
            if case .confirm? = model.overlays.last { return nil }
            let isHelp = if case .report(let report)? = model.overlays.last { report.isHelp } else { false }
            return model.keymap.keys(for: .help, in: model.context).first.map { ($0, isHelp ? "guide" : "help") }
        }
    }

    /// The hints for the selected held message. The keys are the same as in the list.
    static func holdHints(_ model: ConsoleModel) -> [Hint] {
        Command.ofHolds.compactMap { command in
            let word = command == .executeAll ? "execute all" : command.rawValue
            return model.keymap.keys(for: command, in: .list).first.map { ($0, word) }
        }
    }

    typealias Hint = (key: String, word: String)

    static func hints(_ model: ConsoleModel) -> [Hint] {
        if let prefix = model.pendingKey {
            let all = model.keymap.continuations(of: prefix, in: model.context)
            let panels = all.filter { $0.binding.command == .panel }
            let hints = all.filter { $0.binding.command != .panel }.map { key, binding in
                let tool = binding.argument.flatMap { ToolRegistry.standard[key: $0] }?.title.lowercased()
                return (key.spelling, tool ?? binding.command.rawValue)
            }
            // The panel of a tool opens with the capital of the letter that switches the tool.
            return panels.isEmpty ? hints : [("a-z", "on/off"), ("A-Z", "rules")] + hints
        }
        switch model.overlays.last {
        case .panel(let panel):
            let file = panel.tool.answersFrom != nil ? [("f", "edit file")] : []
            let reset = model.proxy.tool(panel.tool)?.counts != nil ? [("0", "reset counts")] : []
            let preset = panel.tool.presets != nil ? [("p", "preset")] : []
            return [
                ("enter", "edit"), ("a", "add"), ("space", "on/off"), ("d", "delete"), ("J K", "move"),
                ("o", "tool on/off"),
            ] + preset + file + reset + [("u", "undo"), ("ctrl-s", "save"), ("esc", "close")]
        case .holds: return holdHints(model) + [("esc", "close")]
        case .editor(let editor):
            let word =
                switch editor.purpose {
                case .rule: "apply"
                case .hold: "execute"
                case .request, .newRequest: "send"
                }
            let scope = editor.isNewRule && editor.origin != nil ? [("ctrl-t", "wider")] : []
            let layout = editor.isRule ? [("tab", "complete")] : [("ctrl-y", "format JSON")]
            return [("ctrl-s", word)] + scope + layout + [("ctrl-o", "$EDITOR"), ("alt-z", "undo"), ("esc", "close")]
        case .picker(let picker) where picker.isColumnChoice:
            return [("space", "show/hide"), ("J K", "move"), ("A", "automatic"), ("type", "narrow"), ("esc", "close")]
        case .picker: return [("enter", "choose"), ("↑ ↓", "move"), ("type", "narrow"), ("esc", "close")]
        case .prompt(let prompt):
            let history = prompt.history.isEmpty ? [] : [("↑ ↓", "earlier")]
            return [("enter", "OK"), ("tab", "complete")] + history + [("esc", "cancel")]
        case .confirm(let confirm): return confirm.choices.map { (String($0.key), $0.title) }
        case .report(let report):
            let pages: [Hint] = report.pages.isEmpty ? [] : [("tab 1…0", "page")]
            let guide = report.isHelp ? [help(model)].compactMap(\.self) : []
            let differences: [Hint] = report.document.page == .difference ? [("n N", "difference")] : []
            return [("↑ ↓", "move")] + pages + differences + [("/", "find"), ("esc", "close"), ("c", "copy")] + guide
        case nil: break
        }
        if model.filter.isEditing {
            return [("enter", "apply"), ("tab", "complete"), ("↑ ↓", "history"), ("f1", "syntax"), ("esc", "cancel")]
        }
        let context = model.context
        let times: [Hint] = model.isTimelineInUse && context == .list ? [("← →", "time"), ("↑ ↓", "host")] : []
        let commands: [Hint] = CommandTable.entries.compactMap { entry in
            guard !entry.short.isEmpty, entry.shortPlaces?.contains(context) ?? true,
                model.whyNot(entry.command) == nil, entry.command != .jumpKind || model.noRows == nil,
                let key = model.keymap.keys(for: entry.command, in: context).first
            else { return nil }
            if entry.command == .ruleFromExchange { return ("a …", entry.short) }
            if entry.command == .switchView { return (key, model.view.next.rawValue) }
            return (key, entry.short)
        }
        let usual = times + commands
        if model.selectedRecord?.failure?.unverifiedHost != nil, model.whyNot(.insecureHost) == nil,
            let key = model.keymap.keys(for: .insecureHost, in: context).first
        {
            return [(key, "trust anyway")] + usual
        }
        guard model.refusedRecord?.flags.contains(.certificateRefused) == true, model.whyNot(.decrypt) == nil,
            let key = model.keymap.keys(for: .decrypt, in: context).first
        else { return usual }
        return [(key, "decrypt again")] + usual
    }
}
