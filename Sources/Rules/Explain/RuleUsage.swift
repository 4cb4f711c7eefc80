package import ExchangeCore

/// Counts how many recorded requests each rule of a profile matches. If a tool's first matching rule decides, only that
/// rule is counted. A rule's scope counts, not whether the rule changes a message.
package struct RuleUsage: Sendable {
    package struct Entry: Sendable {
        package let tool: StageID
        package let rule: RuleHeading
        /// How many requests the rule matched; `nil` if it has a condition besides its scope, or is not in force.
        package fileprivate(set) var count: Int?
        /// The first few of these requests.
        package fileprivate(set) var samples: [String] = []
    }

    /// In the order of the tools and of the profile.
    package private(set) var entries: [Entry] = []
    package private(set) var requests = 0

    /// Each with the index of its first entry.
    private var tools: [(index: RuleIndex, isFirst: Bool, base: Int)] = []
    private static let mostSamples = 3

    package init(_ profile: RuleProfile) {
        for tool in profile.tools {
            let (id, isFirst, countable) = (tool.tool.id, tool.tool.selection == .first, tool.countable)
            tools.append((RuleIndex(countable), isFirst, entries.count))
            let isOff = profile.off.contains(id)
            entries += zip(tool.rules, countable).map { rule, countable in
                Entry(tool: id, rule: rule, count: countable.isEnabled && !isOff ? 0 : nil)
            }
        }
    }

    /// The conditions of rules in force.
    package var conditions: [RuleCondition] { entries.compactMap { $0.count == nil ? nil : $0.rule.condition } }

    /// Counts a request; `sample` is its name, which is kept if the request is one of a rule's first.
    package mutating func add(
        _ opening: ExchangeOpening,
        sample: @autoclosure () -> String,
        holds: (RuleCondition) -> Bool
    ) {
        requests += 1
        for tool in tools {
            let rules = tool.index.all(opening).map(\.rule).filter { rule in
                entries[tool.base + rule].rule.condition.map(holds) ?? true
            }
            for rule in tool.isFirst ? Array(rules.prefix(1)) : rules {
                let entry = tool.base + rule
                guard let count = entries[entry].count else { continue }
                entries[entry].count = count + 1
                if count < RuleUsage.mostSamples { entries[entry].samples.append(sample()) }
            }
        }
    }

    /// Each rule with its count and samples, and the rules that matched no request.
    package var text: String {
        var text = "\(requests) request\(requests == 1 ? "" : "s")\n"
        var tool: StageID?
        for entry in entries {
            if entry.tool != tool { text += "\n\(entry.tool.name)\n" }
            tool = entry.tool
            let count =
                entry.count.map { $0 == 0 ? "none" : String($0) }
                ?? (entry.rule.isEnabled ? "not counted" : "disabled")
            text += "  \(entry.rule.name)  (\(entry.rule.place)): \(count)\n"
            for sample in entry.samples { text += "      \(sample)\n" }
        }
        let unused = entries.filter { $0.count == 0 }.map { "\($0.tool.name)/\($0.rule.name)" }
        return text + (unused.isEmpty ? "" : "\nmatched no request: \(unused.joined(separator: ", "))\n")
    }
}

extension ToolOutline {
    /// The rules; rules with conditions besides their scope are disabled.
    fileprivate var countable: [RuleHeading] {
        rules.map { heading in
            var heading = heading
            if !tool.isWholeScope(heading) { heading.isEnabled = false }
            return heading
        }
    }
}
