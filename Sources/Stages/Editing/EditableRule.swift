import ExchangeCore

/// One rule of a profile's text.
package struct EditableRule: Sendable, Hashable, Identifiable {
    /// Names a rule as long as the text is not edited.
    package struct ID: Sendable, Hashable {
        /// The rule's section.
        package var section: ProfileSection
        /// The rule's place in it, from 0.
        package var index: Int

        /// Names a rule.
        package init(_ section: ProfileSection, _ index: Int) {
            self.section = section
            self.index = index
        }
    }

    /// Names the rule.
    package let id: ID
    /// The name that it was given; `nil` where it has none.
    package let name: String?
    /// Whether it is in force.
    package let isEnabled: Bool
    /// What it is called, or else where it acts: `*.tracker.example`.
    package let title: String
    /// What it does and where, on one line: `*.tracker.example: cut the connection`.
    package let summary: String
    /// Its text without indentation, with the comments in it.
    package let yaml: String
    /// The line in which it begins, from 1.
    package let line: Int
    /// The column in which it begins, in characters from 1.
    package let column: Int
    /// The first thing that is wrong with it; `nil` where it can be used.
    package let problem: String?

    /// Its text, to be put somewhere else or back.
    package var text: RuleText { RuleText(yaml) }
}

extension ProfileOutline {
    /// The rules of a section in the order of the text.
    ///
    /// - Parameters:
    ///   - section: the section.
    ///   - presets: the user's throttle presets.
    ///   - file: what the text is called, beside which relative paths begin.
    /// - Returns: the rules, those that are wrong too.
    func rules(
        of section: ProfileSection,
        presets: [String: ThrottleConditions],
        file: String
    ) -> [EditableRule] {
        guard let pair = self[section] else { return [] }
        return pair.entries.enumerated().map { index, entry in
            var reader = ProfileReader(file: file)
            reader.presets = presets
            let read = RuleReading(entry.node, of: section, number: index + 1, &reader)
            let range = wholeRange(entry, in: pair)
            let lines = RuleLines.dedented(source, range)
            let name = entry.node.mapping?["name"]?.scalar?.string ?? ""
            let summary = read.summary ?? String(lines.joined(separator: " ").singleLine(upTo: 200))
            return EditableRule(
                id: EditableRule.ID(section, index),
                name: name.isEmpty ? nil : name,
                isEnabled: entry.isEnabled,
                title: name.isEmpty ? read.rule?.heading.scope.text ?? summary : name,
                summary: summary,
                yaml: lines.joined(separator: "\n"),
                line: entry.node.line,
                column: entry.node.column,
                problem: reader.issues.first { $0.severity == .error }?.message
            )
        }
    }
}

extension ProfileOutline.Entry {
    /// Whether the rule says that it is in force.
    var isEnabled: Bool {
        let flag = node.mapping == nil ? node : node.mapping?["enabled"]
        return flag?.scalar?.string != "false"
    }
}

/// One rule as its tool reads it.
struct RuleReading {
    /// The rule, compiled; `nil` where it cannot be, or is none of a tool.
    let rule: (any ToolRule)?
    /// What it does and where; `nil` where that is not known.
    let summary: String?

    /// Reads a rule; what is wrong with it goes to the reader.
    init(_ node: Node, of section: ProfileSection, number: Int, _ reader: inout ProfileReader) {
        guard let tool = section.tool else {
            var intercept = InterceptRules()
            intercept.add(node, &reader)
            rule = nil
            summary = reader.hasErrors ? nil : intercept.text ?? "every host is decrypted"
            return
        }
        if node.scalar?.string == "false", tool.takesTrue {
            rule = nil
            summary = "nothing"
            return
        }
        rule = tool.read(node, after: number - 1, &reader).first
        guard let heading = rule?.heading, !reader.hasErrors else {
            summary = nil
            return
        }
        summary = "\(heading.scope.text)\(heading.action.isEmpty ? "" : ": \(heading.action)")"
    }
}
