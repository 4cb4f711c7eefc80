import HTTPModel
import Rules
import Runner
import Tools

struct RuleEntry: Sendable, Hashable {
    /// The index of the profile text that contains the rule.
    var text: Int
    var rule: EditableRule
}

extension ProfileSource {
    var editable: EditableProfile { EditableProfile(text: text, file: file) }
}

extension [ProfileSource] {
    func rules(of tool: Tool) -> [RuleEntry] {
        indices.flatMap { index in
            let rules = (try? self[index].editable.rules(of: tool.section)) ?? []
            return rules.map { RuleEntry(text: index, rule: $0) }
        }
    }

    var preset: String? {
        guard let tool = ToolRegistry.standard.withPresets else { return nil }
        return lazy.compactMap { $0.editable.preset(of: tool) }.first
    }

    var ownPresets: [String] {
        guard let tool = ToolRegistry.standard.withPresets else { return [] }
        return flatMap { $0.editable.definedNames(for: tool) }
    }

    /// Replaces a rule, or adds one after the last rule of its tool; if the tool has no rules, to the last text.
    func putting(_ yaml: String, _ tool: Tool, replacing index: Int?) throws -> Self {
        let (old, last) = entry(index, of: tool)
        if let old { return try edited(old.text) { try $0.replace(old.rule.id, with: RuleText(yaml)) } }
        return try edited(last?.text ?? count - 1) { try $0.insert(RuleText(yaml), into: tool.section) }
    }

    /// The rule of a tool by its number from 0, and the tool's last rule.
    private func entry(_ index: Int?, of tool: Tool) -> (named: RuleEntry?, last: RuleEntry?) {
        let known = rules(of: tool)
        return (index.flatMap { known.indices.contains($0) ? known[$0] : nil }, known.last)
    }

    func words(_ tool: Tool, replacing index: Int?) -> String {
        let (changed, last) = entry(index, of: tool)
        guard let rule = (changed ?? last)?.rule else { return "" }
        let state = rule.isEnabled ? "it is active" : "it is off"
        return "\(tool.key): \(rule.title) \(changed == nil ? "added" : "changed"); \(state)."
    }

    /// The profile for a rule, and the id of the rule to replace in it; `nil` for a new rule.
    func place(of tool: Tool, replacing index: Int?) -> (profile: EditableProfile, replaced: EditableRule.ID?) {
        let (replaced, last) = entry(index, of: tool)
        let text = (replaced ?? last).map { self[$0.text] } ?? self.last
        return (text?.editable ?? EditableProfile(text: "", file: nil), replaced?.rule.id)
    }

    func edited(_ index: Int, _ body: (inout EditableProfile) throws -> Void) throws -> Self {
        var profile = EditableProfile(text: self[index].text, file: self[index].file, among: self)
        try body(&profile)
        var texts = self
        texts[index].text = profile.text
        return texts
    }

    var ruleOnEverything: RuleEntry? {
        guard let tool = ToolRegistry.standard.onEverything, let text = tool.onEverything else { return nil }
        return rules(of: tool).first { $0.rule.isEnabled && $0.rule.name == text.word("name") }
    }

    /// The texts, with `off` updated: tools that are on are removed, switched-off tools that have rules are added.
    func noting(_ tools: [ToolState]) throws -> Self {
        let state = Dictionary(tools.map { ($0.name, $0.isOn) }) { first, _ in first }
        let listed = Set(flatMap { $0.editable.off })
        var texts = self
        for index in texts.indices {
            let kept = texts[index].editable.off.filter { state[$0] != true }
            let new = tools.filter { tool in
                guard !tool.isOn, tool.rules > 0, !listed.contains(tool.name) else { return false }
                return Tool(word: tool.name).flatMap { texts.rules(of: $0).first?.text } == index
            }
            let wanted = kept + new.map(\.name)
            guard wanted != texts[index].editable.off else { continue }
            texts = try texts.edited(index) { try $0.setOff(wanted) }
        }
        return texts
    }

    /// The hosts that the texts decrypt; all hosts if the texts cannot be read.
    var intercept: InterceptRules {
        let profile = try? RuleProfile(sources: self, tools: .standard, variables: .forRecordedRules)
        return profile?.intercept ?? InterceptRules()
    }
}

struct RuleDifference {
    private(set) var parts: [String] = []
    let holdsEverything: Bool

    private static let mostNamed = 2

    init(from old: [ProfileSource], to new: [ProfileSource]) {
        let (did, does) = (old.ruleOnEverything != nil, new.ruleOnEverything != nil)
        holdsEverything = does && !did
        if holdsEverything { parts.append("every request and response is held again") }
        if did, !does { parts.append("messages are no longer all held") }
        for tool in Tool.all {
            let words = Self.words(Self.rules(of: tool, in: old), Self.rules(of: tool, in: new))
            if !words.isEmpty { parts.append("\(tool.key): \(words)") }
        }
        let (wasOff, isOff) = (Self.off(old), Self.off(new))
        parts += wasOff.subtracting(isOff).sorted().map { "\($0) is switched on again" }
        parts += isOff.subtracting(wasOff).sorted().map { "\($0) is switched off again" }
    }

    private static func off(_ texts: [ProfileSource]) -> Set<String> { Set(texts.flatMap { $0.editable.off }) }

    /// The rules of a tool without the rule that makes it act on everything.
    private static func rules(of tool: Tool, in texts: [ProfileSource]) -> [EditableRule] {
        let everything = ToolRegistry.standard.onEverything == tool ? tool.onEverything?.word("name") : nil
        return texts.rules(of: tool).map(\.rule).filter { everything == nil || $0.name != everything }
    }

    private static func words(_ old: [EditableRule], _ new: [EditableRule]) -> String {
        let (before, after) = (Set(old.map(\.yaml)), Set(new.map(\.yaml)))
        let gone = old.filter { !after.contains($0.yaml) }
        let back = new.filter { !before.contains($0.yaml) }
        if gone.count == 1, back.count == 1, let was = gone.first, let now = back.first {
            guard was.isEnabled != now.isEnabled else { return "\(now.title) is restored" }
            return "\(now.title) is \(now.isEnabled ? "on" : "off") again"
        }
        let parts = [(back, "back"), (gone, "gone")].filter { !$0.0.isEmpty }.map { "\(names($0.0)) \($0.1)" }
        guard parts.isEmpty else { return parts.joined(separator: ", ") }
        return old.map(\.yaml) == new.map(\.yaml) ? "" : "the order of its rules is restored"
    }

    private static func names(_ rules: [EditableRule]) -> String {
        guard rules.count <= mostNamed else { return "\(rules.count) rules are" }
        return rules.map(\.title).joined(separator: " and ") + (rules.count == 1 ? " is" : " are")
    }
}
