import HTTPModel
import Runner
import Terminal

/// The filter: the line that is typed, or what is in force.
enum FilterView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        let title = "filter: "
        let filter = model.filter
        let x = rect.x + screen.write(title, x: rect.x, y: rect.y, style: theme.key, limit: rect.width)
        if filter.isEditing {
            FieldView.draw(filter.line, theme, in: Rect(x: x, y: rect.y, width: rect.maxX - x, height: 1), on: &screen)
            guard let error = filter.error, rect.height > 1 else { return }
            let caret = min(x + max(0, error.column - 1), rect.maxX - 1)
            let text = "^ \(error.message)\(error.suggestion.map { ", \($0)" } ?? "")"
            let start = min(caret, max(rect.x, rect.maxX - TextWidth.columns(text)))
            screen.write(text, x: start, y: rect.y + 1, style: theme.style(.failure))
            return
        }
        var parts: [String] = filter.applied.isEmpty ? [] : [filter.applied]
        if let text = model.list.query.bodyText { parts.append("bodies with “\(text)”") }
        let hosts = model.list.query.focusedHosts.sorted()
        if !hosts.isEmpty { parts.append("only \(hosts.joined(separator: ", "))") }
        let count = "  \(model.list.total) of \(model.list.sessionTotal)"
        let room = max(0, rect.maxX - x - count.count)
        let used = screen.write(parts.joined(separator: "  +  "), x: x, y: rect.y, limit: room)
        screen.write(count, x: x + used, y: rect.y, style: theme.faint)
    }
}

/// One line that is being typed, with its cursor.
enum FieldView {
    static func draw(_ line: LineEditor, _ theme: Theme, in rect: Rect, on screen: inout CellBuffer) {
        guard rect.width > 0 else { return }
        // The part around the cursor, where the line is longer than its place.
        var start = 0
        while TextWidth.columns(String(line.characters[start..<line.cursor])) >= rect.width, start < line.cursor {
            start += 1
        }
        let text = String(line.characters[start...])
        screen.write(text, x: rect.x, y: rect.y, limit: rect.width, ellipsis: false)
        let column = TextWidth.columns(String(line.characters[start..<line.cursor]))
        screen.cursor = CursorPosition(x: min(rect.x + column, rect.maxX - 1), y: rect.y)
    }
}

/// Address, tools, holds, rate; or what there is to say, for a moment.
enum StatusView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        screen.fill(rect, style: theme.bar)
        let right = right(model)
        let room = max(0, rect.width - TextWidth.columns(right) - 1)
        if let notice = model.notices.last, model.now - notice.at < Notice.shown {
            let style = notice.kind == .error ? theme.style(.failure).on(theme.bar.background) : theme.bar.with(.bold)
            screen.write(" \(notice.text)", x: rect.x, y: rect.y, style: style, limit: rect.width)
            return
        }
        screen.write(" \(left(model))", x: rect.x, y: rect.y, style: theme.bar, limit: room)
        screen.write(right, x: rect.x + room, y: rect.y, style: theme.bar, limit: rect.width - room)
    }

    /// What is always worth knowing.
    static func left(_ model: ConsoleModel) -> String {
        var parts: [String] = []
        if let problem = model.proxy.problem {
            parts.append(problem)
        } else if !model.proxy.address.isEmpty {
            parts.append(model.proxy.address)
            parts.append(model.proxy.session == nil ? "not recording" : "recording")
        } else if model.isLive {
            parts.append("starting …")
        }
        if let job = model.jobs.last(where: { model.now - $0.startedAt > 300_000 }) {
            let progress = job.progress.map { " \(Int($0 * 100)) %" } ?? ""
            parts.append("\(job.title)\(progress), ctrl-g stops")
        }
        if let preset = model.proxy.preset { parts.append("throttle \(preset)") }
        let on = model.proxy.tools.filter { $0.isOn && $0.enabled > 0 && $0.name != "throttle" }.map(\.name)
        if !on.isEmpty { parts.append("on: \(on.joined(separator: " "))") }
        let off = model.proxy.tools.filter { !$0.isOn && $0.rules > 0 }.map(\.name)
        if !off.isEmpty { parts.append("off: \(off.joined(separator: " "))") }
        if model.rules.isUnsaved { parts.append("rules unsaved") }
        if !model.list.isFollowing, model.isLive, model.list.query.sort == nil { parts.append("not following") }
        return parts.joined(separator: " · ")
    }

    /// Counts and the rate.
    static func right(_ model: ConsoleModel) -> String {
        var parts: [String] = []
        if !model.proxy.holds.isEmpty { parts.append("held \(model.proxy.holds.count)") }
        if !model.marks.isEmpty { parts.append("marked \(model.marks.count)") }
        if model.proxy.failures > 0 { parts.append("failed \(model.proxy.failures)") }
        parts.append("\(model.list.sessionTotal)")
        if model.isLive, let rate = model.proxy.rates.last {
            parts.append("\(rate)/s \(sparkline(model.proxy.rates.suffix(12), model.look))")
        }
        return parts.joined(separator: " · ") + " "
    }

    /// Small columns, the highest for the highest rate.
    static func sparkline(_ rates: some Collection<Int>, _ look: Look) -> String {
        let signs: [Character] = look.isUnicode ? Array("▁▂▃▄▅▆▇█") : Array("_.-=+*#@")
        let most = max(1, rates.max() ?? 1)
        return String(rates.map { signs[min(signs.count - 1, $0 * (signs.count - 1) / most)] })
    }
}

/// The keys that mean something here.
enum FooterView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        var x = rect.x + 1
        for (key, word) in hints(model) {
            let width = TextWidth.columns(key) + TextWidth.columns(word) + 1
            guard x + width < rect.maxX else { break }
            x += screen.write(key, x: x, y: rect.y, style: theme.key) + 1
            x += screen.write(word, x: x, y: rect.y, style: theme.faint) + 2
        }
    }

    /// Keys and what they do, the most useful first.
    static func hints(_ model: ConsoleModel) -> [(key: String, word: String)] {
        if let prefix = model.pendingKey {
            return model.keymap.continuations(of: prefix, in: model.context).map { key, binding in
                let tool = binding.argument.flatMap { Tool(rawValue: $0) }?.title.lowercased()
                return (key.spelling, tool ?? binding.command.rawValue)
            }
        }
        switch model.overlays.last {
        case .panel(let panel):
            let preset = panel.tool == .throttle ? [("p", "preset")] : []
            return [
                ("enter", "edit"), ("a", "add"), ("space", "on/off"), ("d", "delete"), ("J K", "move"),
                ("o", "tool on/off"),
            ] + preset + [("u", "undo"), ("ctrl-s", "save"), ("esc", "close")]
        case .holds:
            return [
                ("enter", "edit"), ("x", "execute"), ("c", "let go unedited"), ("a", "abort"), ("X", "all go on"),
                ("esc", "close"),
            ]
        case .editor(let editor):
            let word =
                switch editor.purpose {
                case .rule: "apply"
                case .hold: "execute"
                case .request: "send"
                }
            let scope = editor.origin != nil && model.isRuleDraft(editor) ? [("ctrl-t", "wider")] : []
            return [("ctrl-s", word)] + scope + [("ctrl-o", "$EDITOR"), ("alt-z", "undo"), ("esc", "cancel")]
        case .picker: return [("enter", "choose"), ("↑ ↓", "move"), ("type", "narrow"), ("esc", "close")]
        case .prompt: return [("enter", "do it"), ("esc", "cancel")]
        case .confirm(let confirm): return confirm.choices.map { (String($0.key), $0.title) }
        case .report: return [("↑ ↓", "scroll"), ("f", "find"), ("esc", "close")]
        case nil: break
        }
        if model.filter.isEditing { return [("enter", "keep"), ("↑ ↓", "history"), ("esc", "as before")] }
        let context = model.context
        return CommandTable.entries.compactMap { entry in
            guard !entry.short.isEmpty, model.whyNot(entry.command) == nil,
                let key = model.keymap.keys(for: entry.command, in: context).first
            else { return nil }
            if entry.command == .ruleFromExchange { return ("a …", entry.short) }
            if entry.command == .switchView { return (key, model.view == .sequence ? "structure" : "sequence") }
            return (key, entry.short)
        }
    }
}

extension ConsoleModel {
    /// Whether a rule is being made from an exchange, so that its scope can be widened.
    func isRuleDraft(_ editor: EditorState) -> Bool {
        if case .rule(_, nil) = editor.purpose { return true }
        return false
    }
}
