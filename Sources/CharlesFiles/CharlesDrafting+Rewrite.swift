import HTTPModel
import Rules
import Tools

/// Rewrite sets and their rules.
extension CharlesDrafting {
    mutating func addRewrite(_ tool: CharlesTool<CharlesRewriteSet>) {
        let entries = tool.entries.enumerated().map { number, set in entry(set, number: number + 1) }
        add("rewrite", isEnabled: tool.isEnabled, entries)
    }

    private func entry(_ set: CharlesRewriteSet, number: Int) -> ProfileDraft.Entry {
        var notes: [String] = []
        var isEnabled = set.isActive
        var places = set.locations.filter(\.isEnabled)
        let disabled = set.locations.filter { !$0.isEnabled }
        if places.isEmpty {
            places = disabled.isEmpty ? [CharlesPlace(CharlesLocation())] : disabled
            isEnabled = false
            notes.append(
                disabled.isEmpty
                    ? "the set has no location, so it is not enabled"
                    : "none of its locations was enabled, so the set is not"
            )
        } else if !disabled.isEmpty {
            let list = disabled.map { words($0.location) }.joined(separator: ", ")
            notes.append("left out, as they were not enabled: \(list)")
        }
        let locations = places.map { value($0.location, &notes) }
        let name = set.name.isEmpty ? "set \(number)" : set.name
        var fields = [Node.Member("name", .text(name))]
        if !isEnabled { fields["enabled"] = .word("false") }
        fields["at"] = .some(locations)
        // A set without rules is one thing to report, any other is as many as it has rules.
        var entry = ProfileDraft.Entry(
            set.rules.isEmpty || !notes.isEmpty ? "Rewrite '\(name)'" : nil,
            fields,
            notes: notes
        )
        entry.rules = set.rules.enumerated().map { position, rule in
            CharlesDrafting.entry(rule, "Rewrite '\(name)' \(position + 1): \(rule.kind.words)")
        }
        return entry
    }

    // MARK: - Rules

    private static func entry(_ rule: CharlesRewriteRule, _ words: String) -> ProfileDraft.Entry {
        var drafting = RewriteRuleDrafting(rule)
        drafting.run()
        let name = rule.matchName.isEmpty ? rule.newName : rule.matchName
        return ProfileDraft.Entry(
            words + (name.isEmpty ? "" : " \(name)"),
            drafting.fields,
            notes: drafting.notes,
            skipped: drafting.skipped
        )
    }
}

/// Puts the fields of one rewrite rule together.
private struct RewriteRuleDrafting {
    let rule: CharlesRewriteRule
    var fields: [Node.Member] = []
    var notes: [String] = []
    var skipped: String?

    init(_ rule: CharlesRewriteRule) {
        self.rule = rule
    }

    mutating func run() {
        fields = [Node.Member(rule.kind.verb, .text(rule.kind.target))]
        var isEnabled = rule.isActive
        if rule.kind.hasDirection {
            let directions = [(rule.onRequest, "request"), (rule.onResponse, "response")].filter(\.0).map(\.1)
            if directions.isEmpty {
                isEnabled = false
                notes.append("it was neither for requests nor for responses, so it is not enabled")
            }
            fields["on"] = .texts(directions.isEmpty ? ["request", "response"] : directions)
        }
        switch rule.kind.verb {
        case "add": add()
        case "remove":
            let pattern = name() + value().match
            // To a profile a rule that says neither is a mistake, to Charles it means all.
            let all = [Node.Member("name", .text(".")), Node.Member("name-regex", .word("true"))]
            fields += pattern.isEmpty ? all : pattern
        default: modify()
        }
        if !isEnabled { fields["enabled"] = .word("false") }
    }

    /// In a profile the name and the value of what is added are `name` and `to`.
    private mutating func add() {
        if rule.newName.isEmpty { skipped = "it adds something without a name" }
        if rule.isNameExpression, !rule.matchName.isEmpty, rule.newName.contains("$") {
            notes.append("the name of what is added is taken as it stands, dollar signs and all")
        }
        var condition = name()
        let (match, to) = value()
        condition += match
        fields += [Node.Member("name", .text(rule.newName)), Node.Member("to", .text(to))]
        if !condition.isEmpty { fields["if"] = .mapping(condition) }
    }

    /// The name that is looked for.
    private mutating func name() -> [Node.Member] {
        guard rule.kind.hasName, !rule.matchName.isEmpty else { return [] }
        guard rule.isNameExpression else { return [Node.Member("name", .text(rule.matchName))] }
        let pattern = carry(rule.matchName, isCaseSensitive: false)
        return [Node.Member("name", .text(pattern?.text ?? rule.matchName)), Node.Member("name-regex", .word("true"))]
    }

    /// The value that is looked for, and what the new value is in a profile.
    private mutating func value() -> (match: [Node.Member], to: String) {
        guard !rule.matchValue.isEmpty else { return ([], rule.newValue) }
        var (match, to) = (rule.matchValue, rule.newValue)
        if rule.isValueExpression {
            if let pattern = carry(match, isCaseSensitive: rule.isCaseSensitive) {
                match = pattern.text
                to = carry(to, for: pattern)
            }
            match = "/\(match)/"
        } else if match.hasPrefix("\\/") {
            // What begins so would be read as an escaped slash.
            match = "/\(JavaExpression.quoting(match))/"
            to = to.replacing("$", with: "$$")
        } else if match.hasPrefix("/"), match.hasSuffix("/") {
            match = "\\" + match
        }
        var fields = [Node.Member("match", .text(match))]
        if rule.isCaseSensitive { fields["case"] = .word("true") }
        if rule.matchesWhole { fields["whole"] = .word("true") }
        return (fields, to)
    }

    /// Carries a regular expression over; where that cannot be, the rule is skipped.
    private mutating func carry(_ source: String, isCaseSensitive: Bool) -> JavaExpression.Pattern? {
        switch JavaExpression.pattern(source, isCaseSensitive: isCaseSensitive) {
        case .success(let pattern):
            notes += pattern.notes
            return pattern
        case .failure(let refusal):
            skipped = skipped ?? refusal.reason
            return nil
        }
    }

    /// Likewise a replacement.
    private mutating func carry(_ source: String, for pattern: JavaExpression.Pattern) -> String {
        switch JavaExpression.replacement(source, for: pattern) {
        case .success(let replacement):
            notes += replacement.notes
            return replacement.text
        case .failure(let refusal):
            skipped = skipped ?? refusal.reason
            return source
        }
    }

    /// Blank means no change for what has a name, and nothing in place of the match for everything else.
    private mutating func modify() {
        fields += name()
        let (match, to) = value()
        fields += match
        switch rule.kind {
        case .modifyHeader, .modifyQuery:
            // Charles' users often give the same name again.
            let isRenamed = !rule.newName.isEmpty && rule.newName != rule.matchName
            if isRenamed { fields["rename"] = .text(newName()) }
            if !rule.newValue.isEmpty { fields["to"] = .text(to) }
            if !isRenamed, rule.newValue.isEmpty { skipped = skipped ?? "it changes nothing" }
        case .status:
            if rule.newValue.trimmed.isEmpty { skipped = skipped ?? "it has no new status" }
            fields["to"] = .text(to.trimmed)
        case .host, .path, .url:
            if rule.matchValue.isEmpty, rule.newValue.isEmpty { skipped = skipped ?? "it changes nothing" }
            fields["to"] = .text(to)
        default: fields["to"] = .text(to)
        }
        let replaces =
            !rule.matchValue.isEmpty && (!rule.newValue.isEmpty || !rule.kind.hasName) && rule.kind != .status
        if rule.replacesFirst, replaces { fields["replace"] = .text("first") }
    }

    /// The new name, which may refer to what a regular expression found in the old one.
    private mutating func newName() -> String {
        guard rule.isNameExpression, !rule.matchName.isEmpty else { return rule.newName }
        guard case .success(let pattern) = JavaExpression.pattern(rule.matchName, isCaseSensitive: false) else {
            return rule.newName
        }
        return carry(rule.newName, for: pattern)
    }
}
