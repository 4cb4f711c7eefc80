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
        let share: BlockShare?
    }

    private let rules: ReadRules<Rule>
    private let hasShares: Bool

    init(rules: RuleList<Rule>) {
        self.rules = ReadRules(rules)
        hasShares = rules.all.contains { $0.share != nil }
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        if hasShares { return drawn(opening) }
        return rules.first(opening).map { refuse($0.match, $0.reading) }
    }

    /// Continues the request counts of the replaced list: a rule continues those of the old rule with its name.
    func prepare(toReplace old: BlockList) {
        var counters: [String: [RequestCounter]] = [:]
        for rule in old.rules.asSent.all.reversed() {
            if let share = rule.share { counters[rule.heading.name, default: []].append(share.counter) }
        }
        for rule in rules.asSent.all {
            if let share = rule.share, let counter = counters[rule.heading.name]?.popLast() {
                share.counter.goOn(from: counter)
            }
        }
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
            guard let draw = match.rule.share?.draw(opening) else { return refuse(match, reading) }
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

/// A percentage of requests, chosen with a seed.
struct BlockShare: Sendable {
    let percent: Double
    let seed: UInt64
    private let draws: SeededDraw
    fileprivate let counter = RequestCounter()

    init(percent: Double, seed: UInt64, rule: String) {
        (self.percent, self.seed, draws) = (percent, seed, SeededDraw(seed: seed, rule: rule))
    }

    /// Whether a request is chosen, and why.
    fileprivate func draw(_ opening: ExchangeOpening) -> (isHit: Bool, text: String) {
        let nth = counter.next(opening.head.method, opening.url)
        let drawn = draws.uniform(opening.head.method, opening.url, nth: nth, index: 0) * 100
        let isHit = drawn < percent
        let tenths = Int((drawn * 10).rounded(.down))
        let comparison = "\(isHit ? "below" : "not below") \(GrammarValue.text(percent))"
        let origin = "(request \(nth) for it, seed \(seed))"
        return (isHit, "\(tenths / 10).\(tenths % 10) was drawn, \(comparison) \(origin)")
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
        scope: .at,
        conditions: .bodies,
        keys: [
            GrammarKey("action", Refusal.value, example: "drop", fallback: "403").means(
                "How the request is refused: the connection is closed, or answered with this status and a page with the reason."
            ),
            GrammarKey("share", .number(0...100, unit: "percent"), example: "20", fallback: "100").means(
                "The percentage of matching requests to refuse, chosen at random; later rules apply to the others."
            ),
            GrammarKey("seed", .number(0...9_007_199_254_740_992, unit: ""), fallback: "different in each run")
                .example("42")
                .means(
                    "Makes the random choices of a named rule the same in every run: the n-th request for a URL has the same result, "
                        + "whatever the port on this machine."
                ),
        ],
        example: "block: [ { at: \"*.tracker.example\", action: drop } ]",
        usualScope: .path
    )

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member("at", place), Node.Member("action", .word("403"))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let refusal = fields["action"].flatMap { Refusal($0, &reader) } ?? .answer(403)
        let percent = reader.number(fields, "share")
        if percent == 0, let node = fields["share"] {
            reader.error("a share of 0 refuses nothing; 'enabled: false' switches the rule off", at: node)
        }
        let seed = reader.integer(fields, "seed")
        if let node = fields["seed"], fields["share"] == nil {
            reader.lint("'seed' has no effect without 'share'", at: node)
        }
        var heading = heading
        heading.action = refusal.action
        var share: BlockShare?
        if let percent, percent < 100 {
            if seed != nil { reader.lintUnnamedSeed(fields) }
            let seed = seed.map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
            share = BlockShare(percent: percent, seed: seed, rule: heading.name)
            heading.isConditional = true
            heading.action += " to \(GrammarValue.text(percent)) % of them"
        }
        return Rule(heading: heading, refusal: refusal, share: share)
    }
}

extension Tool { package static let blockList = Tool(BlockList.self) }
