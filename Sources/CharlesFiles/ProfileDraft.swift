import Rules
import Tools

/// A profile that is being written: its sections, and in each what became of the rules that it was made of.
struct ProfileDraft {
    /// One rule.
    struct Entry {
        /// What the report calls it; `nil` where it is just there to make the profile complete.
        var rule: String?
        /// Its keys.
        var fields: [Node.Member]
        /// What stands in place of keys, where the rule is just a text.
        var text: String?
        /// What is not the same as it was.
        var notes: [String] = []
        /// Why it is not there; it is then written as a comment.
        var skipped: String?
        /// Rules within the rule, under the key `rules`.
        var rules: [Entry]?

        init(
            _ rule: String?,
            _ fields: [Node.Member],
            text: String? = nil,
            notes: [String] = [],
            skipped: String? = nil
        ) {
            self.rule = rule
            self.fields = fields
            self.text = text
            self.notes = notes
            self.skipped = skipped
        }
    }

    /// A key at the top level.
    struct Section {
        var key: String
        var entries: [Entry]
        /// Whether the value is a mapping, not a list of them.
        var isMapping = false
    }

    /// The comment at the top.
    var preamble: [String] = []
    /// Keys that come first, as they stand.
    var head: [Node.Member] = []
    var sections: [Section] = []

    /// Where an entry is.
    private struct Address: Hashable {
        var section: Int
        var entry: Int?
        var rule: Int?
    }

    private var lines: [String] = []
    private var addresses: [Address?] = []

    /// More is not gone through than this many rounds of leaving out what a profile does not take.
    private static let mostRounds = 200

    /// The longest line that a rule is put on as a whole.
    private static let width = 118

    /// Writes the profile; what ``RuleProfile`` would not take becomes a comment, and is skipped.
    ///
    /// - Parameter file: what the file will be called, from which relative paths begin.
    /// - Returns: the text.
    /// - Throws: ``CharlesError`` where what is wrong belongs to no rule.
    mutating func write(as file: String) throws(CharlesError) -> String {
        for _ in 0..<ProfileDraft.mostRounds {
            render()
            let text = lines.joined(separator: "\n") + "\n"
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
            guard addresses.indices.contains(issue.line - 1), let address = addresses[issue.line - 1] else {
                throw CharlesError(message: "the profile that came out cannot be used: \(issue.message)")
            }
            let entries = address.entry.map { [$0] } ?? Array(sections[address.section].entries.indices)
            for entry in entries {
                if let rule = address.rule {
                    skip(&sections[address.section].entries[entry].rules, rule, issue.message)
                } else if sections[address.section].entries[entry].skipped == nil {
                    sections[address.section].entries[entry].skipped = issue.message
                }
            }
        }
    }

    private func skip(_ rules: inout [Entry]?, _ rule: Int, _ why: String) {
        if rules?[rule].skipped == nil { rules?[rule].skipped = why }
    }

    /// What became of each rule.
    func report() -> FidelityReport {
        var report = FidelityReport(word: "imported")
        for entry in sections.flatMap(\.entries) {
            ProfileDraft.report(entry, skipped: nil, to: &report)
            for rule in entry.rules ?? [] { ProfileDraft.report(rule, skipped: entry.skipped, to: &report) }
        }
        return report
    }

    private static func report(_ entry: Entry, skipped: String?, to report: inout FidelityReport) {
        guard let rule = entry.rule else { return }
        if let why = skipped ?? entry.skipped {
            report.add(rule, .skipped(why: why))
        } else {
            report.add(rule, notes: entry.notes)
        }
    }

    // MARK: - Text

    private mutating func render() {
        lines = []
        addresses = []
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

    /// Writes one rule; `indentation` is what stands before the hyphen of a list's member, `nil` for a mapping.
    private mutating func render(
        _ entry: Entry,
        _ indentation: String?,
        _ address: Address,
        isWithinComment: Bool = false
    ) {
        let outer = indentation ?? "  "
        let (first, rest) = indentation.map { ($0 + "- ", $0 + "  ") } ?? (outer, outer)
        let isComment = isWithinComment || entry.skipped != nil
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
            render(rule, rest + "  ", address, isWithinComment: isComment)
        }
    }

    /// A field on lines of its own; a list that is too long for one gets one for each member.
    private static func block(_ field: Node.Member, before: String, indentation: String) -> [String] {
        let line = before + field.flow
        guard line.count > width, let members = field.value.sequence, !members.isEmpty else { return [line] }
        return [before + field.key.flow + ":"] + members.map { "\(indentation)  - \($0.flow)" }
    }

    private mutating func add(_ line: String, _ address: Address?) {
        lines.append(line)
        addresses.append(address)
    }
}
