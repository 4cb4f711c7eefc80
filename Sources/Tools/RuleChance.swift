import ExchangeCore
import HTTPModel
import Rules

/// The random choices of a rule: the share of its requests on which it acts, and times that it draws.
struct RuleChance: Sendable {
    /// In percent.
    let share: Double
    let seed: UInt64
    private let draws: SeededDraw
    private let counter: RequestCounter

    static let seed = GrammarKey(
        "seed",
        .number(0...9_007_199_254_740_992, unit: ""),
        fallback: "different in each run"
    )
    .example("42")
    .means(
        "Makes the random choices of a named rule the same in every run: the n-th request for a URL has the same result, "
            + "whatever the port on this machine."
    )

    static let keys = [
        GrammarKey("share", .number(0...100, unit: "%"), example: "20", fallback: "100").means(
            "The percentage of matching requests on which the rule acts, chosen at random; later rules apply to the others."
        ),
        seed,
    ]

    /// Checks the `seed` of a rule that draws nothing but values.
    static func checkSeed(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        guard let node = fields["seed"], reader.integer(fields, "seed") != nil else { return }
        if !reader.namesValues { reader.lint("'seed' has no effect without values such as ${uuid}", at: node) }
        reader.lintUnnamedSeed(fields)
    }

    /// Reads `share` and `seed`; `nil` if nothing is drawn. `drawsTimes` says whether the rule also draws times.
    init?(
        _ heading: inout RuleHeading,
        _ fields: ProfileFields,
        drawsTimes: Bool = false,
        _ reader: inout ProfileReader
    ) {
        let percent = reader.number(fields, "share") ?? 100
        if percent == 0, let node = fields["share"] {
            reader.error("a share of 0 never acts; 'enabled: false' switches the rule off", at: node)
        }
        let seed = reader.integer(fields, "seed")
        if let node = fields["seed"], fields["share"] == nil, !drawsTimes, !reader.namesValues {
            reader.lint("'seed' has no effect without 'share'", at: node)
        }
        if seed != nil { reader.lintUnnamedSeed(fields) }
        guard percent < 100 || drawsTimes else { return nil }
        (share, self.seed) = (percent, seed.map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000))
        (draws, counter) = (SeededDraw(seed: self.seed, rule: heading.name), RequestCounter())
        if share < 100 {
            heading.isConditional = true
            heading.action += " to \(GrammarValue.text(percent)) % of them"
        }
    }

    private init(_ chance: RuleChance, _ counter: RequestCounter) {
        (share, seed, draws, self.counter) = (chance.share, chance.seed, chance.draws, counter)
    }

    /// With counts of its own, for a dry run.
    var copy: RuleChance { RuleChance(self, counter.copy) }

    func goOn(from old: RuleChance?) { if let old { counter.goOn(from: old.counter) } }

    func reset() { counter.reset() }

    /// The draws for one request.
    struct Draw {
        private let opening: ExchangeOpening
        private let chance: RuleChance
        private let nth: Int

        fileprivate init(_ chance: RuleChance, _ opening: ExchangeOpening) {
            (self.chance, self.opening) = (chance, opening)
            nth = chance.counter.next(opening.head.method, opening.url)
        }

        private func uniform(_ index: Int) -> Double {
            chance.draws.uniform(opening.head.method, opening.url, nth: nth, index: index)
        }

        var isHit: Bool { uniform(0) * 100 < chance.share }

        /// Why the request is chosen or not.
        var text: String {
            let tenths = Int((uniform(0) * 1_000).rounded(.down))
            let comparison = "\(isHit ? "below" : "not below") \(GrammarValue.text(chance.share))"
            let origin = "(request \(nth) for it, seed \(chance.seed))"
            return "\(tenths / 10).\(tenths % 10) was drawn, \(comparison) \(origin)"
        }

        /// In milliseconds.
        func time(_ delay: Delay) -> Double { delay.drawn { uniform(1 + $0) } }
    }

    func draw(_ opening: ExchangeOpening) -> Draw { Draw(self, opening) }
}
