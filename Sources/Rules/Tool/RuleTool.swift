package import ExchangeCore
package import HTTPModel

/// A tool that a profile configures: its description, its rules, and the stage that they make. A new tool needs one
/// file in `Tools`, one line in the registry, one test file and an example in `Profiles`.
package protocol RuleTool: Stage {
    /// A compiled rule; `RuleHeading` if rules have nothing else.
    associatedtype Rule: ToolRule
    static var descriptor: ToolDescriptor { get }
    /// Reads the tool's own keys of one entry, whose heading is read already; `nil` if the entry cannot be used.
    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule?
    /// Makes the stage of all rules in the user's order, including disabled rules.
    init(rules: RuleList<Rule>)

    /// Whether a rule matches a method and URL; the content of messages, chance and other rules do not count.
    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool
    /// The messages that a rule acts on.
    static func directions(of rule: Rule) -> Set<FlowDirection>
    /// The scopes that a rule for a URL can have, from narrow to wide.
    static func breadths(for url: RequestURL) -> [ExchangeScope]
    /// The fields of a rule from a recorded exchange.
    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member]
    /// The stage for a dry run, which writes nothing.
    var dryRun: any Stage { get }
    /// Whether the tool is switched by `isOn`, also for running exchanges, and not by leaving it out of the chain.
    static var isSwitchedInPlace: Bool { get }
    /// Whether the tool acts; setting it has an effect only if `isSwitchedInPlace`.
    var isOn: Bool { get nonmutating set }
    /// The rules that count their requests, in the user's order.
    var counts: [RuleCount] { get }
    /// Starts the counts, and random choices that depend on counts, again.
    func resetCounts()
    /// Called before the stage replaces an older one.
    func prepare(toReplace old: Self)
    /// Called after a new stage, or none, has replaced this one.
    func wasReplaced(by new: Self?)
}

extension RuleTool {
    package var id: StageID { Self.descriptor.id }

    package static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        rule.heading.scope.matches(method: method, url: url)
    }
    package static func directions(of rule: Rule) -> Set<FlowDirection> { descriptor.directions }
    package static func breadths(for url: RequestURL) -> [ExchangeScope] { ExchangeScope.all(for: url) }
    package static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member(descriptor.scope.rawValue, place)]
    }
    package var dryRun: any Stage { self }
    package static var isSwitchedInPlace: Bool { false }
    package var isOn: Bool {
        get { true }
        nonmutating set {}
    }
    package var counts: [RuleCount] { [] }
    package func resetCounts() {}
    package func prepare(toReplace old: Self) {}
    package func wasReplaced(by new: Self?) {}
}

/// A tool whose first matching rule decides about each exchange independently.
package protocol FirstRuleTool: RuleTool {
    var rules: RuleList<Rule> { get }
    func handler(for opening: ExchangeOpening, by match: RuleMatch<Rule>) -> any StageHandler
}

extension FirstRuleTool {
    package func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        rules.first(opening).map { handler(for: opening, by: $0) }
    }
}

package protocol ToolRule: Sendable {
    var heading: RuleHeading { get set }
}

extension RuleHeading: ToolRule {
    package var heading: RuleHeading {
        get { self }
        set { self = newValue }
    }
}

/// A tool's rules in the user's order, indexed by request.
package struct RuleList<Rule: ToolRule>: Sendable {
    package let all: [Rule]
    private var index: RuleIndex
    private let takesTunnels: Bool
    /// Whether a rule has a condition, or values that may have to wait for the request.
    private let hasConditions: Bool

    package init(_ rules: [Rule], takesTunnels: Bool) {
        all = rules
        index = RuleIndex(rules.map(\.heading))
        self.takesTunnels = takesTunnels
        hasConditions = rules.map(\.heading).contains { $0.condition != nil || $0.values?.bodyPlaces.isEmpty == false }
    }

    package var withNormalisedPaths: RuleList {
        var list = self
        list.index = RuleIndex(all.map { $0.heading.withNormalisedPaths })
        return list
    }

    /// The first rule that matches a request, with the first of its locations that matches. If the response decides a
    /// condition, the rule counts as matching.
    package func first(_ opening: ExchangeOpening) -> RuleMatch<Rule>? {
        guard takesTunnels || !opening.isTunnel else { return nil }
        return hasConditions ? found(opening, isFirst: true).first : index.first(opening).map { match($0, opening) }
    }

    /// All rules that match a request, each with the first of its locations that matches. If the response decides a
    /// condition, the rule counts as matching: see ``RuleMatch/holds``.
    package func matches(_ opening: ExchangeOpening) -> [RuleMatch<Rule>] {
        guard takesTunnels || !opening.isTunnel else { return [] }
        return hasConditions ? found(opening, isFirst: false) : index.all(opening).map { match($0, opening) }
    }

    /// For tools that look for their rule later: what conditions need is waited for only if it is asked for at once.
    package func askForConditions(_ opening: ExchangeOpening) {
        if hasConditions { _ = found(opening, isFirst: true) }
    }

    /// If the request's body or the client's program decides a condition, nothing matches yet: the chain asks again.
    private func found(_ opening: ExchangeOpening, isFirst: Bool) -> [RuleMatch<Rule>] {
        var found: [RuleMatch<Rule>] = []
        var isWaiting = false
        let conditions = opening.conditions as? OpenConditions
        for entry in index.all(opening, conditions) {
            let state = entry.condition.map { conditions?.state(of: $0) ?? .fails } ?? .holds
            if case .fails = state { continue }
            // Asked at once, so that the body is waited for also if the client's program is not known yet.
            let values = entry.values.flatMap { conditions?.state(of: $0) } ?? .holds
            switch (state, values) {
            case (.awaitsRequest, _), (_, .awaitsRequest): isWaiting = true
            case (.awaitsResponse, _): found.append(match(entry, opening))
            default:
                found.append(match(entry, opening))
                if isFirst { return isWaiting ? [] : found }
            }
        }
        return isWaiting ? [] : found
    }

    private func match(_ found: RuleIndex.Match, _ opening: ExchangeOpening) -> RuleMatch<Rule> {
        let location = index.location(of: found)
        let rule = all[found.rule]
        return RuleMatch(position: found.rule, rule: rule, location: location, conditions: opening.conditions)
    }
}

package struct RuleMatch<Rule: ToolRule> {
    package let position: Int
    package let rule: Rule
    /// The location that matches; `nil` if the rule is for every request.
    package let location: Location?
    fileprivate let conditions: (any ExchangeConditions)?

    /// Whether the rule's condition holds; `false` while it waits for the response.
    package var holds: Bool {
        guard let condition = rule.heading.condition else { return true }
        if case .holds? = conditions?.state(of: condition.number) { return true }
        return false
    }
}

package struct ToolOutline: Sendable {
    package let tool: Tool
    /// In the user's order, including disabled rules.
    package let rules: [RuleHeading]
    /// Rules that never decide, by position, each with the earlier rule that covers its whole scope.
    package let shadows: [Int: Int]

    init(_ tool: Tool, _ rules: [RuleHeading]) {
        (self.tool, self.rules) = (tool, rules)
        let comparable = rules.map { tool.isWholeScope($0) && !$0.isConditional && $0.condition == nil ? $0 : nil }
        shadows = tool.selection == .first ? Shadows.find(comparable) : [:]
    }
}
