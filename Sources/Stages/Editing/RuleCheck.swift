/// Says what is wrong with a rule's text before it is put into a profile.
package enum RuleCheck {
    /// Checks a rule's text.
    ///
    /// Also found is what only the profile shows: that an earlier rule decides about all that this one is for, or that
    /// another one has its name. A new rule is taken to stand last in its section.
    ///
    /// - Parameters:
    ///   - rule: the text.
    ///   - section: where it belongs.
    ///   - profile: the profile it is for; its throttle presets may be named, paths begin beside its file.
    ///   - id: the rule that it replaces; `nil` for a new one.
    /// - Returns: all that is wrong or hardly meant, with lines and columns of the rule's text.
    package static func check(
        _ rule: RuleText,
        of section: ProfileSection,
        in profile: EditableProfile,
        replacing id: EditableRule.ID? = nil
    ) -> [ProfileIssue] {
        let issues = read(rule, of: section, in: profile).issues
        return issues.contains { $0.severity == .error } ? issues : issues + lints(rule, section, profile, id)
    }

    /// What the whole profile says about the rule in its place.
    private static func lints(
        _ rule: RuleText,
        _ section: ProfileSection,
        _ profile: EditableProfile,
        _ id: EditableRule.ID?
    ) -> [ProfileIssue] {
        do throws(ProfileError) {
            let editor = try ProfileEditor(profile.text, profile.name)
            let lines = try RuleLines(rule)
            let count = editor.rules(of: section).count
            let edit =
                if let id { try editor.replace(id, lines) } else { try editor.insert(lines, section, at: count) }
            let edited = profile.with(text: edit.text)
            let rules = try edited.rules(of: section)
            let index = id?.index ?? count
            guard rules.indices.contains(index) else { return [] }
            let found = edited.issues.filter {
                $0.severity == .lint && $0.line == rules[index].line && $0.column == rules[index].column
            }
            // Those of the rule alone are known already.
            let known = Set(read(rule, of: section, in: profile).issues.map(\.message))
            return found.filter { !known.contains($0.message) }.map {
                ProfileIssue(severity: .lint, file: RuleText.file, line: 1, column: 1, message: $0.message)
            }
        } catch {
            return []
        }
    }

    /// Reads a rule's text as its tool does; issues have places in the text.
    static func read(
        _ rule: RuleText,
        of section: ProfileSection,
        in profile: EditableProfile
    ) -> (rule: (any ToolRule)?, issues: [ProfileIssue]) {
        do throws(ProfileError) {
            let lines = try RuleLines(rule)
            var reader = ProfileReader(file: profile.file ?? "")
            reader.presets = profile.presets
            let reading = RuleReading(lines.node, of: section, number: 1, &reader)
            var issues = reader.issues
            for index in issues.indices { issues[index].file = RuleText.file }
            return (reading.rule, issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
        } catch {
            return (nil, error.issues)
        }
    }
}
