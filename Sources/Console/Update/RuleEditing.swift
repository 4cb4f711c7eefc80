import HTTPModel
import Rules
import Runner
import Tools

/// The rules of all profile texts together, and changes of them.
enum RuleEditing {
    struct Entry: Sendable, Hashable {
        var text: Int
        var rule: EditableRule
    }

    /// The rules of a tool, in the order in which they apply.
    static func rules(of tool: Tool, in texts: [ProfileSource]) -> [Entry] {
        texts.indices.flatMap { index in
            let rules = (try? profile(texts[index]).rules(of: tool.section)) ?? []
            return rules.map { Entry(text: index, rule: $0) }
        }
    }

    /// The preset that is in force for everything; `nil` for none.
    static func preset(in texts: [ProfileSource]) -> String? {
        guard let tool = ToolRegistry.standard.withPresets else { return nil }
        return texts.lazy.compactMap { profile($0).preset(of: tool) }.first
    }

    /// The presets that the profile defines, by name.
    static func ownPresets(in texts: [ProfileSource]) -> [String] {
        guard let tool = ToolRegistry.standard.withPresets else { return [] }
        return texts.flatMap { profile($0).definedNames(for: tool) }
    }

    /// Replaces a rule, or adds one after the last of its tool, in a new text where there is none.
    static func put(
        _ yaml: String,
        _ tool: Tool,
        replacing index: Int?,
        in texts: [ProfileSource]
    ) throws -> [ProfileSource] {
        let known = rules(of: tool, in: texts)
        if let index, known.indices.contains(index) {
            return try edit(texts, known[index].text) { try $0.replace(known[index].rule.id, with: RuleText(yaml)) }
        }
        let place = known.last?.text ?? texts.count - 1
        return try edit(texts, place) { try $0.insert(RuleText(yaml), into: tool.section) }
    }

    static func words(_ tool: Tool, replacing index: Int?, in texts: [ProfileSource]) -> String {
        let known = rules(of: tool, in: texts)
        let isNew = index.map { !known.indices.contains($0) } ?? true
        guard let rule = isNew ? known.last?.rule : known[index ?? 0].rule else { return "" }
        let state = rule.isEnabled ? "it is in force" : "it is switched off"
        return "\(tool.key): \(rule.title) \(isNew ? "added" : "changed"); \(state)."
    }

    /// The profile that a rule belongs to, and the rule that it replaces there; `nil` for a new one.
    static func place(
        of tool: Tool,
        replacing index: Int?,
        in texts: [ProfileSource]
    ) -> (profile: EditableProfile, replaced: EditableRule.ID?) {
        let known = rules(of: tool, in: texts)
        let entry = index.flatMap { known.indices.contains($0) ? known[$0] : nil }
        let text = (entry ?? known.last).map { texts[$0.text] } ?? texts.last
        return (text.map(profile) ?? EditableProfile(text: "", file: nil), entry?.rule.id)
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

    /// The enabled rule by which one key has a tool act on everything.
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

    static func profile(_ text: ProfileSource) -> EditableProfile {
        EditableProfile(text: text.text, file: text.file)
    }
}

extension Tool {
    var section: ProfileSection { .tool(self) }
}
