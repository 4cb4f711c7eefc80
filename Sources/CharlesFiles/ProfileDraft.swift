import Rules
import Tools

/// A profile that is being written: its sections, with the imported and the skipped rules.
struct ProfileDraft {
    struct Entry {
        /// The rule's name in the report; `nil` if it is not in the report.
        var rule: String?
        var fields: [Node.Member] = []
        /// The text of a rule without keys.
        var text: String?
        /// Differences from Charles.
        var notes: [String] = []
        /// Why the rule is skipped, and written as a comment; `nil` if it is not skipped.
        var skipped: String?
        /// The inner rules under the key `rules`.
        var rules: [Entry]?

        mutating func disable() { fields["enabled"] = .word("false") }

        /// Skips the rule or an inner one; the first reason counts.
        fileprivate mutating func skip(_ inner: Int?, _ why: String) {
            if let inner { rules?[inner].skip(nil, why) } else { skipped = skipped ?? why }
        }
    }

    /// A key at the top level.
    struct Section {
        var key: String
        var entries: [Entry]
        /// Whether the value is a mapping instead of a list.
        var isMapping = false
        /// Whether the tool as a whole is switched on.
        var isEnabled = true
    }

    /// The comment at the top.
    var preamble: [String] = []
    /// The first keys, written unchanged.
    var head: [Node.Member] = []
    var sections: [Section] = []

    /// The section, entry and rule of a line.
    private struct Address {
        var section: Int
        var entry: Int?
        var rule: Int?
    }

    private var lines: [(text: String, address: Address?)] = []

    /// How often rejected rules are left out before the import gives up.
    private static let mostRounds = 200

    /// The longest line for a whole rule.
    private static let width = 118

    /// The profile's text; rules that ``RuleProfile`` rejects become comments. Relative paths begin in the directory of
    /// `file`, the future file. Throws ``CharlesError`` for errors that are not in a rule.
    mutating func write(as file: String) throws(CharlesError) -> String {
        for _ in 0..<ProfileDraft.mostRounds {
            render()
            let text = lines.map { $0.text + "\n" }.joined()
            do {
                _ = try RuleProfile(text, file: file)
                return text
            } catch {
                try leaveOut(error.issues.filter { $0.severity == .error })
            }
        }
        throw CharlesError(message: "there is too much in these settings that a profile does not take")
    }

    private mutating func leaveOut(_ issues: [ProfileIssue]) throws(CharlesError) {
        for issue in issues {
            guard lines.indices.contains(issue.line - 1), let address = lines[issue.line - 1].address else {
                throw CharlesError(message: "the profile that came out cannot be used: \(issue.message)")
            }
            for entry in address.entry.map({ [$0] }) ?? Array(sections[address.section].entries.indices) {
                sections[address.section].entries[entry].skip(address.rule, issue.message)
            }
        }
    }

    /// What became of each rule.
    func report() -> FidelityReport {
        var report = FidelityReport()
        func add(_ entry: Entry, skipped: String?) {
            guard let rule = entry.rule else { return }
            report.add(rule, (skipped ?? entry.skipped).map { .skipped(why: $0) } ?? .kept(but: entry.notes))
        }
        for entry in sections.flatMap(\.entries) {
            add(entry, skipped: nil)
            for rule in entry.rules ?? [] { add(rule, skipped: entry.skipped) }
        }
        return report
    }

    private mutating func render() {
        lines = []
        for line in preamble { add("#" + (line.isEmpty ? "" : " \(YAMLText.comment(line))"), nil) }
        for field in head { add(field.flow, nil) }
        for (number, section) in sections.enumerated() where !section.entries.isEmpty {
            add("", nil)
            let address = Address(section: number)
            let isThere = section.entries.contains { $0.skipped == nil }
            add((isThere ? "" : "# ") + section.key + ":", address)
            for (position, entry) in section.entries.enumerated() {
                let address = Address(section: number, entry: position)
                render(entry, section.isMapping ? nil : "  ", address)
            }
        }
    }

    /// Writes one rule; `indentation` is that of its hyphen in a list, `nil` for a mapping.
    private mutating func render(_ entry: Entry, _ indentation: String?, _ address: Address, isComment: Bool = false) {
        let outer = indentation ?? "  "
        let (first, rest) = indentation.map { ($0 + "- ", $0 + "  ") } ?? (outer, outer)
        let isComment = isComment || entry.skipped != nil
        if let why = entry.skipped { add("\(outer)# skipped: \(YAMLText.comment(why))", address) }
        for note in entry.notes { add("\(outer)# approximated: \(YAMLText.comment(note))", address) }
        func put(_ draft: inout ProfileDraft, _ line: String) {
            draft.add(isComment ? "\(outer)# \(line.dropFirst(outer.count))" : line, address)
        }
        let flow = first + (entry.text.map { Node.text($0) } ?? .mapping(entry.fields)).flow
        if indentation != nil, entry.rules == nil, flow.count <= ProfileDraft.width || entry.fields.count < 2 {
            put(&self, flow)
            return
        }
        var before = first
        for field in entry.fields {
            for line in ProfileDraft.block(field, before: before, indentation: rest) { put(&self, line) }
            before = rest
        }
        guard let rules = entry.rules else { return }
        let isEmpty = !rules.contains { $0.skipped == nil }
        put(&self, rest + (isEmpty ? "rules: []" : "rules:"))
        for (number, rule) in rules.enumerated() {
            var address = address
            address.rule = number
            render(rule, rest + "  ", address, isComment: isComment)
        }
    }

    /// A field on one line; a list that is too long has each member on its own line.
    private static func block(_ field: Node.Member, before: String, indentation: String) -> [String] {
        let line = before + field.flow
        guard line.count > width, let members = field.value.sequence, !members.isEmpty else { return [line] }
        return [before + field.key.flow + ":"] + members.map { "\(indentation)  - \($0.flow)" }
    }

    private mutating func add(_ line: String, _ address: Address?) { lines.append((line, address)) }
}
