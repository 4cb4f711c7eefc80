/// A profile's text, edited rule by rule; whatever is not touched stays as it was written, comments included.
///
/// Every edit is checked before it counts: the new text is read again, must have just the rules that were meant, and no
/// mistake that was not there before. An edit that fails leaves the text as it was; the value before an edit undoes it.
package struct EditableProfile: Sendable, Hashable {
    package private(set) var text: String
    /// The file it was read from, beside which relative paths begin; `nil` for a profile without one.
    package var file: String?
    /// The other files of the same set-up, whose throttle presets the rules may name.
    package var others: [ProfileSource]

    /// Takes a text, whatever is in it; an empty one is a new profile.
    package init(text: String, file: String?, among others: [ProfileSource] = []) {
        self.text = text
        self.file = file
        self.others = others
    }

    /// What issues call the text.
    var name: String { file ?? "new profile" }

    // MARK: - Looking

    /// The rules of a section in the order of the text; those that are not enabled too.
    ///
    /// - Throws: ``ProfileError`` where the text is no YAML, or is written in a way that cannot be edited.
    package func rules(of section: ProfileSection) throws(ProfileError) -> [EditableRule] {
        try ProfileOutline(text, file: name).rules(of: section, presets: presets, file: name)
    }

    /// All rules in the order of the text.
    ///
    /// - Throws: ``ProfileError`` where the text is no YAML, or is written in a way that cannot be edited.
    package func rules() throws(ProfileError) -> [EditableRule] {
        let outline = try ProfileOutline(text, file: name)
        let presets = presets
        let sections = outline.pairs.compactMap { ProfileSection(key: $0.name) }
        return sections.flatMap { outline.rules(of: $0, presets: presets, file: name) }
    }

    /// What is wrong with the text or hardly meant, in its order; without what is said about the other files.
    package var issues: [ProfileIssue] {
        do throws(ProfileError) {
            return try RuleProfile(sources: sources).lints.filter { $0.file == name }
        } catch {
            return error.issues.filter { $0.file == name }
        }
    }

    private var sources: [ProfileSource] {
        others.filter { $0.file != name } + [ProfileSource(file: name, text: text)]
    }

    /// The user's throttle presets.
    var presets: [String: ThrottleConditions] {
        // Most profiles have none, and need not be read twice.
        guard sources.contains(where: { $0.text.contains("presets") }) else { return [:] }
        var compiler = ProfileCompiler()
        do throws(ProfileError) { try compiler.add(sources) } catch { return [:] }
        return compiler.presets
    }

    // MARK: - Editing

    /// Puts a rule in; the first one of a tool begins its section.
    ///
    /// - Parameters:
    ///   - rule: the rule.
    ///   - section: where it belongs.
    ///   - index: the place that it shall have among the section's rules; `nil` for the last.
    /// - Returns: the rule's place.
    /// - Throws: ``ProfileError``: what is wrong with the rule, with places in its text, or why it cannot be put in.
    @discardableResult
    package mutating func insert(
        _ rule: RuleText,
        into section: ProfileSection,
        at index: Int? = nil
    ) throws(ProfileError) -> EditableRule.ID {
        let lines = try checked(rule, section)
        let editor = try ProfileEditor(text, name)
        let index = min(max(index ?? .max, 0), editor.rules(of: section).count)
        try commit(try editor.insert(lines, section, at: index))
        return EditableRule.ID(section, index)
    }

    /// Puts a text in the place of a rule's.
    ///
    /// - Throws: ``ProfileError``: what is wrong with the rule, with places in its text, or why it cannot be put in.
    package mutating func replace(_ id: EditableRule.ID, with rule: RuleText) throws(ProfileError) {
        let lines = try checked(rule, id.section)
        try commit(try ProfileEditor(text, name).replace(id, lines))
    }

    /// Takes a rule out, with the comments directly above it; with the last rule of a section goes the section.
    ///
    /// - Throws: ``ProfileError`` where that cannot be.
    package mutating func remove(_ id: EditableRule.ID) throws(ProfileError) {
        try commit(try ProfileEditor(text, name).remove(id))
    }

    /// Moves a rule to another place among those of its section; the comments directly above it move with it.
    ///
    /// - Throws: ``ProfileError`` where that cannot be.
    package mutating func move(_ id: EditableRule.ID, to index: Int) throws(ProfileError) {
        try commit(try ProfileEditor(text, name).move(id, to: index))
    }

    /// Switches a rule on or off, by its key `enabled`.
    ///
    /// - Throws: ``ProfileError`` where that cannot be.
    package mutating func setEnabled(_ id: EditableRule.ID, _ isEnabled: Bool) throws(ProfileError) {
        try commit(try ProfileEditor(text, name).setEnabled(id, isEnabled))
    }

    /// Gives a rule another value for a key that takes one word, for example `preset` or `name`.
    ///
    /// - Throws: ``ProfileError`` where that cannot be.
    package mutating func set(_ key: String, of id: EditableRule.ID, to value: String) throws(ProfileError) {
        try commit(try ProfileEditor(text, name).set(key, of: id, to: Node.text(value).flow, value))
    }

    /// Switches all rules of a tool on or off; one that takes `true` and has no rules is given that.
    ///
    /// - Throws: ``ProfileError`` where a tool without rules is to be switched on and needs some.
    package mutating func setTool(_ tool: Tool, isOn: Bool) throws(ProfileError) {
        let section = ProfileSection.tool(tool)
        let rules = try rules(of: section)
        var edited = self
        if rules.isEmpty, isOn {
            guard tool.takesTrue else {
                throw ProfileOutline.failure("'\(tool.key)' has no rules that could be switched on", name, nil)
            }
            try edited.insert(RuleText("true"), into: section)
        }
        for rule in rules where rule.isEnabled != isOn { try edited.setEnabled(rule.id, isOn) }
        self = edited
    }

    // MARK: - Checking

    private func checked(_ rule: RuleText, _ section: ProfileSection) throws(ProfileError) -> RuleLines {
        let issues = RuleCheck.read(rule, of: section, in: self).issues
        if issues.contains(where: { $0.severity == .error }) { throw ProfileError(issues: issues) }
        return try RuleLines(rule)
    }

    /// The same with another text.
    func with(text: String) -> EditableProfile { EditableProfile(text: text, file: file, among: others) }

    /// Makes an edit count, where it does what it should.
    mutating func commit(_ edit: ProfileEdit) throws(ProfileError) {
        var edited = self
        edited.text = edit.text
        guard let outline = try? ProfileOutline(edit.text, file: name), ProfileModel(outline) == edit.model else {
            throw ProfileOutline.failure(
                "as the profile is written here, this cannot be edited without changing something else",
                name,
                edit.node
            )
        }
        var known = issues.filter { $0.severity == .error }.map(\.message)
        let added = edited.issues.filter { issue in
            guard issue.severity == .error else { return false }
            if let place = known.firstIndex(of: issue.message) {
                known.remove(at: place)
                return false
            }
            return true
        }
        guard added.isEmpty else { throw ProfileError(issues: added) }
        self = edited
    }
}

/// A text that an edit makes, and what it shall say.
struct ProfileEdit {
    var text: String
    var model: ProfileModel
    /// What was edited, for messages.
    var node: Node?
}
