package import ExchangeCore
import HTTPModel

/// The allow list: only requests that match one of its rules pass.
package struct AllowList: Stage {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let refusal: Refusal?
    }

    private let index: RuleIndex
    private let refusal: Refusal

    init(_ rules: [Rule]) {
        index = RuleIndex(rules.map(\.heading))
        refusal = rules.lazy.filter(\.heading.isEnabled).compactMap(\.refusal).first ?? .answer(403)
    }

    /// A handler that refuses, unless a rule matches.
    package func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard index.first(opening) == nil else { return nil }
        return RefusingHandler(refusal, rule: nil, reason: "no location of the allow list matches")
    }
}

extension AllowList: RuleTool {
    /// It acts on what no rule matches.
    static var actsWithoutMatch: Bool { true }

    /// The allow list's place.
    package var slot: StageSlot { .allowList }

    static let grammar = ToolGrammar(
        .allowList,
        noun: "an allow rule",
        summary: "Lets only matching requests pass; all others are refused.",
        scope: .at,
        selection: .first,
        keys: [
            GrammarKey(
                "action",
                Refusal.value,
                "How what does not pass is refused; the first one given counts for the whole list.",
                example: "action: 403",
                fallback: "403"
            )
        ],
        example: "allow: { at: [\"*.example.com\", \"localhost\"], action: 403 }"
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
