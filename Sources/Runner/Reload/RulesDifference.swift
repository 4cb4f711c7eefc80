import ExchangeCore
package import Rules
import Tools

/// What a changed profile comes to, in words for a log line: `2 rules added, 1 changed, 1 now shadowed`.
package struct RulesDifference: Sendable, Hashable, CustomStringConvertible {
    /// Rules that were not there before.
    package private(set) var added = 0
    /// Rules that say something else than before.
    package private(set) var changed = 0
    /// Rules that are not there any more.
    package private(set) var removed = 0
    /// Rules that an earlier one now keeps from acting.
    package private(set) var shadowed = 0
    /// Other things that are allowed but hardly meant, and were not there before.
    package private(set) var lints = 0
    /// What else has changed: `intercept`, `access`, and tools that were switched off or on.
    package private(set) var others: [String] = []

    /// Compares two profiles; `nil` is one without anything.
    package init(before: RuleProfile?, after: RuleProfile?) {
        compareRules(ComparedRule.all(of: before), ComparedRule.all(of: after))
        let known = Set((before?.lints ?? []).map(\.message))
        // Each shadowed rule has a lint of its own.
        lints = max(0, (after?.lints ?? []).count { !known.contains($0.message) } - shadowed)
        let (intercept, now) = (before?.intercept ?? InterceptRules(), after?.intercept ?? InterceptRules())
        if intercept != now { others.append("intercept changed") }
        if before?.access ?? [] != after?.access ?? [] { others.append("access changed") }
        let offBefore = before?.off ?? []
        let offAfter = after?.off ?? []
        others += offAfter.subtracting(offBefore).sorted().map { "\($0.name) switched off" }
        others += offBefore.subtracting(offAfter).sorted().map { "\($0.name) switched on" }
    }

    /// The difference in words; says so where there is none.
    package var description: String {
        var parts: [String] = []
        func add(_ count: Int, _ what: String) {
            guard count > 0 else { return }
            let noun = parts.isEmpty ? (count == 1 ? " rule" : " rules") : ""
            parts.append("\(count)\(noun) \(what)")
        }
        add(added, "added")
        add(changed, "changed")
        add(removed, "removed")
        add(shadowed, "now shadowed")
        parts += others
        if lints > 0 { parts.append("\(lints) new warning\(lints == 1 ? "" : "s")") }
        return parts.isEmpty ? "no rule has changed" : parts.joined(separator: ", ")
    }

    /// Pairs rules tool by tool: first those that are the same, then those of one name, then those for the same
    /// requests; what is left has come or gone.
    private mutating func compareRules(_ before: [Tool: [ComparedRule]], _ after: [Tool: [ComparedRule]]) {
        for tool in ToolRegistry.standard.inOrder {
            var old = before[tool] ?? []
            var new = after[tool] ?? []
            shadowed += new.count { rule in rule.isShadowed && !old.contains { $0.isShadowed && $0 == rule } }
            RulesDifference.pair(&old, &new) { $0 == $1 }
            let renamed = RulesDifference.pair(&old, &new) { $0.name != nil && $0.name == $1.name }
            let redone = RulesDifference.pair(&old, &new) {
                ($0.name == nil || $1.name == nil) && $0.heading.scope == $1.heading.scope
            }
            let moved = RulesDifference.pair(&old, &new) {
                ($0.name == nil || $1.name == nil) && $0.heading.action == $1.heading.action
            }
            changed += renamed + redone + moved
            added += new.count
            removed += old.count
        }
    }

    /// Takes out what belongs together; returns how many pairs there were.
    @discardableResult
    private static func pair(
        _ old: inout [ComparedRule],
        _ new: inout [ComparedRule],
        _ belongTogether: (ComparedRule, ComparedRule) -> Bool
    ) -> Int {
        let before = new.count
        new.removeAll { rule in
            guard let place = old.firstIndex(where: { belongTogether($0, rule) }) else { return false }
            old.remove(at: place)
            return true
        }
        return before - new.count
    }
}

/// A rule and what it says, so that a change is seen whatever it is about.
private struct ComparedRule: Equatable {
    var heading: RuleHeading
    /// The name that it was given; `nil` for one that only counts.
    var name: String?
    var text: String
    /// Whether an earlier rule keeps it from acting.
    var isShadowed: Bool

    static func == (left: ComparedRule, right: ComparedRule) -> Bool {
        left.name == right.name && left.text == right.text && left.heading.scope == right.heading.scope
            && left.heading.action == right.heading.action && left.heading.isEnabled == right.heading.isEnabled
    }

    static func all(of profile: RuleProfile?) -> [Tool: [ComparedRule]] {
        guard let profile else { return [:] }
        let texts = profile.ruleTexts
        return profile.tools.reduce(into: [:]) { all, tool in
            all[tool.tool] = tool.rules.enumerated().map { index, heading in
                let isCounted = heading.name.hasPrefix("rule ") && Int(heading.name.dropFirst(5)) != nil
                return ComparedRule(
                    heading: heading,
                    name: isCounted ? nil : heading.name,
                    text: texts[heading.place] ?? "",
                    isShadowed: tool.shadows[index] != nil
                )
            }
        }
    }
}
