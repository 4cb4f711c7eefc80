import HTTPModel
import Rules
import Runner
import Tools

enum RuleEditing {
    struct Entry: Sendable, Hashable {
        var text: Int
        var rule: EditableRule
    }

    static func rules(of tool: Tool, in texts: [ProfileSource]) -> [Entry] {
        texts.indices.flatMap { index in
            let rules = (try? profile(texts[index]).rules(of: tool.section)) ?? []
            return rules.map { Entry(text: index, rule: $0) }
        }
    }

    static func preset(in texts: [ProfileSource]) -> String? {
        guard let tool = ToolRegistry.standard.withPresets else { return nil }
        return texts.lazy.compactMap { profile($0).preset(of: tool) }.first
    }

    static func ownPresets(in texts: [ProfileSource]) -> [String] {
        guard let tool = ToolRegistry.standard.withPresets else { return [] }
        return texts.flatMap { profile($0).definedNames(for: tool) }
    }

    /// Replaces a rule, or adds one after the last of its tool, in a new text if there is none.
    static func put(
        _ yaml: String,
        _ tool: Tool,
        replacing index: Int?,
        in texts: [ProfileSource]
    ) throws -> [ProfileSource] {
        let (old, last) = entry(index, of: tool, in: texts)
        if let old { return try edit(texts, old.text) { try $0.replace(old.rule.id, with: RuleText(yaml)) } }
        return try edit(texts, last?.text ?? texts.count - 1) { try $0.insert(RuleText(yaml), into: tool.section) }
    }

    /// The rule of a tool by its number from 0, and the last one.
    private static func entry(_ index: Int?, of tool: Tool, in texts: [ProfileSource]) -> (named: Entry?, last: Entry?)
    {
        let known = rules(of: tool, in: texts)
        return (index.flatMap { known.indices.contains($0) ? known[$0] : nil }, known.last)
    }

    static func words(_ tool: Tool, replacing index: Int?, in texts: [ProfileSource]) -> String {
        let (changed, last) = entry(index, of: tool, in: texts)
        guard let rule = (changed ?? last)?.rule else { return "" }
        let state = rule.isEnabled ? "it is active" : "it is off"
        return "\(tool.key): \(rule.title) \(changed == nil ? "added" : "changed"); \(state)."
    }

    /// The profile that a rule belongs to, and the rule that it replaces there; `nil` for a new one.
    static func place(
        of tool: Tool,
        replacing index: Int?,
        in texts: [ProfileSource]
    ) -> (profile: EditableProfile, replaced: EditableRule.ID?) {
        let (replaced, last) = entry(index, of: tool, in: texts)
        let text = (replaced ?? last).map { texts[$0.text] } ?? texts.last
        return (text.map(profile) ?? EditableProfile(text: "", file: nil), replaced?.rule.id)
    }

    static func edit(
        _ texts: [ProfileSource],
        _ index: Int,
        _ body: (inout EditableProfile) throws -> Void
    ) throws -> [ProfileSource] {
        var profile = EditableProfile(text: texts[index].text, file: texts[index].file, among: texts)
        try body(&profile)
        var texts = texts
        texts[index].text = profile.text
        return texts
    }

    static func ruleOnEverything(in texts: [ProfileSource]) -> Entry? {
        guard let tool = ToolRegistry.standard.onEverything, let text = tool.onEverything else { return nil }
        return rules(of: tool, in: texts).first { $0.rule.isEnabled && $0.rule.name == text.word("name") }
    }

    /// The texts with the tools that have rules and are switched off now listed under `off`, and no others.
    static func noting(_ tools: [ToolState], in texts: [ProfileSource]) throws -> [ProfileSource] {
        let state = Dictionary(tools.map { ($0.name, $0.isOn) }) { first, _ in first }
        let listed = Set(texts.flatMap { profile($0).off })
        var texts = texts
        for index in texts.indices {
            let kept = profile(texts[index]).off.filter { state[$0] != true }
            let new = tools.filter { tool in
                guard !tool.isOn, tool.rules > 0, !listed.contains(tool.name) else { return false }
                return Tool(word: tool.name).flatMap { rules(of: $0, in: texts).first?.text } == index
            }
            let wanted = kept + new.map(\.name)
            guard wanted != profile(texts[index]).off else { continue }
            texts = try edit(texts, index) { try $0.setOff(wanted) }
        }
        return texts
    }

    /// Which hosts the texts have decrypted; every one if the texts cannot be read.
    static func intercept(of texts: [ProfileSource]) -> InterceptRules {
        (try? RuleProfile(sources: texts))?.intercept ?? InterceptRules()
    }

    static func profile(_ text: ProfileSource) -> EditableProfile { EditableProfile(text: text.text, file: text.file) }
}

struct RuleDifference {
    private(set) var parts: [String] = []
    let holdsEverything: Bool

    private static let mostNamed = 2

    init(from old: [ProfileSource], to new: [ProfileSource]) {
        let (did, does) = (RuleEditing.ruleOnEverything(in: old) != nil, RuleEditing.ruleOnEverything(in: new) != nil)
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
