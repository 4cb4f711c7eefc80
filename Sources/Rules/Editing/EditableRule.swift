/// One rule of a profile's text.
package struct EditableRule: Sendable, Hashable, Identifiable {
    /// Names a rule as long as the text is not edited.
    package struct ID: Sendable, Hashable {
        package var section: ProfileSection
        /// The rule's place in it, from 0.
        package var index: Int

        package init(_ section: ProfileSection, _ index: Int) {
            self.section = section
            self.index = index
        }
    }

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

    /// Reads a rule where it stands, be it right or wrong.
    init(
        _ section: ProfileSection,
        _ index: Int,
        _ pair: ProfileOutline.Pair,
        _ outline: ProfileOutline,
        _ reader: ProfileReader
    ) {
        var reader = reader
        let entry = pair.entries[index]
        let read = RuleReading(entry.node, of: section, number: index + 1, &reader)
        let lines = RuleLines.dedented(outline.source, outline.wholeRange(entry, in: pair))
        id = ID(section, index)
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
