package import HTTPModel

/// A profile's text, edited rule by rule; the rest of the text, comments included, does not change. Every edit is
/// checked: the new text is read again, and must have exactly the expected rules and no new error. A failed edit does
/// not change the text; to undo an edit, keep the value from before it.
package struct EditableProfile: Sendable, Hashable {
    let tools: ToolRegistry
    package private(set) var text: String
    /// The profile's file, in whose directory relative paths begin; `nil` for a profile without a file.
    package var file: String?
    /// The profile's other files; the rules may refer to their definitions.
    package var others: [ProfileSource]

    /// An empty text is a new profile.
    package init(text: String, file: String?, among others: [ProfileSource] = [], tools: ToolRegistry) {
        (self.tools, self.text, self.file, self.others) = (tools, text, file, others)
    }

    package var name: String { file ?? "new profile" }

    /// The rules of a section in the order of the text, including disabled rules.
    package func rules(of section: ProfileSection) throws(ProfileError) -> [EditableRule] {
        try rules(of: [section], in: ProfileOutline(text, file: name))
    }

    package func rules() throws(ProfileError) -> [EditableRule] {
        let outline = try ProfileOutline(text, file: name)
        return rules(of: outline.pairs.compactMap { tools.section($0.name) }, in: outline)
    }

    private func rules(of sections: [ProfileSection], in outline: ProfileOutline) -> [EditableRule] {
        let reader = ProfileReader(file: name, tools: tools, definitions)
        return sections.flatMap { section in
            outline[section].map { pair in
                pair.entries.indices.map { EditableRule(EditableRule.ID(section, $0), pair, outline, reader) }
            } ?? []
        }
    }

    /// Errors and lints in the order of the text, without those of the other files.
    package var issues: [ProfileIssue] {
        do throws(ProfileError) {
            return try RuleProfile(sources: sources, tools: tools).lints.filter { $0.file == name }
        } catch {
            return error.issues.filter { $0.file == name }
        }
    }

    private var sources: [ProfileSource] { others.filter { $0.file != name } + [ProfileSource(file: name, text: text)] }

    /// The user's definitions for tools.
    var definitions: ProfileReader.Definitions {
        // Most profiles have no definitions, and need not be read twice.
        let keys = tools.tools.compactMap(\.definitions?.key.name) + [Variable.key]
        guard sources.contains(where: { source in keys.contains { source.text.contains($0) } }) else { return [:] }
        var compiler = ProfileCompiler(tools)
        do throws(ProfileError) { try compiler.add(sources) } catch { return [:] }
        return compiler.definitions
    }

    /// Inserts a rule in its section, by default at the end; the first rule of a tool creates its section. Throws
    /// ``ProfileError`` with the errors in the rule, at places in its text, or with why it cannot be inserted.
    @discardableResult
    package mutating func insert(
        _ rule: RuleText,
        into section: ProfileSection,
        at index: Int? = nil
    ) throws(ProfileError) -> EditableRule.ID {
        let lines = try checked(rule, section)
        let editor = try ProfileEditor(text, name)
        let pair = editor.outline[section]
        let index = min(max(index ?? .max, 0), pair?.entries.count ?? 0)
        try commit(try editor.insert(lines, section, at: index), editor, section) { rules in
            switch pair?.form {
            case .flag(false), .nothing, nil: rules = []
            // Next to other rules `true` is written as a mapping.
            case .flag: rules = [Node.mapping([Node.Member("enabled", "true")]).text()]
            case .block, .flow, .single: break
            }
            rules.insert(lines.node.text(), at: min(index, rules.count))
        }
        return EditableRule.ID(section, index)
    }

    /// Replaces a rule. Throws the errors in the new rule, at places in its text, or why it cannot be inserted.
    package mutating func replace(_ id: EditableRule.ID, with rule: RuleText) throws(ProfileError) {
        let lines = try checked(rule, id.section)
        let editor = try ProfileEditor(text, name)
        try commit(try editor.replace(id, lines), editor, id.section) { $0[id.index] = lines.node.text() }
    }

    /// Removes a rule with the comments directly above it; the section is removed with its last rule.
    package mutating func remove(_ id: EditableRule.ID) throws(ProfileError) {
        let editor = try ProfileEditor(text, name)
        try commit(try editor.remove(id), editor, id.section) { $0.remove(at: id.index) }
    }

    /// Moves a rule, and the comments directly above it, to a different index in its section.
    package mutating func move(_ id: EditableRule.ID, to index: Int) throws(ProfileError) {
        let editor = try ProfileEditor(text, name)
        let last = try editor.find(id).0.entries.count - 1
        let index = min(max(index, 0), last)
        try commit(try editor.move(id, to: index), editor, id.section) { $0.insert($0.remove(at: id.index), at: index) }
    }

    /// Enables or disables a rule by its key `enabled`.
    package mutating func setEnabled(_ id: EditableRule.ID, _ isEnabled: Bool) throws(ProfileError) {
        let node = try ProfileEditor(text, name).find(id).1.node
        if isEnabled, node.mapping != nil, node["enabled"] == nil { return }
        try set("enabled", of: id, to: .word(isEnabled ? "true" : "false"))
    }

    /// Changes the value of a rule's key that accepts one word, for example `preset` or `name`.
    package mutating func set(_ key: String, of id: EditableRule.ID, to value: Node) throws(ProfileError) {
        let editor = try ProfileEditor(text, name)
        var members = try editor.find(id).1.node.mapping
        members?[key] = value
        let expected = (members.map { .mapping($0) } ?? value).text()
        try commit(try editor.set(key, of: id, to: value), editor, id.section) { $0[id.index] = expected }
    }

    /// Enables or disables all rules of a tool. A tool without rules gets the rule `true` when it is enabled; throws
    /// ``ProfileError`` if the tool does not accept `true`.
    package mutating func setTool(_ tool: Tool, isOn: Bool) throws(ProfileError) {
        let section = ProfileSection.tool(tool)
        let rules = try rules(of: section)
        var edited = self
        if rules.isEmpty, isOn {
            guard tool.takesTrue else { throw ProfileError("'\(tool.key)' has no rules to switch on", file: name) }
            try edited.insert(RuleText("true"), into: section)
        }
        for rule in rules where rule.isEnabled != isOn { try edited.setEnabled(rule.id, isOn) }
        self = edited
    }

    private func checked(_ rule: RuleText, _ section: ProfileSection) throws(ProfileError) -> RuleLines {
        try ProfileError.check(RuleCheck.read(rule, of: section, in: self).issues)
        return try RuleLines(rule)
    }

    func with(text: String) -> EditableProfile { EditableProfile(text: text, file: file, among: others, tools: tools) }

    /// Accepts an edit if the new text has exactly the expected rules, and no new error. `change` makes the same change
    /// in the content of the section's rules as the editor made in their text.
    private mutating func commit(
        _ text: String,
        _ editor: ProfileEditor,
        _ section: ProfileSection,
        expecting change: (inout [String]) -> Void
    ) throws(ProfileError) {
        let edited = with(text: text)
        var meaning = editor.outline.meaning(tools)
        var rules = meaning[section.key] ?? []
        change(&rules)
        meaning[section.key] = rules.isEmpty ? nil : rules
        var found = try? ProfileOutline(text, file: name).meaning(tools)
        // A new section may begin a new profile, which also gets `version`.
        if editor.outline[section] == nil, meaning["version"] == nil { found?["version"] = nil }
        guard found == meaning else {
            let message = "the profile is written in a way that prevents this edit; edit the file"
            throw ProfileError(message, file: name, at: editor.outline[section]?.node)
        }
        var known = issues.filter { $0.severity == .error }.map(\.message)
        let added = edited.issues.filter { issue in
            guard issue.severity == .error else { return false }
            let place = known.firstIndex(of: issue.message)
            if let place { known.remove(at: place) }
            return place == nil
        }
        try ProfileError.check(added)
        self = edited
    }
}
