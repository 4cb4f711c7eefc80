import ExchangeCore
import HTTPModel
package import Rules

/// The block list: requests that match one of its rules are refused. Sluice cuts the connection, or answers with an
/// error.
///
/// A request matches as sent, with its path normalised, or with its tunnel's address in place of the client's host.
///
/// A rule may refuse a share of the requests that match it; the others are left to later rules. A tunnel that is not
/// decrypted can match by host and port only.
struct BlockList: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let refusal: Refusal
        /// `nil` to refuse every matching request.
        var chance: RuleChance?
    }

    private let rules: ReadRules<Rule>
    private let hasShares: Bool

    init(rules: RuleList<Rule>) {
        self.rules = ReadRules(rules)
        hasShares = rules.all.contains { $0.chance != nil }
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        if hasShares { return drawn(opening) }
        return rules.first(opening).map { refuse($0.match, $0.reading) }
    }

    func prepare(toReplace old: BlockList) {
        for (new, old) in rules.asSent.replacing(old.rules.asSent) { new.chance?.goOn(from: old.chance) }
    }

    func resetCounts() { for rule in rules.asSent.all { rule.chance?.reset() } }

    var dryRun: any Stage {
        let copies = rules.asSent.all.map { Rule(heading: $0.heading, refusal: $0.refusal, chance: $0.chance?.copy) }
        return BlockList(rules: RuleList(copies, takesTunnels: true))
    }

    private func refuse(_ match: RuleMatch<Rule>, _ reading: RequestReading?, _ draw: String = "") -> RequestHeadHandler
    {
        let place = match.location?.description ?? "everything"
        let reason = "the block list has \(place)\(reading.map { ", for \($0.text)" } ?? "")\(draw)"
        return match.rule.refusal.handler(match.rule.heading.name, because: reason)
    }

    /// The handler of the first matching rule that refuses the request; a rule with a share may let it pass.
    private func drawn(_ opening: ExchangeOpening) -> (any StageHandler)? {
        var passed: [String] = []
        for (match, reading) in rules.matches(opening) {
            guard let draw = match.rule.chance?.draw(opening) else { return refuse(match, reading) }
            if draw.isHit { return refuse(match, reading, ", and \(draw.text)") }
            passed.append("\(match.rule.heading.name): \(draw.text), so it passed")
        }
        guard !passed.isEmpty else { return nil }
        return RequestHeadHandler { _, exchange in
            for note in passed { exchange.note(note) }
            return .forward
        }
    }
}

extension BlockList {
    static let descriptor = ToolDescriptor(
        "block",
        order: 200,
        title: "Block list",
        letter: "b",
        alone: [.toggle, .panel],
        directions: [.request],
        takesTunnels: true,
        refuses: true,
        noun: "a block rule",
        summary: "Refuses matching requests: cuts the connection, or answers with an error.",
        forAgents: .any,
        scope: .at,
        conditions: .bodies,
        keys: [
            GrammarKey("action", Refusal.value, example: "drop", fallback: "403").means(
                "How the request is refused: the connection is closed, or answered with this status and a page with the reason."
            )
        ] + RuleChance.keys,
        example: "block: [ { at: \"*.tracker.example\", action: drop } ]",
        usualScope: .path
    )

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member("at", place), Node.Member("action", .word("403"))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let refusal = fields["action"].flatMap { Refusal($0, &reader) } ?? .answer(403)
        var heading = heading
        heading.action = refusal.action
        let chance = RuleChance(&heading, fields, &reader)
        return Rule(heading: heading, refusal: refusal, chance: chance)
    }
}

extension Tool { package static let blockList = Tool(BlockList.self) }
