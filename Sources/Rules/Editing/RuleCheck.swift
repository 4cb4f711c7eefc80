/// Checks a rule's text before it is put into a profile.
package enum RuleCheck {
    /// All errors and lints of a rule, at lines and columns of its text. Some lints need the profile: an earlier rule
    /// covers its scope, or a different rule has its name. The rule may refer to the profile's definitions, and its
    /// paths begin in the directory of the profile's file. A new rule is checked as the last one of its section.
    package static func check(
        _ rule: RuleText,
        of section: ProfileSection,
        in profile: EditableProfile,
        replacing id: EditableRule.ID? = nil
    ) -> [ProfileIssue] {
        let issues = read(rule, of: section, in: profile).issues
        if issues.contains(where: { $0.severity == .error }) { return issues }
        // Lints of the rule alone are already in `issues`.
        let known = Set(issues.map(\.message))
        let found = (try? lints(rule, section, profile, id)) ?? []
        let place = ProfilePlace(file: RuleText.file, line: 1, column: 1)
        return issues + found.filter { !known.contains($0) }.map { ProfileIssue(.lint, $0, at: place) }
    }

    /// The lints of the whole profile that are about the rule.
    private static func lints(
        _ rule: RuleText,
        _ section: ProfileSection,
        _ profile: EditableProfile,
        _ id: EditableRule.ID?
    ) throws(ProfileError) -> [String] {
        let editor = try ProfileEditor(profile.text, profile.name)
        let lines = try RuleLines(rule)
        let index = id?.index ?? editor.outline[section]?.entries.count ?? 0
        let text = if let id { try editor.replace(id, lines) } else { try editor.insert(lines, section, at: index) }
        let entries = try ProfileOutline(text, file: profile.name)[section]?.entries ?? []
        guard entries.indices.contains(index) else { return [] }
        let node = entries[index].node
        return profile.with(text: text).issues.filter {
            $0.severity == .lint && $0.line == node.line && $0.column == node.column
        }.map(\.message)
    }

    /// Reads a rule's text as its tool does; issues have places in the text.
    static func read(
        _ rule: RuleText,
        of section: ProfileSection,
        in profile: EditableProfile
    ) -> (reading: RuleReading?, issues: [ProfileIssue]) {
        do throws(ProfileError) {
            var reader = ProfileReader(file: profile.file ?? "", tools: profile.tools, profile.definitions)
            let reading = RuleReading(try RuleLines(rule).node, of: section, number: 1, &reader)
            var issues = reader.sortedIssues
            for index in issues.indices { issues[index].file = RuleText.file }
            return (reading, issues)
        } catch {
            return (nil, error.issues)
        }
    }
}
