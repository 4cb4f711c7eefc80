import ExchangeCore
import HTTPModel
package import Rules

/// The block list: requests that match one of its rules are refused, by a cut connection or by an answer.
///
/// A rule may be for a share of the requests that match it; the others are left to the rules after it. A tunnel that is
/// not decrypted can match by host and port only.
struct BlockList: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let refusal: Refusal
        /// `nil` where every request that matches is refused.
        let share: BlockShare?
    }

    private let rules: RuleList<Rule>
    private let hasShares: Bool

    init(rules: RuleList<Rule>) {
        self.rules = rules
        hasShares = rules.all.contains { $0.share != nil }
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        if hasShares { return drawn(opening) }
        return rules.first(opening).map {
            RefusingHandler($0.rule.refusal, rule: $0.rule.heading.name, reason: reason($0))
        }
    }

    /// Goes on with the counts of a list whose place it takes: each rule with those of the one that has its name.
    func prepare(toReplace old: BlockList) {
        var counters: [String: [RequestCounter]] = [:]
        for rule in old.rules.all.reversed() {
            if let share = rule.share { counters[rule.heading.name, default: []].append(share.counter) }
        }
        for rule in rules.all {
            if let share = rule.share, let counter = counters[rule.heading.name]?.popLast() {
                share.counter.goOn(from: counter)
            }
        }
    }

    private func reason(_ match: RuleMatch<Rule>) -> String {
        "the block list has \(match.location?.description ?? "everything")"
    }

    /// The first rule that matches and whose draw, if there is one, is against the request.
    private func drawn(_ opening: ExchangeOpening) -> (any StageHandler)? {
        var spared: [String] = []
        for match in rules.matches(opening) {
            let rule = match.rule
            var reason = reason(match)
            if let share = rule.share {
                let draw = share.draw(opening)
                guard draw.isHit else {
                    spared.append("\(rule.heading.name): \(draw.text), so it passed")
                    continue
                }
                reason += ", and \(draw.text)"
            }
            return RefusingHandler(rule.refusal, rule: rule.heading.name, reason: reason)
        }
        return spared.isEmpty ? nil : SparingHandler(spared)
    }
}

/// A share of requests, drawn by chance that a seed makes repeatable.
struct BlockShare: Sendable {
    let percent: Double
    let seed: UInt64
    private let draws: SeededDraw
    fileprivate let counter = RequestCounter()

    init(percent: Double, seed: UInt64, rule: String) {
        self.percent = percent
        self.seed = seed
        draws = SeededDraw(seed: seed, rule: rule)
    }

    /// Draws for a request: whether it is one of the share, and how that came about.
    func draw(_ opening: ExchangeOpening) -> (isHit: Bool, text: String) {
        let nth = counter.next(opening.head.method, opening.url)
        let drawn = draws.uniform(opening.head.method, opening.url, nth: nth, index: 0) * 100
        let isHit = drawn < percent
        let tenths = Int((drawn * 10).rounded(.down))
        let number = "\(tenths / 10).\(tenths % 10)"
        let share = GrammarValue.text(percent)
        return (
            isHit,
            "\(number) was drawn, \(isHit ? "below" : "not below") \(share) (request \(nth) for it, seed \(seed))"
        )
    }
}

/// Writes down which rules let a request pass by chance.
private final class SparingHandler: StageHandler {
    private let notes: [String]

    init(_ notes: [String]) {
        self.notes = notes
    }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        for note in notes { exchange.note(note) }
        return .forward
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
        noun: "a block rule",
        summary: "Refuses matching requests: cuts the connection, or answers with an error.",
        scope: .at,
        selection: .first,
        keys: [
            GrammarKey(
                "action",
                Refusal.value,
                "How the request is refused: the connection is cut, or this status is answered with a page that says why.",
                example: "action: drop",
                fallback: "403"
            ),
            GrammarKey(
                "share",
                .number(0...100, unit: "percent"),
                "How many of the matching requests are refused, drawn by chance; the others are left to later rules.",
                example: "share: 20",
                fallback: "100"
            ),
            GrammarKey(
                "seed",
                .number(0...9_007_199_254_740_992, unit: ""),
                "Makes the draws of a named rule the same in every run: the n-th request for a URL always fares alike, "
                    + "whatever the port on this machine.",
                example: "seed: 42",
                fallback: "another one in each run"
            ),
        ],
        example: "block: [ { at: \"*.tracker.example\", action: drop } ]",
        usualBreadth: .path
    )

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
        [Node.Member("at", place), Node.Member("action", .word("403"))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let refusal = fields["action"].flatMap { Refusal($0, &reader) } ?? .answer(403)
        let percent = reader.number(fields, "share")
        if percent == 0, let node = fields["share"] {
            reader.error("a share of 0 refuses nothing; to switch the rule off there is 'enabled: false'", at: node)
        }
        let seed = reader.number(fields, "seed")
        if let node = fields["seed"] {
            if let seed, seed != seed.rounded() { reader.error("seed must be a whole number", at: node) }
            if fields["share"] == nil { reader.lint("'seed' means nothing without 'share'", at: node) }
        }
        var heading = heading
        heading.action = refusal.action
        var share: BlockShare?
        if let percent, percent < 100 {
            if seed == seed?.rounded() { reader.lintUnnamedSeed(fields) }
            let seed = seed.map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
            share = BlockShare(percent: percent, seed: seed, rule: heading.name)
            heading.isConditional = true
            heading.action += " to \(GrammarValue.text(percent)) % of them"
        }
        return Rule(heading: heading, refusal: refusal, share: share)
    }
}

extension Tool {
    package static let blockList = Tool(BlockList.self)
}
