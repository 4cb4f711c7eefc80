import ExchangeCore
import HTTPModel
import Rules
import Tools

/// Rewrite sets and their rules, back to Charles.
extension CharlesConverting {
    mutating func rewriteSet(_ rule: WrittenRule) -> CharlesRewriteSet? {
        let name = rule.text("name") ?? "set \(rule.number)"
        var notes = scopeNotes(rule)
        let places = locations(rule, "at", &notes).map { CharlesPlace($0) }
        var set = CharlesRewriteSet(name: name, isActive: rule.isEnabled, locations: places, rules: [])
        let nodes = rule["rules"]?.members ?? []
        if nodes.isEmpty || !notes.isEmpty { report.add("rewrite '\(name)'", notes: notes) }
        for (position, node) in nodes.enumerated() {
            let inner = WrittenRule(tool: .rewrite, number: position + 1, directory: rule.directory, node: node)
            if let converted = rewriteRule(inner, of: name) { set.rules.append(converted) }
        }
        return set
    }

    private mutating func rewriteRule(_ rule: WrittenRule, of set: String) -> CharlesRewriteRule? {
        let verb = ["add", "modify", "remove"].first { rule[$0] != nil } ?? ""
        let target = rule.text(verb) ?? ""
        guard let kind = CharlesRewriteRule.Kind.allCases.first(where: { $0.verb == verb && $0.target == target })
        else {
            report.add("rewrite '\(set)' \(rule.number): \(verb) \(target)", .skipped(why: "Charles has no such rule"))
            return nil
        }
        var converting = RewriteRuleConverting(rule: rule, result: CharlesRewriteRule(kind))
        converting.run()
        let name = rule.text("name") ?? ""
        let words = "rewrite '\(set)' \(rule.number): \(kind.words)\(name.isEmpty ? "" : " \(name)")"
        report.add(words, notes: converting.notes)
        return converting.result
    }
}

/// Makes Charles' rule of one rewrite rule.
private struct RewriteRuleConverting {
    let rule: WrittenRule
    var result: CharlesRewriteRule
    var notes: [String] = []

    mutating func run() {
        let kind = result.kind
        result.isActive = rule.isEnabled
        if kind.hasDirection {
            let directions = rule.texts("on")
            result.onRequest = directions.contains("request")
            result.onResponse = directions.contains("response")
        }
        result.replacesFirst = rule.text("replace") == "first"
        result.newValue = rule.text("to") ?? ""
        if kind.verb == "add" {
            result.newName = rule.text("name") ?? ""
            if let condition = rule["if"] {
                pattern(WrittenRule(tool: .rewrite, number: 0, directory: "", node: condition))
            }
        } else {
            result.newName = rule.text("rename") ?? ""
            pattern(rule)
        }
        let texts = [result.matchName, result.matchValue, result.newName, result.newValue]
        if !texts.allSatisfy(XMLElement.canHold) {
            notes.append("a character that XML cannot have is written as U+FFFD")
        }
    }

    /// The name, the value, or both that the rule looks for.
    private mutating func pattern(_ fields: WrittenRule) {
        result.matchName = fields.text("name") ?? ""
        if result.kind.hasName, fields.flag("name-regex") {
            result.isNameExpression = true
            result.matchName = java(result.matchName)
            if result.kind.verb != "add" { result.newName = JavaExpression.javaReplacement(result.newName) }
        }
        result.isCaseSensitive = fields.flag("case")
        result.matchesWhole = fields.flag("whole")
        let text = fields.text("match") ?? ""
        if let expression = TextPattern.expression(in: text) {
            result.isValueExpression = true
            result.matchValue = java(expression)
            result.newValue = JavaExpression.javaReplacement(result.newValue)
        } else {
            result.matchValue = TextPattern.plain(text)
        }
    }

    private mutating func java(_ pattern: String) -> String {
        let java = JavaExpression.javaPattern(pattern)
        notes += java.notes
        return java.text
    }
}
