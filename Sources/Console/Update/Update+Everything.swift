import Rules
import Runner
import Tools

extension ConsoleModel {
    /// Has every request and every response held, or stops that.
    mutating func switchEverything() -> [Effect] {
        guard let tool = ToolRegistry.standard.onEverything, let rule = tool.onEverything else { return [] }
        do {
            if let entry = RuleEditing.ruleOnEverything(in: rules.texts) {
                let texts = try RuleEditing.edit(rules.texts, entry.text) { try $0.remove(entry.rule.id) }
                let count = proxy.holds.count
                let waiting = LinearSentence.count(count, "message")
                let rest =
                    count > 0 ? " \(waiting) still wait\(count == 1 ? "s" : ""); \(way(to: .holds)) shows them." : ""
                return apply(texts, "Nothing more is held by it.\(rest)")
            }
            let texts = try RuleEditing.put(rule.yaml, tool, replacing: nil, in: rules.editableTexts)
            let stop = way(to: .breakEverything)
            return switchOn(tool) + apply(texts, "Every request and response is held from now on; \(stop) stops that.")
        } catch {
            return refuse("\(error)")
        }
    }
}
