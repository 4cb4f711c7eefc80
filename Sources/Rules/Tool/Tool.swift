import ExchangeCore
import HTTPModel

/// A type-erased tool of the registry.
@dynamicMemberLookup
package struct Tool: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let type: any RuleTool.Type
    package let descriptor: ToolDescriptor

    package init(_ type: any RuleTool.Type) {
        self.type = type
        descriptor = type.descriptor
    }

    package subscript<Value>(dynamicMember path: KeyPath<ToolDescriptor, Value>) -> Value { descriptor[keyPath: path] }

    package var description: String { descriptor.key }

    package static func == (left: Tool, right: Tool) -> Bool { left.descriptor.id == right.descriptor.id }
    package static func < (left: Tool, right: Tool) -> Bool { left.descriptor.id < right.descriptor.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(descriptor.id) }

    /// Reads the value of the tool's key, one entry or a list, and returns the rules that can be used. `count` is the
    /// number of the tool's rules in earlier files.
    func read(_ node: Node, after count: Int, _ reader: inout ProfileReader) -> [any ToolRule] {
        if node.scalar != nil, descriptor.takesTrue {
            guard reader.flag(node, descriptor.key) == true else { return [] }
            let heading = RuleHeading(name: "rule \(count + 1)", place: reader.place(node))
            return type.rule(heading, ProfileFields(node: node, keys: []), &reader).map { [$0] } ?? []
        }
        if let message = descriptor.emptyListLint, node.sequence?.isEmpty == true { reader.lint(message, at: node) }
        var rules: [any ToolRule] = []
        for entry in node.members {
            guard let fields = reader.fields(entry, descriptor.noun, keys: descriptor.allKeys) else { continue }
            if let heading = reader.heading(fields, descriptor, number: count + rules.count + 1) {
                reader.valueUses = []
                guard var rule = type.rule(heading, fields, &reader) else { continue }
                rule.heading.values = reader.values(of: rule.heading, descriptor, fields)
                rules.append(rule)
                if let node = fields["when"], let condition = heading.condition, condition.phase >= .responseHead,
                    descriptor.conditions.contains(.response), type.anyDirections(rule).contains(.request)
                {
                    let reason = "it has terms of the response, and this rule acts on the request, too; see 'on'"
                    reader.error("when: \(reason)", at: node)
                }
            } else if descriptor.scope == .at {
                // Read nevertheless, so that further errors are found.
                _ = type.rule(RuleHeading(name: "", place: reader.place(entry)), fields, &reader)
            }
        }
        return rules
    }

    var isSwitchedInPlace: Bool { type.isSwitchedInPlace }

    func stage(_ rules: [any ToolRule]) -> any RuleTool { type.stage(rules) }

    /// Whether a rule matches a method and URL; the content of messages, chance and other rules do not count.
    func concerns(_ rule: any ToolRule, method: String, url: RequestURL) -> Bool {
        (descriptor.takesTunnels || url.scheme != "tunnel") && type.anyConcerns(rule, method: method, url: url)
    }

    /// Whether the scope alone decides which requests a rule matches; some rules have conditions of their own.
    func isWholeScope(_ heading: RuleHeading) -> Bool {
        heading.scope.locations != nil || descriptor.scope == .at || descriptor.scope == .only
    }

    /// Whether a rule for this location must read requests inside TLS: it names hosts and cannot act on their tunnels,
    /// or it refuses requests by path on any host.
    func hasToRead(_ location: Location) -> Bool {
        let actsOnTunnels = descriptor.takesTunnels && !location.namesPath
        return !actsOnTunnels && (location.namesHost || descriptor.refuses)
    }

    func breadths(for url: RequestURL) -> [ExchangeScope] {
        url.scheme != "tunnel" || descriptor.takesTunnels ? type.breadths(for: url) : []
    }

    func draft(from source: RuleSource, _ breadth: ExchangeScope) -> [Node.Member] {
        type.draft(from: source, breadth, at: .texts(breadth.locations(of: source.record.url)))
    }
}

extension RuleTool {
    fileprivate static func stage(_ rules: [any ToolRule]) -> any RuleTool {
        Self(rules: RuleList(rules.compactMap { $0 as? Rule }, takesTunnels: descriptor.takesTunnels))
    }

    fileprivate static func anyDirections(_ rule: any ToolRule) -> Set<FlowDirection> {
        (rule as? Rule).map { directions(of: $0) } ?? []
    }

    fileprivate static func anyConcerns(_ rule: any ToolRule, method: String, url: RequestURL) -> Bool {
        (rule as? Rule).map { concerns($0, method: method, url: url) } ?? false
    }
}

package struct ToolRegistry: Sendable, Hashable {
    /// In the order of menus.
    package let tools: [Tool]
    /// In the order in which messages pass them.
    package let inOrder: [Tool]

    package init(_ tools: [Tool]) {
        self.tools = tools
        inOrder = tools.sorted()
    }

    package subscript(key key: String) -> Tool? { tools.first { $0.key == key } }

    /// The sections of a profile that have rules, in the order in which messages pass the tools.
    package var sections: [ProfileSection] { inOrder.map { .tool($0) } + [.intercept] }

    func section(_ key: String) -> ProfileSection? { sections.first { $0.key == key } }

    package var withPresets: Tool? { tools.first { $0.presets != nil } }

    /// The tool that one key switches for all traffic.
    package var onEverything: Tool? { tools.first { $0.onEverything != nil } }
}
