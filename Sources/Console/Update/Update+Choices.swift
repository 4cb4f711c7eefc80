import ExchangeCore
import HTTPModel
import Rules
import Runner
import Terminal
import Tools

extension ConsoleModel {
    mutating func pick(_ picker: PickerState) -> [Effect] {
        overlays.append(.picker(picker))
        return []
    }

    var palette: PickerState {
        let entries = CommandTable.entries.filter { $0.form != .lines }
        let items = entries.map { paletteItem($0) } + Tool.all.flatMap { toolItems($0) }
        return PickerState(purpose: .palette, title: "Commands", items: items)
    }

    /// A choice of words as an argument.
    func choices(_ command: Command, _ title: String, _ words: [String]) -> PickerState {
        PickerState(purpose: .argument(of: command), title: title, items: words.map { .init($0, $0) })
    }

    var jumpChoices: PickerState {
        choices(.jumpKind, "\(way(to: .next)) and \(way(to: .previous)) go to", JumpChoice.allCases.map(\.rawValue))
    }

    var copyChoices: PickerState {
        let items = CopyForm.allCases.map { PickerState.Item($0.rawValue, $0.title) }
        return PickerState(purpose: .argument(of: .copy), title: "Copy", items: items)
    }

    var exportChoices: PickerState {
        let what = marks.isEmpty ? "\(list.total) in the list" : "\(marks.count) marked"
        let items = ExportRequest.Form.allCases.map { PickerState.Item($0.rawValue, $0.title) }
        return PickerState(purpose: .argument(of: .export), title: "Export \(what) as", items: items)
    }

    var presetChoices: PickerState {
        guard let choice = ToolRegistry.standard.withPresets?.presets else {
            return PickerState(purpose: .argument(of: .preset), title: "", items: [])
        }
        let off = PickerState.Item("off", "off: no \(choice.effect.lowercased())")
        let presets = choice.presets.map { PickerState.Item($0.name, $0.name, detail: $0.brief) }
        return PickerState(purpose: .argument(of: .preset), title: choice.title, items: [off] + presets)
    }

    func toolChoices(_ command: Command) -> PickerState {
        let items = Tool.all.map { PickerState.Item($0.key, $0.title, detail: describe($0)) }
        let title = CommandTable.entry(command)?.title ?? ""
        return PickerState(purpose: .argument(of: command), title: title, items: items)
    }

    private func paletteItem(_ entry: CommandEntry) -> PickerState.Item {
        let place: Context = detail.isOpen && isDetailFocused ? .detail : .list
        let keys = keymap.keys(for: entry.command, in: place).prefix(3).joined(separator: "  ")
        return .init(entry.command.rawValue, entry.title, detail: keys, disabled: whyNot(entry.command))
    }

    private func toolItems(_ tool: Tool) -> [PickerState.Item] {
        let commands: [(Command, String)] = [
            (.panel, "open the panel"), (.toggleTool, "switch on or off"),
            (.ruleFromExchange, "rule from the exchange"),
        ]
        return commands.map { command, words in
            let keys = keymap.keys(for: command, argument: tool.key, in: .list).prefix(2)
            return .init(
                "\(command.rawValue) \(tool.key)",
                "\(tool.title): \(words)",
                detail: keys.joined(separator: "  "),
                disabled: whyNot(command)
            )
        }
    }

    func describe(_ tool: Tool) -> String {
        guard let state = proxy.tool(tool), state.rules > 0 else { return "no rules" }
        let rules = state.rules == 1 ? "1 rule" : "\(state.rules) rules"
        return state.isOn ? "on, \(rules)" : "off, \(rules)"
    }

    mutating func type(_ key: Key, into picker: PickerState) -> [Effect] {
        var picker = picker
        let count = picker.matches.count
        switch (key.code, key.modifiers) {
        case (.escape, _), (.character("c"), .control), (.character("g"), .control):
            overlays.removeLast()
            return []
        case (.enter, _): return choose(picker)
        case (.up, _), (.character("p"), .control): picker.selected = max(0, picker.selected - 1)
        case (.down, _), (.character("n"), .control): picker.selected = min(max(0, count - 1), picker.selected + 1)
        case (.pageUp, _): picker.selected = max(0, picker.selected - 10)
        case (.pageDown, _): picker.selected = min(max(0, count - 1), picker.selected + 10)
        default:
            switch picker.line.take(key) {
            case .changed: picker.selected = 0
            case .moved: break
            case .ignored: return key.modifiers.contains(.control) ? run(key) : []
            }
        }
        overlays[overlays.count - 1] = .picker(picker)
        return []
    }

    private mutating func choose(_ picker: PickerState) -> [Effect] {
        let matches = picker.matches
        guard matches.indices.contains(picker.selected) else { return [] }
        let item = matches[picker.selected]
        if let reason = item.disabled {
            tell(reason, .error)
            return []
        }
        overlays.removeLast()
        switch picker.purpose {
        case .palette:
            let words = item.value.split(separator: " ", maxSplits: 1).map(String.init)
            return Command(rawValue: words[0]).map { perform($0, words.count > 1 ? words[1] : nil) } ?? []
        case .argument(let command): return perform(command, item.value)
        }
    }

    mutating func type(_ key: Key, into prompt: PromptState) -> [Effect] {
        var prompt = prompt
        switch (key.code, key.modifiers) {
        case (.escape, _), (.character("c"), .control), (.character("g"), .control):
            overlays.removeLast()
            return []
        case (.enter, _):
            overlays.removeLast()
            return perform(prompt.command, prompt.prefix + prompt.line.text)
        default:
            guard prompt.line.take(key) != .ignored else { return key.modifiers.contains(.control) ? run(key) : [] }
        }
        overlays[overlays.count - 1] = .prompt(prompt)
        return []
    }

    mutating func answer(_ confirm: ConfirmState, _ key: Key) -> [Effect] {
        let isRefused = key.code == .escape || key == Key(.character("c"), .control)
        let choice = confirm.choices.first { key.code == .character($0.key) }
        guard isRefused || choice != nil else { return [] }
        return choose(choice?.action)
    }

    /// Performs the answer to the uppermost question; `nil` does nothing.
    mutating func choose(_ action: ConfirmState.Action?) -> [Effect] {
        guard case .confirm? = overlays.last else { return [] }
        overlays.removeLast()
        let ends = rules.endsWhenSaved
        rules.endsWhenSaved = false
        switch action {
        case nil: return []
        case .quit: return [.quit]
        case .saveAndQuit:
            // The console ends once the files are written, so that nothing is lost where they cannot be.
            rules.endsWhenSaved = true
            return [.saveRules(isForced: false)]
        case .repeating(let id, let plan): return repeatMany(plan, of: id)
        case .export(let request): return export(request)
        case .overwriteRules:
            rules.endsWhenSaved = ends
            return [.saveRules(isForced: true)]
        case .saveRulesElsewhere:
            let line = LineEditor(RulesState.newFile)
            let title = "File for a copy of the rules"
            return ask(PromptState(command: .saveProfile, title: title, line: line))
        case .reloadRules:
            keepRules()
            return [.reloadRules]
        case .dropText:
            overlays.removeLast()
            return []
        }
    }
}
