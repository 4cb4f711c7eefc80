import HTTPModel
import Rules
import Tools

extension CharlesDrafting {
    mutating func addRewrite(_ element: XMLElement) {
        check(element, knows: ["toolEnabled", "sets", "debugging"])
        let isEnabled = flag(element, "toolEnabled", default: true)
        addRewriteSets(element["sets"], isEnabled: isEnabled)
    }

    mutating func addRewriteSets(_ list: XMLElement?, isEnabled: Bool) {
        var entries: [ProfileDraft.Entry] = []
        forEach("rewriteSet", in: list) { entries.append($0.entry($1, number: entries.count + 1)) }
        add("rewrite", isEnabled: isEnabled, entries)
    }

    private mutating func entry(_ set: XMLElement, number: Int) -> ProfileDraft.Entry {
        check(set, knows: ["active", "name", "hosts", "rules"])
        var isEnabled = flag(set, "active", default: true)
        let name = set.text("name").isEmpty ? "set \(number)" : set.text("name")
        var notes: [String] = []
        let locations = places(set["hosts"])
        var places = locations.filter(\.isEnabled)
        if places.isEmpty {
            places = locations.isEmpty ? [CharlesPlace(CharlesLocation())] : locations
            isEnabled = false
            notes = [
                locations.isEmpty
                    ? "the set has no location, so it is not enabled"
                    : "none of its locations was enabled, so the set is not"
            ]
        } else {
            noteDisabled(locations, &notes)
        }
        let at = places.map { $0.location.node(&notes) }
        let rules = rules(set["rules"], of: name)
        // The report lists the rules of a set; it lists the set itself only if it has notes, or no rules.
        let isReported = rules.isEmpty || !notes.isEmpty
        var entry = ProfileDraft.Entry(rule: isReported ? "Rewrite '\(name)'" : nil, notes: notes, rules: rules)
        entry.fields["name"] = .text(name)
        if !isEnabled { entry.disable() }
        entry.fields["at"] = .some(at)
        return entry
    }

    private mutating func rules(_ list: XMLElement?, of set: String) -> [ProfileDraft.Entry] {
        var rules: [ProfileDraft.Entry] = []
        forEach("rewriteRule", in: list) { drafting, element in
            guard let rule = CharlesRewriteRule(element, &drafting) else { return }
            var entry = RewriteRuleDrafting.entry(rule)
            let what = rule.matchName.isEmpty ? rule.newName : rule.matchName
            let title = "Rewrite '\(set)' \(rules.count + 1): \(rule.kind.words)"
            entry.rule = title + (what.isEmpty ? "" : " \(what)")
            rules.append(entry)
        }
        return rules
    }
}

private struct RewriteRuleDrafting {
    private let rule: CharlesRewriteRule
    private var entry = ProfileDraft.Entry()

    static func entry(_ rule: CharlesRewriteRule) -> ProfileDraft.Entry {
        var drafting = RewriteRuleDrafting(rule: rule)
        drafting.run()
        return drafting.entry
    }

    private init(rule: CharlesRewriteRule) { self.rule = rule }

    private mutating func run() {
        entry.fields = [Node.Member(rule.kind.verb, .text(rule.kind.target))]
        var isEnabled = rule.isActive
        if rule.kind.hasDirection {
            let directions = [(rule.onRequest, "request"), (rule.onResponse, "response")].filter(\.0).map(\.1)
            if directions.isEmpty {
                isEnabled = false
                entry.notes.append("it was neither for requests nor for responses, so it is not enabled")
            }
            entry.fields["on"] = .texts(directions.isEmpty ? ["request", "response"] : directions)
        }
        switch rule.kind.verb {
        case "add": add()
        case "remove":
            let pattern = name() + value().match
            // In a profile a rule without a name and a value is an error, in Charles it matches everything.
            let all = [Node.Member("name", .text(".")), Node.Member("name-regex", .word("true"))]
            entry.fields += pattern.isEmpty ? all : pattern
        default: modify()
        }
        if !isEnabled { entry.fields["enabled"] = .word("false") }
    }

    /// In a profile the added name is under `name`, and the added value under `to`.
    private mutating func add() {
        if rule.newName.isEmpty { entry.skipped = "it adds something without a name" }
        if rule.isNameExpression, !rule.matchName.isEmpty, rule.newName.contains("$") {
            entry.notes.append("the name of what is added is taken as it stands, dollar signs and all")
        }
        var condition = name()
        let (match, to) = value()
        condition += match
        entry.fields += [Node.Member("name", .text(rule.newName)), Node.Member("to", .text(ValueTemplate.escaped(to)))]
        if !condition.isEmpty { entry.fields["if"] = .mapping(condition) }
    }

    private mutating func name() -> [Node.Member] {
        guard rule.kind.hasName, !rule.matchName.isEmpty else { return [] }
        guard rule.isNameExpression else { return [Node.Member("name", .text(rule.matchName))] }
        let pattern = carry(rule.matchName, isCaseSensitive: false)
        return [Node.Member("name", .text(pattern?.text ?? rule.matchName)), Node.Member("name-regex", .word("true"))]
    }

    /// The value to match, and the new value, in the form of profiles.
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
            // A profile would read `\/` at the beginning as an escaped slash.
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

    /// Converts a regular expression; if that is not possible, the rule is skipped.
    private mutating func carry(_ source: String, isCaseSensitive: Bool) -> JavaExpression.Pattern? {
        do {
            let pattern = try JavaExpression.pattern(source, isCaseSensitive: isCaseSensitive)
            entry.notes += pattern.notes
            return pattern
        } catch {
            entry.skipped = entry.skipped ?? error.reason
            return nil
        }
    }

    /// Converts a replacement; if that is not possible, the rule is skipped.
    private mutating func carry(_ source: String, for pattern: JavaExpression.Pattern) -> String {
        do {
            let replacement = try JavaExpression.replacement(source, for: pattern)
            entry.notes += replacement.notes
            return replacement.text
        } catch {
            entry.skipped = entry.skipped ?? error.reason
            return source
        }
    }

    /// An empty new value keeps the value of a header or parameter, and deletes the match in everything else.
    private mutating func modify() {
        entry.fields += name()
        let (match, to) = value()
        entry.fields += match
        let escaped = ValueTemplate.escaped(to)
        switch rule.kind {
        case .modifyHeader, .modifyQuery:
            // Charles' users often repeat the old name as the new name.
            let isRenamed = !rule.newName.isEmpty && rule.newName != rule.matchName
            if isRenamed { entry.fields["rename"] = .text(newName()) }
            if !rule.newValue.isEmpty { entry.fields["to"] = .text(escaped) }
            if !isRenamed, rule.newValue.isEmpty { entry.skipped = entry.skipped ?? "it changes nothing" }
        case .status:
            if rule.newValue.trimmed.isEmpty { entry.skipped = entry.skipped ?? "it has no new status" }
            entry.fields["to"] = .text(escaped.trimmed)
        case .host, .path, .url:
            if rule.matchValue.isEmpty, rule.newValue.isEmpty { entry.skipped = entry.skipped ?? "it changes nothing" }
            entry.fields["to"] = .text(escaped)
        default: entry.fields["to"] = .text(escaped)
        }
        let replaces =
            !rule.matchValue.isEmpty && (!rule.newValue.isEmpty || !rule.kind.hasName) && rule.kind != .status
        if rule.replacesFirst, replaces { entry.fields["replace"] = .text("first") }
    }

    /// The new name, which may refer to groups of the regular expression for the old name.
    private mutating func newName() -> String {
        guard rule.isNameExpression, !rule.matchName.isEmpty,
            let pattern = try? JavaExpression.pattern(rule.matchName, isCaseSensitive: false)
        else { return rule.newName }
        return carry(rule.newName, for: pattern)
    }
}
