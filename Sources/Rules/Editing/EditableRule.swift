package struct EditableRule: Sendable, Hashable, Identifiable {
    /// Identifies a rule until the text is edited.
    package struct ID: Sendable, Hashable {
        package var section: ProfileSection
        /// The rule's place in the section, from 0.
        package var index: Int

        package init(_ section: ProfileSection, _ index: Int) { (self.section, self.index) = (section, index) }
    }

    package let id: ID
    package let name: String?
    package let isEnabled: Bool
    /// The rule's name, or where it acts if it has no name: `*.tracker.example`.
    package let title: String
    /// What it does and where, on one line: `*.tracker.example: cut the connection`.
    package let summary: String
    /// Its text without indentation, with the comments in it.
    package let yaml: String
    /// The line in which it begins, from 1.
    package let line: Int
    /// Where in its line it begins, in characters from 1.
    package let column: Int
    /// The first error in the rule; `nil` if it can be used.
    package let problem: String?

    package var text: RuleText { RuleText(yaml) }

    /// Reads a rule of a profile's text, valid or not.
    init(_ id: ID, _ pair: ProfileOutline.Pair, _ outline: ProfileOutline, _ reader: ProfileReader) {
        var reader = reader
        let entry = pair.entries[id.index]
        let read = RuleReading(entry.node, of: id.section, number: id.index + 1, &reader)
        let lines = RuleLines.dedented(outline.source, outline.wholeRange(entry, in: pair))
        self.id = id
        name = entry.node["name"]?.scalar.flatMap { $0.string.isEmpty ? nil : $0.string }
        isEnabled = entry.isEnabled
        summary = read.summary ?? lines.joined(separator: " ").singleLine(upTo: 200)
        title = name ?? read.rule?.heading.scope.text ?? summary
        yaml = lines.joined(separator: "\n")
        line = entry.node.line
        column = entry.node.column
        problem = reader.issues.first { $0.severity == .error }?.message
    }
}

struct RuleReading {
    /// `nil` if it is invalid, does nothing, or does not belong to a tool.
    private(set) var rule: (any ToolRule)?
    private(set) var intercept: InterceptRules?
    private(set) var summary: String?

    /// Reads a rule; its errors are added to the reader.
    init(_ node: Node, of section: ProfileSection, number: Int, _ reader: inout ProfileReader) {
        guard let tool = section.tool else {
            var intercept = InterceptRules()
            intercept.add(node, &reader)
            self.intercept = intercept
            summary = reader.hasErrors ? nil : intercept.text ?? "every host is decrypted"
            return
        }
        if node.scalar?.string == "false", tool.takesTrue {
            summary = "nothing"
            return
        }
        rule = tool.read(node, after: number - 1, &reader).first
        guard let heading = rule?.heading, !reader.hasErrors else { return }
        summary = heading.scope.text + (heading.action.isEmpty ? "" : ": \(heading.action)")
    }
}
