package import ExchangeCore

/// A key of a profile: what it is called, what it takes, what it is for.
///
/// The same table decides which keys are taken and what `sluice profile help` prints.
package struct GrammarKey: Sendable {
    package let name: String
    package let value: GrammarValue
    /// What it is for, in one sentence.
    package let summary: String
    /// A line of YAML, or several, that shows it; without indentation.
    package let example: String
    /// What counts where the key is not there, in words; `nil` where it must be, or where nothing counts then.
    package let fallback: String?

    package init(_ name: String, _ value: GrammarValue, _ summary: String, example: String, fallback: String? = nil) {
        self.name = name
        self.value = value
        self.summary = summary
        self.example = example
        self.fallback = fallback
    }
}

/// What a key takes.
package indirect enum GrammarValue: Sendable {
    case flag
    case text
    /// A number in a range, in a unit; the unit may be empty.
    case number(ClosedRange<Double>, unit: String)
    case choice([String])
    /// A time such as `500ms`, `30s` or `2m`.
    case duration
    case location
    /// One location or a list of them.
    case locations
    /// A plain text, or a regular expression between slashes.
    case pattern
    /// A file or directory; a relative one is looked for beside the profile.
    case path
    /// A list of values, or a single one.
    case list(GrammarValue)
    /// A mapping with keys of its own.
    case mapping([GrammarKey])
    /// A mapping whose keys are the user's.
    case names(GrammarValue)
    case either(GrammarValue, GrammarValue)

    /// In words, for help.
    package var text: String {
        switch self {
        case .flag: "true or false"
        case .text: "text"
        case .number(let range, let unit):
            "number from \(GrammarValue.text(range.lowerBound)) to \(GrammarValue.text(range.upperBound))"
                + (unit.isEmpty ? "" : " (\(unit))")
        case .choice(let words): words.joined(separator: " | ")
        case .duration: "time (500ms, 30s, 2m)"
        case .location: "location"
        case .locations: "location or list of locations"
        case .pattern: "text or /regular expression/"
        case .path: "path, relative to the profile"
        case .list(let member): "\(member.text), or a list of them"
        case .mapping(let keys): "mapping of \(keys.map(\.name).joined(separator: ", "))"
        case .names(let value): "mapping of names to: \(value.text)"
        case .either(let one, let other): "\(one.text); or \(other.text)"
        }
    }

    /// A number as people write it: without a fraction where there is none.
    static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

/// What a profile may say about one tool.
package struct ToolGrammar: Sendable {
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

    package let slot: StageSlot
    /// What messages call one rule: `a block rule`.
    package let noun: String
    package let summary: String
    package let scope: ScopeKey
    package let selection: RuleSelection
    package let keys: [GrammarKey]
    /// A whole example, the tool's key first.
    package let example: String
    /// Whether `true` stands for one rule that is for every request.
    package let takesTrue: Bool

    package init(
        _ slot: StageSlot,
        noun: String,
        summary: String,
        scope: ScopeKey,
        selection: RuleSelection,
        keys: [GrammarKey],
        example: String,
        takesTrue: Bool = false
    ) {
        self.slot = slot
        self.noun = noun
        self.summary = summary
        self.scope = scope
        self.selection = selection
        self.keys = keys
        self.example = example
        self.takesTrue = takesTrue
    }

    /// All keys of a rule: where it acts, the tool's own, and those that every rule has.
    package var allKeys: [GrammarKey] {
        var all: [GrammarKey] = []
        switch scope {
        case .at: all.append(ToolGrammar.at)
        // A tool whose `from` may be more than a location describes it among its own keys.
        case .from: if !keys.contains(where: { $0.name == "from" }) { all.append(ToolGrammar.from) }
        case .only: all.append(ToolGrammar.only)
        case .none: break
        }
        all += keys
        if scope != .none { all += [ToolGrammar.except, ToolGrammar.method] }
        return all + [ToolGrammar.name, ToolGrammar.enabled]
    }

    private static func locations(_ key: String, _ example: String, fallback: String? = nil) -> GrammarKey {
        GrammarKey(
            key,
            .locations,
            "The locations the rule is for, matched against the URL as the client sent it.",
            example: "\(key): \(example)",
            fallback: fallback
        )
    }

    private static let at = locations("at", "[\"*.example.com\", \"https://api.example.com/v1/*\"]")
    private static let from = locations("from", "\"https://api.example.com/v1/*\"")
    private static let only = locations("only", "[\"api.example.com\"]", fallback: "every request")
    private static let except = GrammarKey(
        "except",
        .locations,
        "Locations the rule is not for, even where another key names them.",
        example: "except: [\"*.example.com/health\"]",
        fallback: "none"
    )
    private static let method = GrammarKey(
        "method",
        .list(.text),
        "The methods the rule is for.",
        example: "method: [GET, HEAD]",
        fallback: "any"
    )
    private static let name = GrammarKey(
        "name",
        .text,
        "What traces and messages call the rule.",
        example: "name: no ads",
        fallback: "its number, as in 'rule 3'"
    )
    private static let enabled = GrammarKey(
        "enabled",
        .flag,
        "Whether the rule is in force.",
        example: "enabled: false",
        fallback: "true"
    )
}
