import ExchangeCore
import HTTPModel
package import Rules

/// The allow list: only requests that match one of its rules pass. They must match as sent and with a normalised path.
/// In a tunnel to an IP address, the client's host name must be verified; otherwise the address must match, too.
struct AllowList: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let refusal: Refusal?
    }

    private let rules: ReadRules<Rule>
    private let refusal: Refusal

    init(rules: RuleList<Rule>) {
        self.rules = ReadRules(rules)
        refusal = rules.all.lazy.filter(\.heading.isEnabled).compactMap(\.refusal).first ?? .answer(403)
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let reason = "no location of the allow list matches"
        guard let match = rules.asSent.first(opening) else { return refusal.handler(nil, because: reason) }
        let readings = RequestReading.others(of: opening)
        let name = match.rule.heading.name
        func unmatched(isAddress: Bool) -> String? {
            let reading = readings.first { $0.isAddress == isAddress && !rules.hasRule(for: $0) }
            return reading.map { "\(reason) \($0.text)" }
        }
        if let reason = unmatched(isAddress: false) { return refusal.handler(name, because: reason) }
        guard let claim = opening.claim, !claim.isVerified, let reason = unmatched(isAddress: true) else { return nil }
        let isWord = "\(reason), and that this is \(opening.url.host) is only the client's word"
        let refusing = refusal.handler(name, because: isWord)
        return RequestHeadHandler(needsVerifiedName: true) { head, exchange in
            exchange.isNameVerified ? .forward : refusing.requestHead(&head, &exchange)
        }
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
        summary: "Allows only matching requests and refuses all others.",
        forAgents: .any,
        scope: .at,
        keys: [
            GrammarKey("action", Refusal.value, example: "403", fallback: "403")
                .means("How other requests are refused; the first value counts for the whole list.")
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

extension Tool { package static let allowList = Tool(AllowList.self) }
