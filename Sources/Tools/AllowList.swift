import ExchangeCore
import HTTPModel
package import Rules

/// The allow list: only requests that match one of its rules pass.
struct AllowList: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let refusal: Refusal?
    }

    private let rules: RuleList<Rule>
    private let refusal: Refusal

    init(rules: RuleList<Rule>) {
        self.rules = rules
        refusal = rules.all.lazy.filter(\.heading.isEnabled).compactMap(\.refusal).first ?? .answer(403)
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        rules.first(opening) == nil ? refusal.handler(nil, because: "no location of the allow list matches") : nil
    }
}

extension AllowList {
    static let descriptor = ToolDescriptor(
        "allow",
        order: 100,
        title: "Allow list",
        letter: "w",
        alone: [.toggle, .panel],
        directions: [.request],
        takesTunnels: true,
        refuses: true,
        noun: "an allow rule",
        summary: "Lets only matching requests pass; all others are refused.",
        scope: .at,
        keys: [
            GrammarKey("action", Refusal.value, example: "403", fallback: "403")
                .means("How what does not pass is refused; the first one given counts for the whole list.")
        ],
        example: "allow: { at: [\"*.example.com\", \"localhost\"], action: 403 }",
        actsWithoutMatch: true,
        silentEffect: "lets the request pass",
        emptyListLint: "the allow list is empty and therefore not in force; to block all, use block: { at: \"*\" }"
    )

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        var heading = heading
        heading.action = "pass"
        if heading.isEnabled, heading.scope.locations?.isEmpty == true {
            reader.lint("an allow rule without a location lets nothing pass", at: fields.node)
        }
        return Rule(heading: heading, refusal: fields["action"].flatMap { Refusal($0, &reader) })
    }
}

extension Tool {
    package static let allowList = Tool(AllowList.self)
}
