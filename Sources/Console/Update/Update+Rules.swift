import HTTPModel
import Runner
import Stages
import Terminal

/// Tools, their panels and their rules.
extension ConsoleModel {
    /// Switches a tool on or off.
    mutating func toggleTool(_ word: String) -> [Effect] {
        let words = word.split(separator: " ").map(String.init)
        guard let tool = words.first.flatMap({ Tool(word: $0) }) else { return unknownTool(word) }
        guard let state = proxy.tool(tool), state.rules > 0 else {
            if !isLinear, tool == .throttle { return pick(.preset) }
            if words.dropFirst().first != "off", let effects = switchOnWhole(tool) { return effects }
            let (panel, rule) = (way(to: .panel, of: tool), way(to: .ruleFromExchange, of: tool))
            tell("\(tool.title) has no rules yet; \(panel) opens its panel, \(rule) makes one.", .error)
            return []
        }
        let isOn = words.count > 1 ? words[1] == "on" : !state.isOn
        return [.setTool(tool, isOn: isOn)]
    }

    /// Switches a tool without rules on for everything; `nil` where it needs a rule to know what to do.
    private mutating func switchOnWhole(_ tool: Tool) -> [Effect]? {
        let texts = rules.texts.isEmpty ? [RulesState.Text(file: RulesState.newFile, text: "")] : rules.texts
        let changed = try? RuleEditing.edit(texts, texts.count - 1) { try $0.setTool(tool.slot, isOn: true) }
        guard let changed else { return nil }
        let isSwitchedOff = proxy.tool(tool)?.isOn == false
        return (isSwitchedOff ? [.setTool(tool, isOn: true)] : []) + apply(changed)
    }

    /// How a command is given for a tool.
    private func way(to command: Command, of tool: Tool) -> String {
        let key = isLinear ? nil : keymap.keys(for: command, argument: tool.rawValue, in: .list).first
        return key ?? "\(isLinear ? "" : ":")\(command.rawValue) \(tool.rawValue)"
    }

    private mutating func unknownTool(_ word: String) -> [Effect] {
        let all = Tool.allCases.map(\.rawValue).joined(separator: ", ")
        tell("There is no tool '\(word.prefix(40))'. There are: \(all).", .error)
        return []
    }

    /// Opens a tool's panel.
    mutating func openPanel(_ word: String) -> [Effect] {
        guard let tool = Tool(word: word) else { return unknownTool(word) }
        overlays.append(.panel(PanelState(tool: tool)))
        return []
    }

    /// The rules that a panel lists.
    func panelRules(_ tool: Tool) -> [EditableRule] { RuleEditing.rules(of: tool, in: rules.texts).map(\.rule) }

    /// What a key does in a panel; `nil` where the key is none of the panel's own.
    mutating func take(_ key: Key, in panel: PanelState) -> [Effect]? {
        let before = self
        guard let effects = change(by: key, in: panel) else { return nil }
        guard let reason = whyNot(.toggleTool) else { return effects }
        self = before
        tell(reason, .error)
        return []
    }

    /// What a key changes in a panel; `nil` where the key is none of the panel's own.
    private mutating func change(by key: Key, in panel: PanelState) -> [Effect]? {
        let rules = panelRules(panel.tool)
        let selected = rules.indices.contains(panel.selected) ? rules[panel.selected] : nil
        switch (key.code, key.modifiers) {
        case (.character("a"), []), (.insert, []):
            return [.draftRule(panel.tool, selectedID ?? ExchangeID(0), level: 0)]
        case (.enter, []), (.character("e"), []):
            guard let selected else { return nil }
            return open(
                EditorState(
                    purpose: .rule(panel.tool, replaces: panel.selected),
                    title: "\(panel.tool.title): rule \(panel.selected + 1)",
                    area: TextArea(selected.yaml)
                )
            )
        case (.character(" "), []):
            guard let selected else { return nil }
            return changeRule(panel.selected, of: panel.tool) { try $0.setEnabled(selected.id, !selected.isEnabled) }
        case (.delete, []), (.character("d"), []):
            guard let selected else { return nil }
            return changeRule(panel.selected, of: panel.tool) { try $0.remove(selected.id) }
        case (.character("J"), []), (.down, .shift), (.down, .alt): return moveRule(panel, selected, 1)
        case (.character("K"), []), (.up, .shift), (.up, .alt): return moveRule(panel, selected, -1)
        case (.character("o"), []), (.character("x"), []): return toggleTool(panel.tool.rawValue)
        case (.character("p"), []) where panel.tool == .throttle: return pick(.preset)
        case (.character("s"), .control): return saveProfile(nil)
        default: return nil
        }
    }

    private mutating func moveRule(_ panel: PanelState, _ rule: EditableRule?, _ by: Int) -> [Effect]? {
        guard let rule else { return nil }
        let target = rule.id.index + by
        let siblings = panelRules(panel.tool).filter { $0.id.section == rule.id.section }.count
        guard (0..<siblings).contains(target) else { return [] }
        var panel = panel
        panel.selected += by
        overlays[overlays.count - 1] = .panel(panel)
        return changeRule(panel.selected - by, of: panel.tool) { try $0.move(rule.id, to: target) }
    }

    private mutating func changeRule(
        _ index: Int,
        of tool: Tool,
        _ body: (inout EditableProfile) throws -> Void
    ) -> [Effect] {
        do {
            return apply(try RuleEditing.change(index, of: tool, in: rules.texts) { profile, _ in try body(&profile) })
        } catch {
            tell("\(error)", .error)
            return []
        }
    }

    // MARK: - What is in force

    /// Notes the rules that are in force.
    mutating func takeIn(_ texts: [RulesState.Text], _ revision: String?) {
        rules.texts = texts
        rules.revision = revision
        proxy.preset = RuleEditing.preset(in: texts)
    }

    /// Notes the rules that are in force, which may have been changed elsewhere.
    mutating func takeOver(_ texts: [RulesState.Text], _ revision: String?) {
        let before = rules.texts
        takeIn(texts, revision)
        guard before.map(\.file) != texts.map(\.file) || before.map(\.text) != texts.map(\.text) else { return }
        // What was before is not to be put back over the others' changes.
        rules.past = []
        for index in overlays.indices {
            guard case .editor(var editor) = overlays[index], case .rule(let tool, let replaced?) = editor.purpose
            else {
                continue
            }
            // The rule that is being edited may stand elsewhere now; where it is gone, it becomes a new one.
            let old = RuleEditing.rules(of: tool, in: before).map(\.rule.yaml)
            let now = panelRules(tool).firstIndex { old.indices.contains(replaced) && $0.yaml == old[replaced] }
            editor.purpose = .rule(tool, replaces: now)
            overlays[index] = .editor(editor)
        }
    }

    /// Puts changed rules in force, so that they can be taken back.
    mutating func apply(_ texts: [RulesState.Text]) -> [Effect] {
        guard texts != rules.texts else { return [] }
        rules.past.append(rules.texts)
        if rules.past.count > 100 { rules.past.removeFirst() }
        return [.applyRules(texts, madeFrom: rules.revision)]
    }

    mutating func undoRules() -> [Effect] {
        guard let texts = rules.past.popLast() else {
            tell("There is no change of rules to take back.", .error)
            return []
        }
        // A text that was not there before has no rules again.
        let gone = rules.texts.filter { now in !texts.contains { $0.file == now.file } }
        let emptied = gone.map { RulesState.Text(file: $0.file, text: "version: 1\n") }
        return [.applyRules(texts + emptied, madeFrom: rules.revision)]
    }

    /// Puts a preset in force for everything, or `off`.
    mutating func setPreset(_ word: String) -> [Effect] {
        let isOff = word == "off"
        // The conditions stay, so that the tool's key brings them back.
        if isOff, let state = proxy.tool(.throttle), state.rules > 0 { return [.setTool(.throttle, isOn: false)] }
        guard isOff || ThrottlePreset.named(word) != nil else {
            tell("There is no preset '\(word.prefix(40))'; sluice throttle list prints them.", .error)
            return []
        }
        do {
            let texts = rules.texts.isEmpty ? [RulesState.Text(file: RulesState.newFile, text: "")] : rules.texts
            let place = RuleEditing.rules(of: .throttle, in: texts).first?.text ?? texts.count - 1
            let changed = try RuleEditing.edit(texts, place) { try $0.setThrottle(preset: isOff ? nil : word) }
            let isSwitchedOff = !isOff && proxy.tool(.throttle)?.isOn == false
            return (isSwitchedOff ? [.setTool(.throttle, isOn: true)] : []) + apply(changed)
        } catch {
            tell("\(error)", .error)
            return []
        }
    }

    /// Saves the rules to their files, or a copy of them to another one.
    mutating func saveProfile(_ argument: String?) -> [Effect] {
        guard let first = rules.texts.first else {
            tell("There are no rules to save.", .error)
            return []
        }
        if let argument, !argument.isEmpty, argument != first.file { return [.saveCopy(first.text, path: argument)] }
        guard rules.isUnsaved else {
            tell("The rules are saved already.")
            return []
        }
        return [.saveRules(isForced: false)]
    }

    // MARK: - Rules from exchanges

    /// Drafts a rule from the selected exchange; a word may follow the tool's: how far it reaches, from 0 on.
    mutating func draftRule(_ word: String) -> [Effect] {
        let words = word.split(separator: " ").map(String.init)
        guard let tool = words.first.flatMap({ Tool(word: $0) }) else { return unknownTool(word) }
        guard let id = selectedID else { return [] }
        return [.draftRule(tool, id, level: words.count > 1 ? Int(words[1]) ?? 0 : 0)]
    }

    /// Opens an editor, or puts a newer text into the one that is open for the same.
    mutating func open(_ editor: EditorState) -> [Effect] {
        if case .editor(let open)? = overlays.last, open.purpose == editor.purpose, open.origin == editor.origin {
            overlays[overlays.count - 1] = .editor(editor)
        } else {
            overlays.append(.editor(editor))
        }
        return check(editor)
    }

    private func check(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, let replaced) = editor.purpose else { return [] }
        return [.checkRule(tool, text: editor.area.text, replaces: replaced, rules.texts)]
    }

    mutating func remark(_ text: String, _ words: String, _ isWrong: Bool) {
        guard case .editor(var editor)? = overlays.last, editor.area.text == text else { return }
        editor.remark = words
        editor.isWrong = isWrong
        overlays[overlays.count - 1] = .editor(editor)
    }

    mutating func type(_ key: Key, into editor: EditorState) -> [Effect] {
        var editor = editor
        switch (key.code, key.modifiers) {
        case (.escape, _):
            overlays.removeLast()
            return []
        case (.character("s"), .control), (.enter, .control), (.enter, .alt): return finish(editor)
        case (.character("o"), .control): return [.externalEditor(editor)]
        case (.character("t"), .control): return widen(editor)
        default:
            let before = editor.area
            guard editor.area.take(key) else { return run(key) }
            guard editor.area != before else { return [] }
            editor.area.reveal(rows: editorRows(editor))
            if editor.area.lines == before.lines {
                overlays[overlays.count - 1] = .editor(editor)
                return []
            }
            return changed(editor)
        }
    }

    /// How many lines of an editor are on the screen: as many as there is room for, but a rule, which is short, leaves the
    /// list in sight.
    func editorRows(_ editor: EditorState) -> Int {
        let most = max(1, size.height - 7)
        guard case .rule = editor.purpose else { return most }
        return min(most, max(8, min(editor.area.lines.count + 1, size.height / 2 - 4)))
    }

    mutating func changed(_ editor: EditorState) -> [Effect] {
        var editor = editor
        editor.area.reveal(rows: editorRows(editor))
        overlays[overlays.count - 1] = .editor(editor)
        return check(editor)
    }

    /// Takes the next of the scopes that are suggested for a rule: from one URL to the whole host.
    private func widen(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, nil) = editor.purpose, let origin = editor.origin else { return [] }
        return [.draftRule(tool, origin, level: editor.level + 1)]
    }

    /// Does with the text what the editor is for.
    mutating func finish(_ editor: EditorState) -> [Effect] {
        switch editor.purpose {
        case .rule(let tool, let replaced):
            do {
                let texts = try RuleEditing.put(editor.area.text, tool, replacing: replaced, in: rules.texts)
                overlays.removeLast()
                let isSwitchedOff = proxy.tool(tool).map { !$0.isOn && $0.rules > 0 } ?? false
                return (isSwitchedOff ? [.setTool(tool, isOn: true)] : []) + apply(texts)
            } catch {
                remark(editor.area.text, "\(error)", true)
                return []
            }
        case .hold(let id):
            overlays.removeLast()
            return [.decide([id], .edited(editor.area.text))]
        case .request(let origin):
            overlays.removeLast()
            return [.send(draft: editor.area.text, origin)]
        }
    }

    /// Takes the text back that an editor of the user's made of it.
    mutating func takeBack(_ editor: EditorState, _ text: String?) -> [Effect] {
        guard let text, text != editor.area.text else { return [] }
        var editor = editor
        editor.area = TextArea(text)
        guard case .editor? = overlays.last else { return open(editor) }
        return changed(editor)
    }
}
