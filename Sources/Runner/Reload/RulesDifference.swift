import ExchangeCore
package import Rules
import Tools

/// A log line such as `2 rules added, 1 changed, 1 now shadowed`.
package struct RulesDifference: Sendable, Hashable, CustomStringConvertible {
    package private(set) var added = 0
    package private(set) var changed = 0
    package private(set) var removed = 0
    /// Rules that an earlier one now covers.
    package private(set) var shadowed = 0
    package private(set) var lints = 0
    /// Changes of `intercept`, `record`, `upstream`, `client-certificate`, `replay` and `access`, and switched tools.
    package private(set) var others: [String] = []

    /// `nil` is an empty profile.
    package init(before: RuleProfile?, after: RuleProfile?) {
        compareRules(ComparedRule.all(of: before), ComparedRule.all(of: after))
        let known = Set((before?.lints ?? []).map(\.message))
        // Each shadowed rule has a lint.
        lints = max(0, (after?.lints ?? []).count { !known.contains($0.message) } - shadowed)
        let none = InterceptRules()
        if before?.intercept ?? none != after?.intercept ?? none { others.append("intercept changed") }
        if before?.record.text != after?.record.text { others.append("record changed") }
        if before?.replay.text != after?.replay.text { others.append("replay changed (for the next start)") }
        if before?.upstream.texts ?? [] != after?.upstream.texts ?? [] { others.append("upstream changed") }
        if before?.clientCertificates.texts ?? [] != after?.clientCertificates.texts ?? [] {
            others.append("client-certificate changed")
        }
        if before?.access ?? [] != after?.access ?? [] { others.append("access changed") }
        let (offBefore, offAfter) = (before?.off ?? [], after?.off ?? [])
        others += offAfter.subtracting(offBefore).sorted().map { "\($0.name) switched off" }
        others += offBefore.subtracting(offAfter).sorted().map { "\($0.name) switched on" }
    }

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

    /// Pairs rules that are equal, then rules with the same name, then rules with the same requests or the same action.
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

    /// Removes the pairs from both lists; returns their number.
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

/// A rule with its text, so that any change is found.
private struct ComparedRule: Equatable {
    var heading: RuleHeading
    var name: String?
    var text: String
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
