import HTTPModel
import Runner
import Terminal

/// Messages that wait for a decision.
extension ConsoleModel {
    mutating func openHolds() -> [Effect] {
        overlays.append(.holds(selected: 0))
        return []
    }

    /// What a key does in the list of those that wait; `nil` where the key is none of its own.
    mutating func take(_ key: Key, holds selected: Int) -> [Effect]? {
        guard proxy.holds.indices.contains(selected) else { return nil }
        if let reason = whyNot(.execute) {
            guard ["x", "c", "a", "D", "X", "e"].contains(key.spelling) || key.code == .enter else { return nil }
            tell(reason, .error)
            return []
        }
        let id = proxy.holds[selected].id
        switch (key.code, key.modifiers) {
        case (.enter, []), (.character("e"), []): return [.openHold(id)]
        case (.character("x"), []), (.character("e"), .control): return decide(.execute, id)
        case (.character("c"), []): return decide(.cancel, id)
        case (.character("a"), []), (.character("D"), []): return decide(.abort, id)
        case (.character("X"), []): return perform(.executeAll, nil)
        default: return nil
        }
    }

    mutating func editHold(_ argument: String?) -> [Effect] {
        hold(argument).map { [.openHold($0)] } ?? []
    }

    mutating func decide(_ decision: HoldDecision, _ argument: String?) -> [Effect] {
        if argument == "all" { return [.decide(proxy.holds.map(\.id), decision)] }
        return hold(argument).map { [.decide([$0], decision)] } ?? []
    }

    /// The message that is meant: by its name, as that of the selected exchange, or the oldest.
    private mutating func hold(_ argument: String?) -> String? {
        if case .holds(let selected)? = overlays.last, argument == nil, proxy.holds.indices.contains(selected) {
            return proxy.holds[selected].id
        }
        guard let argument else {
            // Without a screen nobody sees which one is meant.
            if isLinear, proxy.holds.count > 1 {
                tell("Several messages wait, name one: \(proxy.holds.map(\.id).joined(separator: ", ")).", .error)
                return nil
            }
            let own = selectedID.map { "\($0.number)." } ?? "-"
            return (proxy.holds.first { $0.id.hasPrefix(own) } ?? proxy.holds.first)?.id
        }
        let found = proxy.holds.first { $0.id == argument || $0.id.hasPrefix(argument + ".") }
        if found == nil { tell("No message '\(argument.prefix(40))' waits.", .error) }
        return found?.id
    }
}
