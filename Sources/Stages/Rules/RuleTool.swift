package import ExchangeCore

/// A tool that a profile configures: its grammar, its rules, and the stage that they make.
///
/// Adding one takes one file in `Tools`, one line in ``ToolRegistry``, one test file and an example in `Profiles`.
protocol RuleTool: Stage {
    /// One rule, compiled.
    associatedtype Rule: ToolRule
    /// What a profile may say about it.
    static var grammar: ToolGrammar { get }
    /// Reads what is the tool's own in one entry.
    ///
    /// The heading is read already. What is wrong goes to the reader; `nil` where the entry cannot be used.
    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule?
    /// Makes the stage of all rules in the user's order, those that are not enabled too.
    init(_ rules: [Rule])
    /// Whether it must be asked about every exchange, since it acts where no rule matches.
    static var actsWithoutMatch: Bool { get }
}

extension RuleTool {
    var slot: StageSlot { Self.grammar.slot }
    static var actsWithoutMatch: Bool { false }
}

protocol ToolRule: Sendable {
    var heading: RuleHeading { get }
}

/// What a profile says about one tool.
package struct ToolOutline: Sendable {
    /// The tool's place and name.
    package let slot: StageSlot
    /// What the tool is for, in one sentence.
    package let summary: String
    /// Which of the rules that match act.
    package let selection: RuleSelection
    /// The rules in the user's order, those that are not enabled too.
    package let rules: [RuleHeading]
    /// By position: rules that never decide, and for each the earlier one that is for all that it is for.
    package let shadows: [Int: Int]
    /// How the tool's rules say which requests they are for.
    let scope: ToolGrammar.ScopeKey

    init(_ grammar: ToolGrammar, _ rules: [RuleHeading]) {
        slot = grammar.slot
        summary = grammar.summary
        selection = grammar.selection
        scope = grammar.scope
        self.rules = rules
        let comparable = rules.map {
            ToolOutline.isWholeScope($0, grammar.scope) && !$0.isConditional ? $0 : nil
        }
        shadows = grammar.selection == .first ? Shadows.find(comparable) : [:]
    }

    /// Whether a rule's scope says all about which requests it is for; some have conditions of their own.
    static func isWholeScope(_ heading: RuleHeading, _ scope: ToolGrammar.ScopeKey) -> Bool {
        heading.scope.locations != nil || scope == .at || scope == .only
    }

    /// Whether a rule's scope says all about which requests it is for.
    func isWholeScope(_ heading: RuleHeading) -> Bool { ToolOutline.isWholeScope(heading, scope) }
}

/// Which of several rules that match a request act.
package enum RuleSelection: Sendable, Hashable {
    /// The first one; later ones are shadowed.
    case first
    /// All, in the user's order.
    case all
}

/// A tool with its types erased, as the registry lists it.
struct Tool: Sendable {
    let grammar: ToolGrammar
    let actsWithoutMatch: Bool
    private let readRule: @Sendable (RuleHeading, ProfileFields, inout ProfileReader) -> (any ToolRule)?
    private let makeStage: @Sendable ([any ToolRule]) -> any Stage

    init<T: RuleTool>(_ type: T.Type) {
        grammar = T.grammar
        actsWithoutMatch = T.actsWithoutMatch
        readRule = { T.rule($0, $1, &$2) }
        makeStage = { T($0.compactMap { $0 as? T.Rule }) }
    }

    /// Reads the value of the tool's key: one entry or a list of them.
    ///
    /// - Parameters:
    ///   - node: the value.
    ///   - count: how many rules of the tool were read before.
    ///   - reader: told what is wrong.
    func read(_ node: Node, after count: Int, _ reader: inout ProfileReader) -> [any ToolRule] {
        if let text = node.scalar?.string, grammar.takesTrue {
            guard let isOn = reader.flag(node, grammar.slot.name), isOn else { return [] }
            let heading = RuleHeading(name: "rule \(count + 1)", place: reader.place(node), action: "")
            var fields = ProfileFields(node: node, keys: [])
            fields.name = text
            return readRule(heading, fields, &reader).map { [$0] } ?? []
        }
        var rules: [any ToolRule] = []
        for entry in reader.list(node) {
            guard let fields = reader.fields(entry, grammar.noun, keys: grammar.allKeys) else { continue }
            guard let heading = reader.heading(fields, grammar, number: count + rules.count + 1) else {
                // What else is wrong with it is found too.
                if grammar.scope == .at {
                    _ = readRule(RuleHeading(name: "", place: reader.place(entry)), fields, &reader)
                }
                continue
            }
            if let rule = readRule(heading, fields, &reader) { rules.append(rule) }
        }
        return rules
    }

    func stage(_ rules: [any ToolRule]) -> any Stage { makeStage(rules) }
}
