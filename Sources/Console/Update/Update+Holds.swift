import HTTPModel
import Runner
import Sharing
import Terminal

extension ConsoleModel {
    /// The message of an exchange that waits for a decision.
    func hold(of id: ExchangeID) -> HoldSummary? { proxy.holds.first { $0.id.hasPrefix("\(id.number).") } }

    /// What of an exchange waits, and the ways to decide about it; `nil` where nothing waits.
    func heldSide(_ id: ExchangeID) -> HeldSide? {
        guard let hold = hold(of: id) else { return nil }
        let ways = [Command.execute, .cancel, .abort].map { isLinear ? $0.rawValue : "\($0.rawValue) (\(way(to: $0)))" }
        return HeldSide(isRequest: hold.side == "request", ways: "\(ways[0]), \(ways[1]) or \(ways[2])")
    }

    /// Reads the open exchange again where its message began to wait, or waits no more.
    mutating func readHeld() -> [Effect] {
        guard detail.isOpen, let id = detail.id, detail.options.held != heldSide(id) else { return [] }
        return loadDetail(of: id)
    }

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

    /// Applies a key of the list of held messages, which are those outside of it; `nil` for other keys.
    mutating func take(_ key: Key, holds selected: String?) -> [Effect]? {
        if key == Key(.enter) { return perform(.editHold, nil) }
        guard case .binding(let binding) = keymap.lookUp(key, after: nil, in: .list),
            Command.ofHolds.contains(binding.command)
        else { return nil }
        return perform(binding.command, binding.argument)
    }

    /// Opens a message to edit it, or applies the changes that follow its name; on lines alone, opens the draft.
    mutating func editHold(_ argument: String?) -> [Effect] {
        if isLinear, argument == nil, let draft { return [.terminal(.edit(draft))] }
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

    /// The message of a name, of the number of its exchange, or the last; else that of the selected exchange, else the
    /// oldest.
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
        let name = argument == "last" ? proxy.holds.last?.id ?? argument : String(argument.drop { $0 == "#" })
        let found = proxy.holds.first { $0.id == name || $0.id.hasPrefix(name + ".") }
        if found == nil { tell("No message '\(argument.prefix(40))' waits.", .error) }
        return found?.id
    }
}

extension Command {
    /// What one does with held messages, in the order of the footer.
    static let ofHolds: [Command] = [.editHold, .execute, .cancel, .abort, .executeAll]
}
