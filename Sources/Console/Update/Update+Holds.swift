import HTTPModel
import Runner
import Terminal

extension ConsoleModel {
    mutating func openHolds() -> [Effect] { push(.holds(selected: proxy.holds.first?.id)) }

    /// Selects another held message; where none is selected, the first or the last.
    mutating func moveInHolds(from selected: String?, by lines: Int) {
        guard !proxy.holds.isEmpty else { return }
        let last = proxy.holds.count - 1
        let index = proxy.holds.firstIndex { $0.id == selected } ?? (lines > 0 ? -1 : last + 1)
        replaceTop(by: .holds(selected: proxy.holds[min(max(0, index + lines), last)].id))
    }

    mutating func selectHold(beside id: String) {
        let place = overlays.lastIndex {
            if case .holds(let selected) = $0 { selected == id } else { false }
        }
        guard let place else { return }
        let index = proxy.holds.firstIndex { $0.id == id } ?? 0
        let others = proxy.holds.filter { $0.id != id }
        overlays[place] = .holds(selected: others.isEmpty ? nil : others[min(index, others.count - 1)].id)
    }

    /// Closes the list where nothing is held any more, and selects nothing in place of a message that is gone: a key
    /// meant for it must not decide another.
    mutating func updateHolds() {
        for index in overlays.indices.reversed() {
            guard case .holds(let selected) = overlays[index] else { continue }
            if let selected, !proxy.holds.contains(where: { $0.id == selected }) {
                overlays[index] = .holds(selected: nil)
                tell("The selected message does not wait any more.")
            }
            if proxy.holds.isEmpty { overlays.remove(at: index) }
        }
    }

    /// Applies a key of the list; `nil` for other keys.
    mutating func take(_ key: Key, holds selected: String?) -> [Effect]? {
        if let reason = whyNot(.execute) {
            guard ["x", "c", "a", "D", "X", "e"].contains(key.spelling) || key.code == .enter else { return nil }
            return refuse(reason)
        }
        switch (key.code, key.modifiers) {
        case (.enter, []), (.character("e"), []): return editHold(nil)
        case (.character("x"), []), (.character("e"), .control): return decide(.execute, nil)
        case (.character("c"), []): return decide(.cancel, nil)
        case (.character("a"), []), (.character("D"), []): return decide(.abort, nil)
        case (.character("X"), []): return perform(.executeAll, nil)
        default: return nil
        }
    }

    /// Opens a message to edit it, or applies the changes that follow its name.
    mutating func editHold(_ argument: String?) -> [Effect] {
        guard let id = hold(argument?.firstWord.word) else { return [] }
        return [argument?.firstWord.rest.map { .editHold(id, .words($0)) } ?? .openHold(id)]
    }

    mutating func decide(_ decision: HoldDecision, _ argument: String?) -> [Effect] {
        if argument == "all" {
            if case .holds? = overlays.last { replaceTop(by: .holds(selected: nil)) }
            return [.decide(proxy.holds.map(\.id), decision)]
        }
        guard let id = hold(argument) else { return [] }
        selectHold(beside: id)
        return [.decide([id], decision)]
    }

    /// The message of a name, else that of the selected exchange, else the oldest.
    private mutating func hold(_ argument: String?) -> String? {
        if case .holds(let selected)? = overlays.last, argument == nil {
            if selected == nil { tell("No message is selected; \(way(to: .down, in: .panel)) selects one.", .error) }
            return selected
        }
        guard let argument else {
            // On lines, nobody would see which one is meant.
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
