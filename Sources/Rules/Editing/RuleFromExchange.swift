package import HTTPModel

/// Makes rules from recorded exchanges, to be inserted as they are or edited first.
package enum RuleFromExchange {
    /// The default scope of a section's rule.
    package static func usualScope(for section: ProfileSection, _ record: ExchangeRecord) -> ExchangeScope {
        let usual = section.tool?.usualScope ?? .host
        let all = breadths(for: section, record)
        return all.contains(usual) ? usual : all.first ?? .host
    }

    /// The scopes to choose from, from narrow to wide; empty if no rule can be made.
    package static func breadths(for section: ProfileSection, _ record: ExchangeRecord) -> [ExchangeScope] {
        guard !record.url.host.isEmpty, record.kind != .malformed else { return [] }
        return section.tool?.breadths(for: record.url) ?? ExchangeScope.all(for: record.url).filter { $0 >= .host }
    }

    /// A rule of the given or the usual scope; `nil` if the tool cannot act on such an exchange.
    package static func rule(
        for section: ProfileSection,
        from source: RuleSource,
        _ breadth: ExchangeScope? = nil
    ) -> RuleText? {
        let record = source.record
        let known = breadths(for: section, record)
        guard !known.isEmpty else { return nil }
        let breadth = breadth.flatMap { known.contains($0) ? $0 : nil } ?? usualScope(for: section, record)
        guard let tool = section.tool else {
            return RuleText(fields: [Node.Member("except", .texts(breadth.locations(of: record.url)))])
        }
        let fields = tool.draft(from: source, breadth)
        guard let file = tool.answersFrom, let answer = source.answer else { return RuleText(fields: fields) }
        let rest = RuleText(fields: fields.filter { $0.key.scalar?.string != file }).yaml
        let rule = RuleText("\(rest)\nanswer:\n\(answer)")
        // YAML does not have every text of JSON.
        return (try? RuleLines(rule)) == nil ? RuleText(fields: fields) : rule
    }

    /// A rule to begin with if there is no exchange: the first rule of the tool's example.
    package static func example(of tool: Tool) -> RuleText {
        let profile = EditableProfile(text: "version: 1\n\(tool.example)", file: nil, tools: ToolRegistry([tool]))
        guard let rule = try? profile.rules(of: .tool(tool)).first else { return RuleText("") }
        guard rule.yaml.hasPrefix("{"), let fields = (try? RuleLines(rule.text))?.node.mapping else { return rule.text }
        return RuleText(fields: fields)
    }
}

extension RuleText {
    /// A rule with each field, and each edit in a list of edits, on a line of its own.
    fileprivate init(fields: [Node.Member]) {
        let lines = fields.map { field -> String in
            guard let members = field.value.sequence, members.first?.mapping != nil else { return field.flow }
            return "\(field.key.flow):" + members.map { "\n  - \($0.flow)" }.joined()
        }
        self.init(lines.joined(separator: "\n"))
    }
}
