import ExchangeCore
import HTTPModel
import Rules
import Runner
import Terminal

extension ConsoleModel {
    var palette: PickerState {
        let order = Dictionary((fitting + Command.mostUsed).enumerated().map { ($1, $0) }) { first, _ in first }
        let entries = CommandTable.entries.filter { $0.form != .lines }.enumerated()
            .sorted { (order[$0.element.command] ?? .max, $0.offset) < (order[$1.element.command] ?? .max, $1.offset) }
        let items = entries.map { paletteItem($0.element) } + Tool.all.flatMap { toolItems($0) }
        return PickerState(title: "Commands", items: items)
    }

    func choices(_ command: Command, _ title: String, _ words: [String]) -> PickerState {
        PickerState(command: command, title: title, items: words.map { .init($0, $0) })
    }

    func toolChoices(_ command: Command) -> PickerState {
        let items = Tool.all.map { PickerState.Item($0.key, $0.title, detail: describe($0)) }
        return PickerState(command: command, title: CommandTable.entry(command)?.title ?? "", items: items)
    }

    private func paletteItem(_ entry: CommandEntry) -> PickerState.Item {
        let place: Context = detail.isOpen && isDetailFocused ? .detail : .list
        let keys = keymap.keys(for: entry.command, in: place).prefix(3).joined(separator: "  ")
        var item = PickerState.Item(entry.command.rawValue, entry.title, detail: keys, disabled: whyNot(entry.command))
        item.synonyms = entry.synonyms
        return item
    }

    private var fitting: [Command] {
        var fitting: [Command] = []
        if let id = selectedID, proxy.holds.contains(where: { $0.id.hasPrefix("\(id.number).") }) {
            fitting += [.execute, .editHold, .cancel, .abort]
        } else if !proxy.holds.isEmpty {
            fitting += [.holds, .executeAll]
        }
        if !marks.isEmpty { fitting += [.compare, .export, .mark] }
        if noHome == nil, !detail.isOpen { fitting += [.backToLive] }
        guard let record = selectedRecord else { return fitting }
        if [.tunnel, .decryptedTunnel, .failedHandshake].contains(record.kind) { fitting += [.decrypt, .why, .trust] }
        if record.failure?.unverifiedHost != nil { fitting.append(.insecureHost) }
        if record.state == .failed || record.state == .blocked || record.status >= 400 {
            fitting += [.why, .repeatRequest, .compose]
        }
        if record.mediaType.hasPrefix("image/") { fitting += [.saveBody] }
        return fitting
    }

    private func toolItems(_ tool: Tool) -> [PickerState.Item] {
        let commands: [(Command, String)] = [
            (.panel, "open the panel"), (.toggleTool, "switch on or off"),
            (.ruleFromExchange, "rule from the exchange"),
        ]
        return commands.map { command, words in
            let keys = keymap.keys(for: command, argument: tool.key, in: .list).prefix(2)
            let (value, detail) = ("\(command.rawValue) \(tool.key)", keys.joined(separator: "  "))
            return .init(value, "\(tool.title): \(words)", detail: detail, disabled: whyNot(command))
        }
    }

    func describe(_ tool: Tool) -> String {
        guard let state = proxy.tool(tool), state.rules > 0 else { return "no rules" }
        return "\(state.isOn ? "on" : "off"), \(LinearSentence.count(state.rules, "rule"))"
    }

    mutating func type(_ key: Key, into picker: PickerState) -> [Effect] {
        if picker.isColumnChoice, let effects = typeColumns(key, picker) { return effects }
        var picker = picker
        let last = max(0, picker.matches.count - 1)
        switch (key.code, key.modifiers) {
        case _ where key.isCancel: return goBack()
        case (.enter, _): return choose(picker)
        case (.up, _), (.character("p"), .control): picker.selected = max(0, picker.selected - 1)
        case (.down, _), (.character("n"), .control): picker.selected = min(last, picker.selected + 1)
        case (.pageUp, _): picker.selected = max(0, picker.selected - 10)
        case (.pageDown, _): picker.selected = min(last, picker.selected + 10)
        case (.tab, []) where picker.command == nil: picker.complete(words(in: picker))
        default:
            switch picker.line.take(key) {
            case .changed: (picker.selected, picker.problem, picker.candidates) = (0, "", [])
            case .moved: break
            case .ignored: return key.modifiers.contains(.control) ? run(key) : []
            }
        }
        return replaceTop(by: .picker(picker))
    }

    private mutating func choose(_ picker: PickerState) -> [Effect] {
        let matches = picker.matches
        guard matches.indices.contains(picker.selected) else { return [] }
        let item = matches[picker.selected]
        var picker = picker
        if let reason = item.disabled {
            (picker.problem, picker.candidates) = (reason, [])
            return replaceTop(by: .picker(picker))
        }
        let (effects, refusal) = closeTop { model in
            if let command = picker.command { return model.perform(command, item.value) }
            let (word, argument) = item.value.firstWord
            guard let command = Command(rawValue: word) else { return [] }
            return model.askFirst(command, typed: picker.line.text) ?? model.perform(command, argument)
        }
        guard let refusal else { return effects }
        (picker.problem, picker.candidates) = (refusal.text, [])
        return replaceTop(by: .picker(picker))
    }

    /// Asks before a command that discards something, unless its whole name was typed; `nil` if there is no question.
    private mutating func askFirst(_ command: Command, typed: String) -> [Effect]? {
        guard let question = CommandTable.entry(command)?.question, !question.isEmpty,
            typed.lowercased().filter({ $0 != " " }) != command.rawValue
        else { return nil }
        return confirm(question, "reset", takesCare: true) { $0.perform(command, nil) }
    }

    /// The completions in the palette: the values of the command's argument, once a space follows the command's name.
    private func words(in palette: PickerState) -> [String] {
        let typed = palette.line.characters.prefix(palette.line.cursor).drop { $0 == " " }
        guard let end = typed.firstIndex(of: " "), let command = CommandCall.command(typed: String(typed[..<end]))
        else { return [] }
        return completions(for: command)
    }

    /// Closes the top overlay and performs an action; if the action is rejected, nothing changes.
    mutating func closeTop(_ action: (inout ConsoleModel) -> [Effect]) -> (effects: [Effect], refusal: Notice?) {
        var next = self
        next.overlays.removeLast()
        let effects = action(&next)
        let isRefused = effects.isEmpty && next.noticeCount > noticeCount && next.overlays.count < overlays.count
        if isRefused, let notice = next.notices.last, notice.kind == .error { return ([], notice) }
        self = next
        return (effects, nil)
    }

    mutating func answer(_ confirm: ConfirmState, _ key: Key) -> [Effect] {
        let isInterrupt = key == Key(.character("c"), .control)
        // A second ctrl-c ends the console, as in other programs.
        if isInterrupt, confirm.isAboutQuitting { return [.terminal(.quit)] }
        if key.code == .escape || isInterrupt { return choose(nil) }
        guard let choice = confirm.choices.first(where: { key.code == .character($0.key) }) else { return [] }
        if choice.takesCare, now - confirm.askedAt < ConfirmState.readingTime {
            return tell("The key arrived before you could read the question; press \(choice.key) again.")
        }
        return choose(choice)
    }

    /// Closes the top question and performs the answer; `nil` only closes the question.
    mutating func choose(_ choice: ConfirmState.Choice?) -> [Effect] {
        guard case .confirm? = overlays.last else { return [] }
        overlays.removeLast()
        rules.endsWhenSaved = false
        return choice?.action?(&self) ?? []
    }
}

extension PickerState {
    fileprivate mutating func complete(_ words: [String]) {
        guard !words.isEmpty else { return }
        let completion = ValueCompletion.word(in: line.characters, at: line.cursor, of: words)
        (selected, problem, candidates) = (0, "", completion.complete(&line))
    }
}

extension Key {
    var isCancel: Bool {
        code == .escape || modifiers == .control && [.character("c"), .character("g")].contains(code)
    }
}

package enum FuzzySearch {
    /// The items that contain the letters of `query` in this order, best first; all items if the query is empty.
    /// Adjacent letters, beginnings of words and whole words score higher.
    package static func sorted<Item>(_ items: [Item], by query: String, text: (Item) -> String) -> [Item] {
        let query = Array(query.lowercased().filter { !$0.isWhitespace }.prefix(100))
        guard !query.isEmpty else { return items }
        let scored = items.enumerated().compactMap { index, item in
            let text = Array(text(item).lowercased())
            return score(text, query).map { (score: $0, length: text.count, index: index, item: item) }
        }
        // If scores are equal, the shorter name is first, before a longer name that begins with the query.
        return scored.sorted { ($0.score, -$0.length, -$0.index) > ($1.score, -$1.length, -$1.index) }.map(\.item)
    }

    /// The score of a text; `nil` if it does not contain the letters in this order.
    static func score(_ text: [Character], _ query: [Character]) -> Int? {
        var best: Int?
        for start in text.indices where text[start] == query.first {
            var (position, total, run, found) = (start, 0, 0, 0)
            while position < text.count, found < query.count {
                if text[position] == query[found] {
                    let isStart = position == 0 || !(text[position - 1].isLetter || text[position - 1].isNumber)
                    run += 1
                    total += run * 2 + (isStart ? 6 : 0)
                    found += 1
                } else {
                    run = 0
                    total -= 1
                }
                position += 1
            }
            guard found == query.count else { break }
            // A whole word scores higher than a word that only begins with the query.
            if position == text.count || !(text[position].isLetter || text[position].isNumber) { total += 4 }
            best = max(best ?? Int.min, total)
        }
        // A negative score means that the letters are scattered over a long text, probably by chance.
        return best.flatMap { $0 < 0 ? nil : $0 }
    }
}
