import HTTPModel
import Rules
import Runner

extension ConsoleModel {
    /// Closes the printed overlays, but keeps a drafted rule or request; the next line applies to the list.
    mutating func endLine() {
        while let overlay = overlays.last {
            if case .confirm = overlay { break }
            if case .editor(let editor) = overlay, editor.isDraft { draft = editor }
            overlays.removeLast()
        }
        isDetailFocused = false
        view = .sequence
    }

    mutating func listRows(_ argument: String?) -> [Effect] {
        guard let count = argument.map({ Int($0) }) ?? 20, count > 0, count <= 100_000 else {
            return refuse("list takes a number from 1 to 100000.")
        }
        return list.total > 0 ? [.load(listed(count), generation: list.generation)] : []
    }

    /// The rows that `list` prints: the newest rows, or the first rows of a sorted list.
    func listed(_ count: Int) -> Range<Int> {
        let count = min(count, list.total)
        return list.query.sort == nil ? 0..<count : list.total - count..<list.total
    }

    mutating func applyDraft() -> [Effect] {
        guard let draft else { return [] }
        self.draft = nil
        overlays.append(.editor(draft))
        return finish(draft)
    }

    mutating func changeDraft(_ words: String?) throws -> [Effect] {
        guard var editor = draft else { return [] }
        guard let words else {
            let lines = editor.area.lines.enumerated().map { "\($0 + 1). \($1)" }
            return report(editor.title, lines)
        }
        let (change, old) = (try DraftChange(words), editor.area.text)
        guard let new = try editor.isRule ? change.rule(old) : change.lines(of: old) else {
            return [.editDraft(editor, words: words)]
        }
        editor.area = TextArea(new)
        return open(editor)
    }

    mutating func widenDraft() -> [Effect] {
        let effects = draft.map { widen($0) } ?? []
        return effects.isEmpty ? refuse("The draft was not made from an exchange, so it has no wider scope.") : effects
    }

    /// Moves a rule; the words are its tool, its number, and `up` or `down`.
    mutating func moveRule(_ words: String) -> [Effect] {
        var words = words.split(separator: " ").map(String.init)
        guard let by = ["up": -1, "down": 1][words.popLast() ?? ""] else {
            return refuse("move-rule takes a tool, a number, and up or down, for example: move-rule block 2 up")
        }
        return changeRule(words.joined(separator: " ")) { model, index, tool in
            let panel = PanelState(tool: tool, selected: index)
            model.overlays.append(.panel(panel))
            return model.moveRule(panel, model.panelRules(tool)[index], by) ?? []
        }
    }

    mutating func discardDraft() -> [Effect] {
        draft = nil
        return tell("Draft discarded.")
    }

    mutating func tellExchanges(_ areTold: Bool) -> [Effect] {
        tellsExchanges = areTold
        return tell("New exchanges are \(areTold ? "" : "not ")reported.")
    }

    /// The number of exchanges in the list, and the reason if there are none.
    var counts: [String] {
        let total = LinearSentence.count(list.total, "exchange")
        let isWhole = list.total == list.sessionTotal
        return [isWhole ? "\(total)." : "\(total) of \(list.sessionTotal)."]
            + (list.total == 0 ? list.excludedBy.map { ["'\($0)' excludes all of them."] } ?? [] : [])
            + (list.unfinished.map { ["\($0.capitalizedFirst)."] } ?? [])
    }

    mutating func openStatus() -> [Effect] {
        let address = proxy.address.isEmpty ? nil : "Listening on \(proxy.places)."
        var lines = [proxy.problem ?? address].compactMap(\.self)
        if case .recorded(let name) = source { lines.append("Session \(name).") }
        if let session = proxy.session { lines.append("Session \(session).") }
        lines += counts
        if !filter.applied.isEmpty { lines.append("Filter \(filter.applied).") }
        if let text = list.query.bodyText { lines.append("Bodies with '\(text)'.") }
        if let period = list.query.period { lines.append("Started \(TimelineView.words(period)).") }
        if proxy.errors > 0 {
            lines.append("\(LinearSentence.count(Int(clamping: proxy.errors), "error")) in the session.")
        }
        if !marks.isEmpty { lines.append("Marked: \(marks.map(\.description).joined(separator: ", ")).") }
        for tool in Tool.all where proxy.tool(tool).map({ $0.rules > 0 }) == true {
            lines.append("\(tool.title): \(describe(tool)).")
        }
        if let preset = proxy.presetInForce { lines.append("Network: \(preset).") }
        if rules.isUnsaved { lines.append("You have unsaved rule changes.") }
        return report("Status", lines + proxy.holds.map { LinearSentence.text($0) })
    }
}
