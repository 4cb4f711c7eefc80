import HTTPModel
import Rules
import Runner
import Tools

/// What is another in one set of rules than in the one before, in words.
struct RuleDifference {
    /// A part of a sentence each; empty where the rules are the same.
    private(set) var parts: [String] = []
    /// Whether all messages are held from now on.
    private(set) var holdsEverything = false

    /// The most rules of a tool that are named.
    private static let mostNamed = 2

    init(from old: [ProfileSource], to new: [ProfileSource]) {
        let (did, does) = (RuleEditing.ruleOnEverything(in: old) != nil, RuleEditing.ruleOnEverything(in: new) != nil)
        if does, !did {
            holdsEverything = true
            parts.append("every request and response is held again")
        } else if did, !does {
            parts.append("not everything is held any more")
        }
        for tool in Tool.all {
            let words = Self.words(Self.rules(of: tool, in: old), Self.rules(of: tool, in: new))
            if !words.isEmpty { parts.append("\(tool.key): \(words)") }
        }
        let (wasOff, isOff) = (Self.off(old), Self.off(new))
        parts += wasOff.subtracting(isOff).sorted().map { "\($0) is switched on again" }
        parts += isOff.subtracting(wasOff).sorted().map { "\($0) is switched off again" }
    }

    private static func off(_ texts: [ProfileSource]) -> Set<String> {
        Set(texts.flatMap { RuleEditing.profile($0).off })
    }

    /// The rules of a tool, but for the one by which it acts on everything.
    private static func rules(of tool: Tool, in texts: [ProfileSource]) -> [EditableRule] {
        let everything = ToolRegistry.standard.onEverything == tool ? tool.onEverything?.word("name") : nil
        return RuleEditing.rules(of: tool, in: texts).map(\.rule).filter { everything == nil || $0.name != everything }
    }

    private static func words(_ old: [EditableRule], _ new: [EditableRule]) -> String {
        let (before, after) = (Set(old.map(\.yaml)), Set(new.map(\.yaml)))
        let gone = old.filter { !after.contains($0.yaml) }
        let back = new.filter { !before.contains($0.yaml) }
        if gone.count == 1, back.count == 1, let was = gone.first, let now = back.first {
            guard was.isEnabled != now.isEnabled else { return "\(now.title) is as before" }
            return "\(now.title) is \(now.isEnabled ? "on" : "off") again"
        }
        let parts = [(back, "back"), (gone, "gone")].filter { !$0.0.isEmpty }.map { "\(names($0.0)) \($0.1)" }
        guard parts.isEmpty else { return parts.joined(separator: ", ") }
        return old.map(\.yaml) == new.map(\.yaml) ? "" : "its rules stand as before"
    }

    private static func names(_ rules: [EditableRule]) -> String {
        guard rules.count <= mostNamed else { return "\(rules.count) rules are" }
        return rules.map(\.title).joined(separator: " and ") + (rules.count == 1 ? " is" : " are")
    }
}
