import HTTPModel
import Rules
import Runner
import Terminal
import Tools

extension ConsoleModel {
    mutating func toggleTool(_ word: String) -> [Effect] {
        let words = word.split(separator: " ").map(String.init)
        guard let tool = words.first.flatMap({ Tool(word: $0) }) else { return [] }
        guard let state = proxy.tool(tool), state.rules > 0 else {
            if !isLinear, tool.presets != nil { return perform(.preset, nil) }
            if words.dropFirst().first != "off", let effects = switchOnWhole(tool) { return effects }
            let (panel, rule) = (way(to: .panel, of: tool), way(to: .ruleFromExchange, of: tool))
            return refuse("\(tool.title) has no rules yet; \(panel) opens its panel, \(rule) makes one.")
        }
        return [.setTool(tool, isOn: words.count > 1 ? words[1] == "on" : !state.isOn)]
    }

    private mutating func switchOnWhole(_ tool: Tool) -> [Effect]? {
        let texts = rules.editableTexts
        let changed = try? texts.edited(texts.count - 1) { try $0.setTool(tool, isOn: true) }
        return changed.map { switchOn(tool) + apply($0, "\(tool.title) is on for everything.") }
    }

    func switchOn(_ tool: Tool) -> [Effect] { proxy.tool(tool)?.isOn == false ? [.setTool(tool, isOn: true)] : [] }

    func way(to command: Command, of tool: Tool) -> String {
        let key = isLinear ? nil : keymap.keys(for: command, argument: tool.key, in: .list).first
        return key ?? "\(isLinear ? "" : ":")\(command.rawValue) \(tool.key)"
    }

    mutating func openPanel(_ word: String) -> [Effect] {
        Tool(word: word).map { push(.panel(PanelState(tool: $0))) } ?? []
    }

    func panelRules(_ tool: Tool) -> [EditableRule] { rules.texts.rules(of: tool).map(\.rule) }

    /// Applies a key of the panel; `nil` for keys that the panel does not use.
    mutating func take(_ key: Key, in panel: PanelState) -> [Effect]? {
        let before = self
        guard let effects = change(by: key, in: panel) else { return nil }
        guard let reason = whyNot(.toggleTool) else { return effects }
        self = before
        return refuse(reason)
    }

    private mutating func change(by key: Key, in panel: PanelState) -> [Effect]? {
        let rules = panelRules(panel.tool)
        let selected = rules.indices.contains(panel.selected) ? rules[panel.selected] : nil
        switch (key.code, key.modifiers) {
        case (.character("a"), []), (.insert, []): return [.draftRule(panel.tool, ruleOrigin, level: 0)]
        case (.enter, []), (.character("e"), []): return selected.map { _ in editRule(panel.selected, of: panel.tool) }
        case (.character(" "), []): return selected.map { _ in switchRule(panel.selected, of: panel.tool) }
        case (.delete, []), (.character("d"), []):
            return selected.map { _ in removeRule(panel.selected, of: panel.tool) }
        case (.character("J"), []), (.down, .shift), (.down, .alt): return moveRule(panel, selected, 1)
        case (.character("K"), []), (.up, .shift), (.up, .alt): return moveRule(panel, selected, -1)
        case (.character("o"), []), (.character("x"), []): return toggleTool(panel.tool.key)
        case (.character("0"), []) where proxy.tool(panel.tool)?.counts != nil: return [.resetTool(panel.tool)]
        case (.character("p"), []) where panel.tool.presets != nil: return perform(.preset, nil)
        case (.character("s"), .control): return attempt { try $0.saveProfile(nil) }
        case (.character("f"), []) where panel.tool.answersFrom != nil: return editAnswer(panel)
        default: return nil
        }
    }

    private mutating func editAnswer(_ panel: PanelState) -> [Effect]? {
        let entries = rules.texts.rules(of: panel.tool)
        guard entries.indices.contains(panel.selected), let key = panel.tool.answersFrom else { return nil }
        let entry = entries[panel.selected]
        let file = RuleText(entry.rule.yaml).word(key) ?? ""
        let path = RuleText.path(file, inProfile: rules.texts[entry.text].file)
        let isOne = !file.isEmpty && !path.hasSuffix("/")
        return isOne ? [.terminal(.editFile(path))] : refuse("This rule does not name a single file.")
    }

    mutating func editRule(_ index: Int, of tool: Tool) -> [Effect] {
        let area = TextArea(panelRules(tool)[index].yaml)
        let title = "\(tool.title): rule \(index + 1)"
        return open(EditorState(purpose: .rule(tool, replaces: index), title: title, area: area))
    }

    mutating func switchRule(_ index: Int, of tool: Tool) -> [Effect] {
        let words = "is \(panelRules(tool)[index].isEnabled ? "off" : "on")"
        return change(index, of: tool, words) { try $0.setEnabled($1.id, !$1.isEnabled) }
    }

    mutating func removeRule(_ index: Int, of tool: Tool) -> [Effect] {
        change(index, of: tool, "removed") { try $0.remove($1.id) }
    }

    /// Changes the rule given by a tool and a number from 1 in `words`.
    mutating func changeRule(_ words: String, _ change: (inout Self, Int, Tool) -> [Effect]) -> [Effect] {
        let words = words.split(separator: " ").map(String.init)
        guard words.count == 2, let tool = Tool(word: words[0]), let number = Int(words[1]) else {
            return refuse("A rule is named by its tool and its number, for example: block 1")
        }
        let isThere = number > 0 && number <= panelRules(tool).count
        return isThere ? change(&self, number - 1, tool) : refuse("\(tool.title) has no rule \(number).")
    }

    mutating func moveRule(_ panel: PanelState, _ rule: EditableRule?, _ by: Int) -> [Effect]? {
        guard let rule else { return nil }
        let target = rule.id.index + by
        let siblings = panelRules(panel.tool).filter { $0.id.section == rule.id.section }.count
        guard (0..<siblings).contains(target) else {
            return refuse("It is already the \(by < 0 ? "first" : "last") rule of its list.")
        }
        replaceTop(by: .panel(PanelState(tool: panel.tool, selected: panel.selected + by)))
        let words = "moved \(by < 0 ? "up" : "down")"
        return change(panel.selected, of: panel.tool, words) { try $0.move($1.id, to: target) }
    }

    private mutating func change(
        _ index: Int,
        of tool: Tool,
        _ words: String,
        _ body: (inout EditableProfile, EditableRule) throws -> Void
    ) -> [Effect] {
        attempt { model in
            let entry = model.rules.texts.rules(of: tool)[index]
            let texts = try model.rules.texts.edited(entry.text) { try body(&$0, entry.rule) }
            return model.apply(texts, "\(tool.key): \(entry.rule.title) \(words).")
        }
    }

    mutating func takeIn(_ texts: [ProfileSource], _ revision: String?) {
        (rules.texts, rules.revision) = (texts, revision)
        proxy.preset = texts.preset
        rules.isOnEverything = texts.ruleOnEverything != nil
    }

    mutating func takeApplied(_ texts: [ProfileSource], _ revision: String?, _ words: String) {
        takeIn(texts, revision)
        tell(words)
    }

    /// Shows the active rules after a change was rejected: it was invalid, or based on an older revision of the rules.
    mutating func takeRefused(_ texts: [ProfileSource], _ revision: String?, _ reason: String) {
        _ = rules.past.popLast()
        takeOver(texts, revision)
        tell(reason, .error)
    }

    mutating func takeSaved(_ files: [String], _ texts: [ProfileSource], _ revision: String?) -> [Effect] {
        takeIn(texts, revision)
        tell("Saved to \(files.joined(separator: ", ")).")
        return rules.endsWhenSaved ? [.terminal(.quit)] : []
    }

    mutating func takeNotSaved(_ reason: String) {
        rules.endsWhenSaved = false
        tell(reason, .error)
    }

    /// Shows the active rules, which may have been changed outside this console.
    mutating func takeOver(_ texts: [ProfileSource], _ revision: String?) {
        let (before, isFirst) = (rules.texts, rules.revision == nil)
        takeIn(texts, revision)
        guard !before.elementsEqual(texts, by: { $0.file == $1.file && $0.text == $1.text }) else { return }
        // The proxy may report a change made here before it answers the change.
        guard texts.map(\.text) != rules.wanted else { return }
        // Undo must not overwrite changes from outside. Those that are in no file, such as an agent's, can be undone.
        rules.past = []
        if !isFirst, before.filter(\.isUnsaved) != texts.filter(\.isUnsaved) {
            rules.past = [before]
            let changes = RuleDifference(from: before, to: texts).parts.joined(separator: "; ")
            let what = changes.isEmpty ? "" : ": \(changes)"
            tell("Another program changed the rules\(what). \(way(to: .undo)) undoes it.") { $0.isNews = true }
        }
        for index in overlays.indices {
            guard case .editor(var editor) = overlays[index], case .rule(let tool, let replaced?) = editor.purpose
            else { continue }
            // The edited rule may have a new number; if it was removed, the editor adds a new rule.
            let old = before.rules(of: tool).map(\.rule.yaml)
            let now = panelRules(tool).firstIndex { old.indices.contains(replaced) && $0.yaml == old[replaced] }
            editor.purpose = .rule(tool, replaces: now)
            overlays[index] = .editor(editor)
        }
    }

    /// Applies changed rules so that they can be undone later; `words` describe the change.
    mutating func apply(_ texts: [ProfileSource], _ words: String) -> [Effect] {
        guard texts != rules.texts else { return [] }
        keepRules()
        rules.wanted = texts.map(\.text)
        return [.applyRules(texts, words, madeFrom: rules.revision)]
    }

    mutating func keepRules() {
        rules.past.append(rules.texts)
        if rules.past.count > 100 { rules.past.removeFirst() }
    }

    mutating func undoRules() -> [Effect] {
        guard let texts = rules.past.popLast() else { return refuse("No rule change to undo.") }
        // A file that is new since the earlier state gets an empty profile.
        let gone = rules.texts.filter { now in !texts.contains { $0.file == now.file } }
        let emptied = gone.map { ProfileSource(file: $0.file, text: "version: 1\n") }
        rules.wanted = (texts + emptied).map(\.text)
        let difference = RuleDifference(from: rules.texts, to: texts)
        let stop = difference.holdsEverything ? "; \(way(to: .breakEverything)) stops that" : ""
        let words = difference.parts.isEmpty ? "" : ": \(difference.parts.joined(separator: "; "))\(stop)"
        return [.applyRules(texts + emptied, "Rule change undone\(words).", madeFrom: rules.revision)]
    }

    mutating func setPreset(_ word: String) throws -> [Effect] {
        guard let tool = ToolRegistry.standard.withPresets else { return [] }
        // Off keeps the rules, so that the tool's key can switch the conditions on again.
        if word == "off" {
            let isOn = proxy.tool(tool).map { $0.rules > 0 && $0.isOn } ?? false
            return isOn ? [.setTool(tool, isOn: false)] : tell("\(tool.presets?.effect ?? tool.title) is off.")
        }
        let own = rules.texts.ownPresets
        guard tool.presets?.named(word) != nil || own.contains(word.lowercased()) else {
            let known = ["off"] + own + (tool.presets?.presets.map(\.name) ?? [])
            return refuse("There is no preset '\(word.prefix(40))'\(Suggestion.text(for: word, among: known)).")
        }
        let texts = rules.editableTexts
        let place = texts.rules(of: tool).first?.text ?? texts.count - 1
        let changed = try texts.edited(place) { try $0.setPreset(word, of: tool) }
        let words = "\(tool.key) \(word) is on."
        if changed == rules.texts { tell(words) }
        return switchOn(tool) + apply(changed, words)
    }

    mutating func saveProfile(_ argument: String?) throws -> [Effect] {
        guard let text = rules.texts.first(where: \.isUnsaved) ?? rules.texts.first else {
            return refuse("There are no rules to save.")
        }
        if let argument, !argument.isEmpty {
            let file = try fileName(argument)
            if file != text.file { return [.saveCopy(text.text, path: file)] }
        }
        do {
            // The profile stores which tools are switched off, so that they are off after the next start too.
            let texts = try rules.texts.noting(proxy.tools)
            if texts != rules.texts { return [.saveSwitched(texts, madeFrom: rules.revision)] }
        } catch {
            tell("Not saved which tools are off: \(error)", .error)
        }
        return rules.isUnsaved ? [.saveRules(isForced: false)] : tell("The rules are already saved.")
    }

    /// Loads a profile file; without a name, reloads the active profile; if there is none, loads the default file.
    mutating func loadProfile(_ file: String?) throws -> [Effect] {
        if let file { return loadProfile(from: try fileName(file, missing: "Enter the file name of a profile.")) }
        let present = rules.texts.last?.file
        let line = LineEditor(present ?? RulesState.newFile, isSuggestion: true)
        var prompt = PromptState(command: .loadProfile, title: "Profile to load", line: line)
        if present == nil {
            // If the default file is missing, this prompt opens with the reason.
            submitted = prompt
            return [.loadProfile(RulesState.newFile, discardsEdits: false)]
        }
        guard !isLinear else { return loadProfile(from: nil) }
        prompt.hint = "Active: \(rules.texts.map(\.file).joined(separator: ", ")). Enter reloads it."
        return push(.prompt(prompt))
    }

    private mutating func loadProfile(from file: String?) -> [Effect] {
        let wanted = rules.texts.map(\.file) == [file] ? nil : file
        guard rules.isUnsaved else { return [.loadProfile(wanted, discardsEdits: false)] }
        return confirm("You have unsaved rule changes, which will be lost.", "load \(file ?? "the profile") anyway") {
            _ in
            [.loadProfile(wanted, discardsEdits: true)]
        }
    }

    mutating func ask(about conflict: SavingConflict, _ words: String) -> [Effect] {
        let ends = rules.endsWhenSaved
        let overwrite = ConfirmState.Choice("o", "overwrite") {
            $0.rules.endsWhenSaved = ends
            return [.saveRules(isForced: true)]
        }
        let copy = ConfirmState.Choice("a", "save a copy under another name") {
            let line = LineEditor(RulesState.newFile)
            return $0.ask(PromptState(command: .saveProfile, title: "File for a copy of the rules", line: line))
        }
        let reload = ConfirmState.Choice("r", "reload the file") {
            $0.keepRules()
            return [.reloadRules]
        }
        return confirm(words, [overwrite, copy] + (conflict == .changed ? [reload] : []) + [.init("n", "cancel")])
    }

    /// Drafts a rule from the selected exchange, an exchange's number, or the rule text after the tool's name.
    mutating func draftRule(_ words: String) -> [Effect] {
        let (word, rest) = words.firstWord
        guard let tool = Tool(word: word) else { return [] }
        guard let rest else {
            let value = tool.setsPlaces ? settableValue().map { RuleOrigin.value($0) } : nil
            return (value ?? ruleOrigin).map { [.draftRule(tool, $0, level: 0)] } ?? refuse(nothingHere)
        }
        if Int64(rest.drop { $0 == "#" }) != nil { return on(rest) { .draftRule(tool, .exchange($0), level: 0) } }
        let text = TextArea(rest.replacing("\\n", with: "\n"))
        return open(EditorState(purpose: .rule(tool, replaces: nil), title: "New rule: \(tool.title)", area: text))
    }
}
