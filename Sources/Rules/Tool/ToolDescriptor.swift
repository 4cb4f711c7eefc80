package import ExchangeCore
package import HTTPModel

/// The facts about a tool for the rest of Sluice.
package struct ToolDescriptor: Sendable {
    /// How a rule of the tool chooses requests.
    package enum ScopeKey: String, Sendable {
        /// `at`, which is required.
        case at
        /// `from`, which is required; if it may be more than a location, the tool reads it itself.
        case from
        /// `only`; without it the rule matches every request.
        case only
        /// The tool reads the scope itself.
        case none
    }

    /// What a letter of the console does for a tool.
    package enum KeyUse: Sendable {
        case toggle
        case panel
    }

    /// The tool's name and its place in the order in which messages pass the tools.
    package let id: StageID
    package let title: String
    /// Charles' letter, if it has one.
    package let letter: String
    /// `toggle`: the letter works alone. `panel`: its capital works alone. After `x` both always work.
    package let letterAlone: Set<KeyUse>
    /// The messages that the tool changes.
    package let directions: Set<FlowDirection>
    /// Whether the tool acts on tunnels that are not decrypted: only their host and port are known.
    package let takesTunnels: Bool
    package let refuses: Bool
    /// For messages: `a block rule`.
    package let noun: String
    /// One sentence.
    package let summary: String
    /// `nil` if agents cannot use the tool.
    package let forAgents: AgentUse?
    package let scope: ScopeKey
    package let selection: RuleSelection
    /// What `when` of the tool's rules may ask for, besides the head of the request.
    package let conditions: ConditionReach
    package let keys: [GrammarKey]
    /// Begins with the tool's key.
    package let example: String
    /// Whether `true` is a rule that matches every request.
    package let takesTrue: Bool
    /// Whether the tool is asked about every exchange, because it also acts if no rule matches.
    package let actsWithoutMatch: Bool
    /// The default scope of a rule that is made from an exchange.
    package let usualScope: ExchangeScope
    /// What a matching rule has done if it left no trace; `nil` if it has then done nothing.
    package let silentEffect: String?
    /// The lint for an empty list of rules; `nil` if an empty list may be intended.
    package let emptyListLint: String?
    package let change: TraceEntry.Change?
    package let presets: PresetChoice?
    package let definitions: ToolDefinitions?
    /// The key whose file answers in place of the server; `nil` if no file answers.
    package let answersFrom: String?
    /// Whether a rule can set the value at a place.
    package let setsPlaces: Bool
    /// The rule that one key of the console adds for all traffic; `nil` if no key does.
    package let onEverything: RuleText?

    package var key: String { id.name }

    package init(
        _ key: String,
        order: Int,
        title: String,
        letter: String,
        alone: Set<KeyUse> = [],
        directions: Set<FlowDirection> = [.request, .response],
        takesTunnels: Bool = false,
        refuses: Bool = false,
        noun: String,
        summary: String,
        forAgents: AgentUse? = nil,
        scope: ScopeKey,
        selection: RuleSelection = .first,
        conditions: ConditionReach = [],
        keys: [GrammarKey] = [],
        example: String,
        takesTrue: Bool = false,
        actsWithoutMatch: Bool = false,
        usualScope: ExchangeScope = .host,
        silentEffect: String? = nil,
        emptyListLint: String? = nil,
        change: TraceEntry.Change? = nil,
        presets: PresetChoice? = nil,
        definitions: ToolDefinitions? = nil,
        answersFrom: String? = nil,
        setsPlaces: Bool = false,
        onEverything: RuleText? = nil
    ) {
        (id, self.title, self.letter, letterAlone) = (StageID(key, order: order), title, letter, alone)
        (self.directions, self.takesTunnels, self.refuses) = (directions, takesTunnels, refuses)
        (self.noun, self.summary, self.example, self.forAgents) = (noun, summary, example, forAgents)
        (self.scope, self.selection, self.keys, self.takesTrue) = (scope, selection, keys, takesTrue)
        self.conditions = conditions
        (self.actsWithoutMatch, self.usualScope, self.change) = (actsWithoutMatch, usualScope, change)
        (self.silentEffect, self.emptyListLint) = (silentEffect, emptyListLint)
        (self.presets, self.definitions) = (presets, definitions)
        (self.answersFrom, self.setsPlaces, self.onEverything) = (answersFrom, setsPlaces, onEverything)
    }

    package var counted: String { noun.contains(key) ? "\(key) rule" : String(noun.drop { $0 != " " }.dropFirst()) }

    /// All keys of a rule: its scope, the tool's own keys, and the keys that every rule has.
    package var allKeys: [GrammarKey] {
        let place: [GrammarKey] =
            switch scope {
            case .at: [.at]
            // A tool whose `from` may be more than a location describes it among its own keys.
            case .from: keys.contains { $0.name == "from" } ? [] : [.from]
            case .only: [.only]
            case .none: []
            }
        return place + keys + (scope == .none ? [] : [.except, .method]) + [.when, .name, .enabled]
    }
}

/// Which of several matching rules act: the first, which shadows later ones, or all in the user's order.
package enum RuleSelection: Sendable {
    case first
    case all
}

/// Named presets; one of them can be set for all traffic.
package struct PresetChoice: Sendable {
    package struct Preset: Sendable {
        package let name: String
        /// Charles' name, if it differs.
        package let alias: String?
        package let brief: String
        package let text: String
        package let source: String

        package init(name: String, alias: String?, brief: String, text: String, source: String) {
            (self.name, self.alias, self.brief, self.text, self.source) = (name, alias, brief, text, source)
        }
    }

    /// The title of the choice: `Network`.
    package let title: String
    /// The effect of a preset: `Throttling`.
    package let effect: String
    package let presets: [Preset]

    package init(title: String, effect: String, presets: [Preset]) {
        (self.title, self.effect, self.presets) = (title, effect, presets)
    }

    /// The preset with a name or alias, in any case.
    package func named(_ name: String) -> Preset? {
        let name = name.lowercased()
        return presets.first { $0.name == name || $0.alias?.lowercased() == name }
    }
}

/// A top-level key of a profile with named values that the user defines for the tool's rules.
package struct ToolDefinitions: Sendable {
    package let key: GrammarKey
    /// For messages: `preset`.
    package let noun: String
    /// For messages: `conditions`.
    package let values: String
    package let keys: [GrammarKey]
    package let isTaken: @Sendable (_ name: String) -> Bool
    package let read: @Sendable (ProfileFields, inout ProfileReader) -> any Sendable

    package init(
        _ key: GrammarKey,
        noun: String,
        values: String,
        keys: [GrammarKey],
        isTaken: @escaping @Sendable (_ name: String) -> Bool,
        read: @escaping @Sendable (ProfileFields, inout ProfileReader) -> any Sendable
    ) {
        (self.key, self.noun, self.values, self.keys) = (key, noun, values, keys)
        (self.isTaken, self.read) = (isTaken, read)
    }
}

extension GrammarKey {
    private static func locations(_ key: String, _ example: String, fallback: String? = nil) -> GrammarKey {
        GrammarKey(key, .locations, example: example, fallback: fallback)
            .means("The locations that match, compared with the URL as the client sent it.")
    }

    fileprivate static let at = locations("at", "[\"*.example.com\", \"https://api.example.com/v1/*\"]")
    fileprivate static let from = locations("from", "\"https://api.example.com/v1/*\"")
    fileprivate static let only = locations("only", "[\"api.example.com\"]", fallback: "every request")
    fileprivate static let except = GrammarKey("except", .locations, fallback: "none")
        .example("[\"*.example.com/health\"]").means("Exceptions, even if another key matches them.")
    fileprivate static let method = GrammarKey("method", .list(.text), example: "[GET, HEAD]", fallback: "any")
        .means("The methods that match.")
    fileprivate static let when = GrammarKey("when", .text, example: "'req.header.x-user:alice'", fallback: "always")
        .means("A filter, decided on the messages as received; 'sluice guide profile' says more.")
    fileprivate static let name = GrammarKey("name", .text, example: "no ads", fallback: "its number, as in 'rule 3'")
        .means("The rule's name in traces and messages.")
    package static let enabled = GrammarKey("enabled", .flag, example: "false", fallback: "true")
        .means("Whether the rule is enabled.")
}
