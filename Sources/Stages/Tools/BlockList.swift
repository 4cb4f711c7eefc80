public import ExchangeCore
import HTTPModel
import Yams

/// The block list: requests that match one of its rules are refused, by a cut connection or by a 403.
///
/// A tunnel that is not decrypted can match by host and port only.
public struct BlockList: Stage {
    private struct Rule {
        let name: String
        let refusal: Refusal
    }

    /// The block list's place.
    public var slot: StageSlot { .blockList }

    private var rules: [Rule] = []
    private var index = LocationIndex()

    /// A handler that refuses, where a rule matches.
    public func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard let (position, location) = index.first(opening.url) else { return nil }
        let rule = rules[position]
        return RefusingHandler(rule.refusal, rule: rule.name, reason: "the block list has \(location)")
    }
}

extension BlockList {
    /// Reads the key's value.
    ///
    /// `block: [ { at: "*.tracker.example", action: drop } ]`
    static let tool = Tool(key: "block") { node, reader in
        var list = BlockList()
        for (position, entry) in reader.list(node).enumerated() {
            guard let fields = reader.rule(entry, "a block rule", keys: ["at", "action"]) else { continue }
            let refusal = fields["action"].flatMap { reader.choice($0, "action", Refusal.choices) } ?? .forbid
            guard let at = reader.required(fields, "at", "a block rule") else { continue }
            let locations = reader.locations(at)
            guard fields.isEnabled else { continue }
            for location in locations { list.index.add(location, rule: list.rules.count) }
            list.rules.append(Rule(name: fields.name ?? "rule \(position + 1)", refusal: refusal))
        }
        return list.rules.isEmpty ? nil : Tool.Result(stage: list, ruleCount: list.rules.count)
    }
}
