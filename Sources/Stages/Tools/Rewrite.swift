public import ExchangeCore
import HTTPModel
import Yams

/// The rewrite tool: named sets of rules that edit heads, each for its locations.
public struct Rewrite: Stage {
    private struct NamedRule: Sendable {
        let name: String
        let rule: HeaderRule
    }

    /// The rewrite tool's place.
    public var slot: StageSlot { .rewrite }

    private var sets: [[NamedRule]] = []
    private var index = LocationIndex()

    /// A handler with the rules of every set that has a matching location, in the user's order.
    public func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let found = index.all(opening.url)
        guard !found.isEmpty else { return nil }
        return Handler(found.flatMap { sets[$0] })
    }

    private final class Handler: StageHandler {
        private let rules: [NamedRule]

        init(_ rules: [NamedRule]) {
            self.rules = rules
        }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            edit(&head.fields, .request, &exchange)
            return .forward
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            edit(&head.fields, .response, &exchange)
            return .forward
        }

        private func edit(
            _ fields: inout FieldSection,
            _ direction: FlowDirection,
            _ exchange: inout StageExchange
        ) {
            for named in rules where named.rule.directions.contains(direction) {
                let before = fields
                do {
                    guard let change = try named.rule.apply(to: &fields) else { continue }
                    exchange.fired(rule: named.name, "\(direction) header: \(change)")
                } catch {
                    fields = before
                    exchange.note(
                        "\(named.name): the regular expression took too long and was stopped; nothing was changed"
                    )
                }
            }
        }
    }
}

extension Rewrite {
    private static let verbs = ["add", "modify", "remove"]
    private static let later = ["query", "host", "path", "url", "status", "body"]

    /// Reads the key's value.
    ///
    /// `rewrite: [ { name: …, at: [ … ], rules: [ { add: header, … } ] } ]`
    static let tool = Tool(key: "rewrite") { node, reader in
        var rewrite = Rewrite()
        var count = 0
        for (position, entry) in reader.list(node).enumerated() {
            guard let fields = reader.rule(entry, "a rewrite set", keys: ["at", "rules"]) else { continue }
            let name = fields.name ?? "set \(position + 1)"
            var locations: [Location] = []
            if let at = reader.required(fields, "at", "a rewrite set") { locations = reader.locations(at) }
            guard let list = reader.required(fields, "rules", "a rewrite set") else { continue }
            if reader.list(list).isEmpty { reader.lint("the set has no rules", at: list) }
            let rules = reader.list(list).enumerated().compactMap { rule(name, $0, $1, &reader) }
            guard fields.isEnabled, !rules.isEmpty else { continue }
            for location in locations { rewrite.index.add(location, rule: rewrite.sets.count) }
            rewrite.sets.append(rules)
            count += rules.count
        }
        return count == 0 ? nil : Tool.Result(stage: rewrite, ruleCount: count)
    }

    private static func rule(
        _ set: String,
        _ position: Int,
        _ node: Node,
        _ reader: inout ProfileReader
    ) -> NamedRule? {
        let keys = verbs + ["on", "to", "match", "whole", "case", "replace", "rename"]
        guard let fields = reader.rule(node, "a rewrite rule", keys: keys) else { return nil }
        let used = verbs.filter { fields[$0] != nil }
        guard used.count == 1, let verb = used.first, let target = fields[verb] else {
            reader.error("a rewrite rule has one of 'add', 'modify' or 'remove'", at: node)
            return nil
        }
        guard let what = reader.text(target, verb) else { return nil }
        guard what == "header" else {
            let message =
                later.contains(what)
                ? "this version of Sluice cannot rewrite '\(what)' yet"
                : "'\(verb)' takes 'header', not '\(what.prefix(40))'\(Suggestion.text(for: what, among: ["header"]))"
            reader.error(message, at: target)
            return nil
        }
        guard let rule = HeaderRule(fields, verb, &reader), fields.isEnabled else { return nil }
        return NamedRule(name: "\(set) #\(position + 1)", rule: rule)
    }
}
