public import ExchangeCore
import HTTPModel
import Yams

/// The allow list: only requests that match one of its locations pass.
public struct AllowList: Stage {
    /// The allow list's place.
    public var slot: StageSlot { .allowList }

    private var index = LocationIndex()
    private var refusal = Refusal.forbid

    /// A handler that refuses, unless a location matches.
    public func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard index.first(opening.url) == nil else { return nil }
        return RefusingHandler(refusal, rule: nil, reason: "no location of the allow list matches")
    }
}

extension AllowList {
    /// Reads the key's value.
    ///
    /// `allow: { at: ["*.example.com", "localhost"], action: 403 }`, or a list of such; the first action counts for all.
    static let tool = Tool(key: "allow") { node, reader in
        var list = AllowList()
        var action: Refusal?
        var count = 0
        var isAnyEnabled = false
        for entry in reader.list(node) {
            guard let fields = reader.rule(entry, "an allow rule", keys: ["at", "action"]) else { continue }
            let own = fields["action"].flatMap { reader.choice($0, "action", Refusal.choices) }
            guard let at = reader.required(fields, "at", "an allow rule") else { continue }
            let locations = reader.locations(at)
            guard fields.isEnabled else { continue }
            isAnyEnabled = true
            if let own, let action, own != action {
                reader.lint("the allow list has one action for all that does not pass: the first one given", at: entry)
            }
            action = action ?? own
            for location in locations { list.index.add(location, rule: count) }
            count += 1
        }
        if !isAnyEnabled, reader.list(node).isEmpty {
            reader.lint(
                "the allow list is empty and therefore not in force; to block all, use block: { at: \"*\" }",
                at: node
            )
        }
        list.refusal = action ?? .forbid
        return isAnyEnabled ? Tool.Result(stage: list, ruleCount: count) : nil
    }
}
