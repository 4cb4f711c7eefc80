import ExchangeCore
package import Stages

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
        compareRules(RuleText.all(of: before), RuleText.all(of: after))
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
    private mutating func compareRules(_ before: [Tool: [RuleText]], _ after: [Tool: [RuleText]]) {
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
        _ old: inout [RuleText],
        _ new: inout [RuleText],
        _ belongTogether: (RuleText, RuleText) -> Bool
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

/// A rule and how it is written, so that a change is seen whatever it is about.
private struct RuleText: Equatable {
    var heading: RuleHeading
    /// The name that it was given; `nil` for one that only counts.
    var name: String?
    var lines: [String]
    /// Whether an earlier rule keeps it from acting.
    var isShadowed: Bool

    static func == (left: RuleText, right: RuleText) -> Bool {
        left.name == right.name && left.lines == right.lines && left.heading.scope == right.heading.scope
            && left.heading.action == right.heading.action && left.heading.isEnabled == right.heading.isEnabled
    }

    static func all(of profile: RuleProfile?) -> [Tool: [RuleText]] {
        guard let profile else { return [:] }
        let texts = Dictionary(
            profile.sources.map { ($0.file, $0.text.split(separator: "\n", omittingEmptySubsequences: false)) }
        ) { first, _ in first }
        return profile.tools.reduce(into: [:]) { all, tool in
            let shadows = tool.shadows
            all[tool.tool, default: []] += tool.rules.enumerated().map { index, heading in
                RuleText(heading, isShadowed: shadows[index] != nil, texts[heading.place.file] ?? [])
            }
        }
    }

    /// Takes the rule's text out of its file.
    private init(_ heading: RuleHeading, isShadowed: Bool, _ file: [Substring]) {
        self.heading = heading
        self.isShadowed = isShadowed
        let isCounted = heading.name.hasPrefix("rule ") && Int(heading.name.dropFirst(5)) != nil
        name = isCounted ? nil : heading.name
        let first = heading.place.line - 1
        guard file.indices.contains(first) else {
            lines = []
            return
        }
        var text = file[first...]
        text[first] = text[first].dropFirst(heading.place.column - 1)
        lines =
            text[first].first == "{" ? RuleText.braces(text) : RuleText.block(text, indent: heading.place.column - 1)
    }

    /// The line that a rule begins in, and those after it that are indented as far.
    private static func block(_ file: ArraySlice<Substring>, indent: Int) -> [String] {
        var lines: [String] = []
        for (number, line) in zip(file.indices, file) {
            let text = withoutComment(line.drop { $0 == " " })
            if text.isEmpty { continue }
            if number > file.startIndex, line.prefix(while: { $0 == " " }).count < indent { break }
            lines.append(text)
        }
        return lines
    }

    /// What a rule has between its braces, which may be one of several on a line.
    private static func braces(_ file: ArraySlice<Substring>) -> [String] {
        var lines: [String] = []
        var depth = 0
        var quote: Character?
        for line in file {
            var kept = ""
            for character in withoutComment(line.drop { $0 == " " }) {
                kept.append(character)
                if let open = quote {
                    if character == open { quote = nil }
                } else if "\"'".contains(character) {
                    quote = character
                } else if "{}".contains(character) {
                    depth += character == "{" ? 1 : -1
                    if depth == 0 { return lines + [kept] }
                }
            }
            lines.append(kept)
        }
        return lines
    }

    /// A line without its comment, which begins with a `#` after a blank and outside of quotes.
    private static func withoutComment(_ line: Substring) -> String {
        var kept = ""
        var quote: Character?
        for character in line {
            if quote == nil, character == "#", kept.last?.isWhitespace ?? true { break }
            if quote == nil, "\"'".contains(character) {
                quote = character
            } else if quote == character {
                quote = nil
            }
            kept.append(character)
        }
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return kept
    }
}
