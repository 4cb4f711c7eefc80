package import ExchangeCore
package import HTTPModel

/// Everything that others need to know of a tool.
package struct ToolDescriptor: Sendable {
    /// How a rule of the tool says which requests it is for.
    package enum ScopeKey: String, Sendable {
        /// `at`, which must be there.
        case at
        /// `from`, which must be there; the tool reads it itself where it is no location.
        case from
        /// `only`; without it every request is meant.
        case only
        /// The tool has a way of its own.
        case none
    }

    /// What a key of the console does with a tool.
    package enum KeyUse: Sendable {
        case toggle
        case panel
    }

    /// The tool's name and its place in the order in which messages pass the tools.
    package let id: StageID
    package let title: String
    /// Charles' letter for it, where Charles has one.
    package let letter: String
    /// Where the letter alone, or its capital, is the tool's; it always is after `x`.
    package let letterAlone: Set<KeyUse>
    /// The messages that the tool acts on.
    package let directions: Set<FlowDirection>
    /// Whether it acts on CONNECTs that are not decrypted, of which just host and port are known.
    package let takesTunnels: Bool
    /// What messages call one rule: `a block rule`.
    package let noun: String
    /// What the tool is for, in one sentence.
    package let summary: String
    package let scope: ScopeKey
    /// Which of the rules that match act.
    package let selection: RuleSelection
    /// The tool's own keys.
    package let keys: [GrammarKey]
    /// A whole example, the tool's key first.
    package let example: String
    /// Whether `true` stands for one rule that is for every request.
    package let takesTrue: Bool
    /// Whether it must be asked about every exchange, since it acts where no rule matches.
    package let actsWithoutMatch: Bool
    /// How much a rule made from an exchange is for, where nothing else is asked for.
    package let usualBreadth: ExchangeBreadth
    /// What a rule has done that is for a request and left no trace; `nil` for nothing.
    package let silentEffect: String?
    /// What is said of an empty list of rules; `nil` where that is meant.
    package let emptyListLint: String?
    package let change: TraceEntry.Change?
    package let presets: PresetChoice?
    package let definitions: ToolDefinitions?

    package var key: String { id.name }

    package init(
        _ key: String,
        order: Int,
        title: String,
        letter: String,
        alone letterAlone: Set<KeyUse>,
        directions: Set<FlowDirection>,
        takesTunnels: Bool,
        noun: String,
        summary: String,
        scope: ScopeKey,
        selection: RuleSelection,
        keys: [GrammarKey],
        example: String,
        takesTrue: Bool = false,
        actsWithoutMatch: Bool = false,
        usualBreadth: ExchangeBreadth = .host,
        silentEffect: String? = nil,
        emptyListLint: String? = nil,
        change: TraceEntry.Change? = nil,
        presets: PresetChoice? = nil,
        definitions: ToolDefinitions? = nil
    ) {
        id = StageID(key, order: order)
        self.title = title
        self.letter = letter
        self.letterAlone = letterAlone
        self.directions = directions
        self.takesTunnels = takesTunnels
        self.noun = noun
        self.summary = summary
        self.scope = scope
        self.selection = selection
        self.keys = keys
        self.example = example
        self.takesTrue = takesTrue
        self.actsWithoutMatch = actsWithoutMatch
        self.usualBreadth = usualBreadth
        self.silentEffect = silentEffect
        self.emptyListLint = emptyListLint
        self.change = change
        self.presets = presets
        self.definitions = definitions
    }

    /// What one rule is called where rules are counted.
    package var counted: String {
        noun.contains(key) ? "\(key) rule" : String(noun.drop { $0 != " " }.dropFirst())
    }

    /// All keys of a rule: where it acts, the tool's own, and those that every rule has.
    package var allKeys: [GrammarKey] {
        var all: [GrammarKey] = []
        switch scope {
        case .at: all.append(GrammarKey.at)
        // A tool whose `from` may be more than a location describes it among its own keys.
        case .from: if !keys.contains(where: { $0.name == "from" }) { all.append(GrammarKey.from) }
        case .only: all.append(GrammarKey.only)
        case .none: break
        }
        all += keys
        if scope != .none { all += [GrammarKey.except, GrammarKey.method] }
        return all + [GrammarKey.name, GrammarKey.enabled]
    }
}

/// Which of several rules that match a request act.
package enum RuleSelection: Sendable, Hashable {
    /// The first one; later ones are shadowed.
    case first
    /// All, in the user's order.
    case all
}

/// Rules by name, of which one can be put in force for all traffic.
package struct PresetChoice: Sendable {
    package struct Preset: Sendable {
        package let name: String
        /// Charles' name for it, where that is another one.
        package let alias: String?
        /// What it does, in a few words.
        package let brief: String
        /// What it does, in full.
        package let text: String
        /// Where the numbers come from.
        package let source: String

        package init(name: String, alias: String?, brief: String, text: String, source: String) {
            self.name = name
            self.alias = alias
            self.brief = brief
            self.text = text
            self.source = source
        }
    }

    /// What is chosen: `Network`.
    package let title: String
    /// What a preset brings: `Throttling`.
    package let effect: String
    package let presets: [Preset]

    package init(title: String, effect: String, presets: [Preset]) {
        self.title = title
        self.effect = effect
        self.presets = presets
    }

    /// The preset of that name or alias; the case of letters does not count.
    package func named(_ name: String) -> Preset? {
        let name = name.lowercased()
        return presets.first { $0.name == name || $0.alias?.lowercased() == name }
    }
}

/// A key at the top of a profile under which the user gives names to values that the tool's rules may name.
package struct ToolDefinitions: Sendable {
    package let key: GrammarKey
    /// What messages call one: `preset`.
    package let noun: String
    /// What messages call the values: `conditions`.
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
        self.key = key
        self.noun = noun
        self.values = values
        self.keys = keys
        self.isTaken = isTaken
        self.read = read
    }
}

extension GrammarKey {
    private static func locations(_ key: String, _ example: String, fallback: String? = nil) -> GrammarKey {
        GrammarKey(
            key,
            .locations,
            "The locations the rule is for, matched against the URL as the client sent it.",
            example: "\(key): \(example)",
            fallback: fallback
        )
    }

    fileprivate static let at = locations("at", "[\"*.example.com\", \"https://api.example.com/v1/*\"]")
    fileprivate static let from = locations("from", "\"https://api.example.com/v1/*\"")
    fileprivate static let only = locations("only", "[\"api.example.com\"]", fallback: "every request")
    fileprivate static let except = GrammarKey(
        "except",
        .locations,
        "Locations the rule is not for, even where another key names them.",
        example: "except: [\"*.example.com/health\"]",
        fallback: "none"
    )
    fileprivate static let method = GrammarKey(
        "method",
        .list(.text),
        "The methods the rule is for.",
        example: "method: [GET, HEAD]",
        fallback: "any"
    )
    fileprivate static let name = GrammarKey(
        "name",
        .text,
        "What traces and messages call the rule.",
        example: "name: no ads",
        fallback: "its number, as in 'rule 3'"
    )
    fileprivate static let enabled = GrammarKey(
        "enabled",
        .flag,
        "Whether the rule is in force.",
        example: "enabled: false",
        fallback: "true"
    )
}
