import ExchangeCore
import HTTPModel
package import Rules

/// The throttle: a slow, unreliable or missing network for all traffic or for some.
///
/// Everything that a rule is for shares one link, so two downloads get half of it each. The first rule that matches
/// counts.
struct Throttle: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let conditions: ThrottleConditions
        let seed: UInt64?
    }

    private let rules: RuleList<Rule>
    private let links: [ThrottleLink]
    private let power = ThrottlePower()

    init(rules: RuleList<Rule>) {
        let power = power
        links = rules.all.map {
            ThrottleLink(rule: $0.heading.name, conditions: $0.conditions, seed: $0.seed, power: power)
        }
        self.rules = rules
    }

    /// A handler that takes the exchange over the link of the first rule that matches.
    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        rules.first(opening).map { ThrottleHandler(links[$0.position], opening) }
    }

    /// Whether it slows anything down; switching reaches exchanges that are under way at their next bytes.
    var isOn: Bool {
        get { power.isOn }
        nonmutating set { power.isOn = newValue }
    }
}

extension Throttle {
    static var isSwitchedInPlace: Bool { true }

    /// A rule goes on with the conditions of the one that has its name now; where there is none, or it is not enabled,
    /// nothing slows its exchanges down any more.
    func wasReplaced(by new: Throttle?) {
        var successors: [String: [ThrottleLink]] = [:]
        if let new {
            for (rule, link) in zip(new.rules.all, new.links).reversed() where rule.heading.isEnabled {
                successors[link.rule, default: []].append(link)
            }
        }
        for link in links { link.replace(by: successors[link.rule]?.popLast()) }
    }
}

extension Throttle {
    private static let conditionKeys = Set(["preset"] + ThrottleConditions.keys.map(\.name))

    static let descriptor = ToolDescriptor(
        "throttle",
        order: 1100,
        title: "Throttle",
        letter: "t",
        alone: [.toggle, .panel],
        directions: [.request, .response],
        takesTunnels: true,
        noun: "a throttle rule",
        summary: "Simulates a slow, unreliable or missing network; all that a rule is for shares one link.",
        scope: .only,
        selection: .first,
        keys: [
            GrammarKey(
                "preset",
                .text,
                "Conditions by name: one of 'sluice throttle list', or your own under 'presets'; other keys override it. "
                    + "'offline' fails every request, also one that map-local would answer.",
                example: "preset: 3g",
                fallback: "a perfect network"
            )
        ] + ThrottleConditions.keys + [
            GrammarKey(
                "seed",
                .number(0...9_007_199_254_740_992, unit: ""),
                "What chance begins with: under a rule of the same name the same requests fail, whatever the port on this "
                    + "machine, and the same seconds are unstable, in every run.",
                example: "seed: 42",
                fallback: "another one in every run"
            )
        ],
        example: "throttle: { name: mobile, preset: 3g, only: [\"api.example.com\"], reliability: 99, seed: 42 }",
        presets: PresetChoice(
            title: "Network",
            effect: "Throttling",
            presets: ThrottlePreset.all.map {
                .init(
                    name: $0.name,
                    alias: $0.charlesName,
                    brief: $0.conditions.brief,
                    text: $0.conditions.text,
                    source: $0.source
                )
            }
        ),
        definitions: ToolDefinitions(
            GrammarKey(
                definedPresets,
                .names(.mapping(ThrottleConditions.keys)),
                "Your own throttle presets, by names that are not taken yet.",
                example: "presets: { office-vpn: { down: 2000, up: 500, latency: 80 } }",
                fallback: "none"
            ),
            noun: "preset",
            values: "conditions",
            keys: ThrottleConditions.keys,
            isTaken: { ThrottlePreset.named($0) != nil },
            read: { fields, reader in
                var conditions = ThrottleConditions()
                conditions.read(fields, &reader)
                return conditions
            }
        )
    )

    private static let definedPresets = "presets"

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
        [Node.Member("preset", .word("3g")), Node.Member("only", place)]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        var heading = heading
        var conditions = ThrottleConditions()
        var name = ""
        if let node = fields["preset"] {
            guard let named = preset(node, &reader) else { return nil }
            (name, conditions) = named
        }
        conditions.read(fields, &reader)
        let seed = fields["seed"].flatMap { self.seed($0, fields, &reader) }
        if !fields.values.keys.contains(where: { key in conditionKeys.contains(key) }) {
            reader.lint("the rule slows nothing down; it has neither a preset nor a limit", at: fields.node)
        } else if let node = fields["seed"], !conditions.isRandom {
            reader.lint("nothing is left to chance, so 'seed' does nothing", at: node)
        } else if seed != nil {
            reader.lintUnnamedSeed(fields)
        }
        heading.action = (name.isEmpty ? "" : "\(name): ") + conditions.text
        return Rule(heading: heading, conditions: conditions, seed: seed)
    }

    private static func preset(_ node: Node, _ reader: inout ProfileReader) -> (String, ThrottleConditions)? {
        guard let text = reader.text(node, "preset") else { return nil }
        let defined = reader.definitions[definedPresets] ?? [:]
        if let conditions = defined[text.lowercased()] as? ThrottleConditions { return (text, conditions) }
        if let preset = ThrottlePreset.named(text) { return (text, preset.conditions) }
        let known = ThrottlePreset.all.map(\.name) + defined.keys.sorted()
        reader.error("there is no preset '\(text.prefix(40))'\(Suggestion.text(for: text, among: known))", at: node)
        return nil
    }

    private static func seed(_ node: Node, _ fields: ProfileFields, _ reader: inout ProfileReader) -> UInt64? {
        guard let number = reader.number(fields, "seed") else { return nil }
        if let seed = UInt64(exactly: number) { return seed }
        reader.error("seed must be a whole number", at: node)
        return nil
    }
}

extension Tool {
    package static let throttle = Tool(Throttle.self)
}
