import ExchangeCore
import HTTPModel
package import Rules

/// The throttle: a slow, unreliable or missing network for all traffic or for some. All exchanges of a rule share one
/// link, so two downloads get half of the bandwidth each. The first matching rule counts.
struct Throttle: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let conditions: ThrottleConditions
        let seed: UInt64?
    }

    private let rules: RuleList<Rule>
    private let links: [ThrottleLink]
    private let power = ThrottleSwitch()

    init(rules: RuleList<Rule>) {
        let power = power
        links = rules.all.map {
            ThrottleLink(rule: $0.heading.name, conditions: $0.conditions, seed: $0.seed, power: power)
        }
        self.rules = rules
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        rules.first(opening).map { ThrottleHandler(links[$0.position], opening) }
    }

    /// Switching affects running exchanges from their next bytes on.
    var isOn: Bool {
        get { power.isOn }
        nonmutating set { power.isOn = newValue }
    }
}

extension Throttle {
    static var isSwitchedInPlace: Bool { true }

    /// A rule's exchanges continue under the new rule of its name; without an enabled one they are not throttled.
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
        takesTunnels: true,
        noun: "a throttle rule",
        summary: "Simulates a slow, unreliable or missing network; all matches of a rule share one link.",
        forAgents: .any,
        scope: .only,
        keys: [
            GrammarKey("preset", .text, example: "3g", fallback: "a perfect network").means(
                "A preset: one of 'sluice throttle list', or your own under 'presets'; other keys override it. "
                    + "'offline' fails every request, also those that map-local would answer."
            )
        ] + ThrottleConditions.keys + [
            GrammarKey("seed", .number(0...9_007_199_254_740_992, unit: ""), fallback: "different in every run")
                .example("42")
                .means(
                    "The random seed: under a rule of the same name the same requests fail, with any port on this "
                        + "machine, and the same seconds are unstable, in every run."
                )
        ],
        example: "throttle: { name: mobile, preset: 3g, only: [\"api.example.com\"], reliability: 99, seed: 42 }",
        presets: PresetChoice(
            title: "Network",
            effect: "Throttling",
            presets: ThrottlePreset.all.map {
                let (brief, text) = ($0.conditions.brief, $0.conditions.text)
                return .init(name: $0.name, alias: $0.charlesName, brief: brief, text: text, source: $0.source)
            }
        ),
        definitions: ToolDefinitions(
            GrammarKey(definedPresets, .names(.mapping(ThrottleConditions.keys)), fallback: "none")
                .example(whole: "presets: { office-vpn: { down: 2000, up: 500, latency: 80 } }")
                .means("Your own throttle presets, by names that are not taken yet."),
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

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
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
        let seed = reader.integer(fields, "seed").map { UInt64($0) }
        if !fields.values.keys.contains(where: { key in conditionKeys.contains(key) }) {
            reader.lint("the rule has no effect: it has neither a preset nor a limit", at: fields.node)
        } else if let node = fields["seed"], !conditions.isRandom {
            reader.lint("nothing is random, so 'seed' has no effect", at: node)
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
}

extension Tool { package static let throttle = Tool(Throttle.self) }
