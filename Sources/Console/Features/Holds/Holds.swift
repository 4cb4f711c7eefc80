import Description
import HTTPModel
import Runner
import Terminal
import Text

extension CommandTable {
    static let holds = ofHolds + decisions.map { $0.unless(\.noDecision) }

    private static let ofHolds = [
        Row(.holds, "Show the held messages", ["H"]).plain { $0.openHolds() }.short("held").unless(\.noHold),
        Row(.editHold, "Edit the held message", ["e"], "HOLD [NAME=VALUE …]").with { $0.editHold($1) }.at([.list])
            .short("edit").unless(\.noEdit),
    ]

    private static let decisions = [
        Row(.execute, "Execute the held message", ["ctrl-e"], "HOLD").with { $0.decide(.execute, $1) },
        Row(.executeAll, "Execute all held messages", ["X"]).plain { $0.executeAll() }.at([.list]),
        Row(.cancel, "Cancel the hold: release the message unmodified", ["ctrl-x"], "HOLD")
            .with { $0.decide(.cancel, $1) },
        Row(.abort, "Abort the held exchange", ["ctrl-a"], "HOLD").with { $0.decide(.abort, $1) },
    ]
}

extension ConsoleModel {
    func hold(of id: ExchangeID) -> HoldSummary? { proxy.holds.first { $0.id.hasPrefix("\(id.number).") } }

    /// The held message of an exchange, and the commands that decide it; `nil` if none of its messages is held.
    func heldSide(_ id: ExchangeID) -> HeldSide? {
        guard let hold = hold(of: id) else { return nil }
        let ways = [Command.execute, .cancel, .abort].map { isLinear ? $0.rawValue : "\($0.rawValue) (\(way(to: $0)))" }
        return HeldSide(isRequest: hold.side == "request", ways: "\(ways[0]), \(ways[1]) or \(ways[2])")
    }

    mutating func readHeld() -> [Effect] {
        guard detail.isOpen, let id = detail.id, detail.options.held != heldSide(id) else { return [] }
        return loadDetail(of: id)
    }

    mutating func openHolds() -> [Effect] { push(.holds(selected: proxy.holds.first?.id)) }

    mutating func moveInHolds(from selected: String?, by lines: Int) {
        guard !proxy.holds.isEmpty else { return }
        let last = proxy.holds.count - 1
        let index = proxy.holds.firstIndex { $0.id == selected } ?? (lines > 0 ? -1 : last + 1)
        replaceTop(by: .holds(selected: proxy.holds[min(max(0, index + lines), last)].id))
    }

    mutating func selectHold(beside id: String) {
        let place = overlays.lastIndex { if case .holds(let selected) = $0 { selected == id } else { false } }
        guard let place else { return }
        let index = proxy.holds.firstIndex { $0.id == id } ?? 0
        let others = proxy.holds.filter { $0.id != id }
        overlays[place] = .holds(selected: others.isEmpty ? nil : others[min(index, others.count - 1)].id)
    }

    /// If the selected message is gone, selects nothing, so that a key does not decide a different message.
    mutating func updateHolds() {
        for index in overlays.indices.reversed() {
            guard case .holds(let selected) = overlays[index] else { continue }
            if let selected, !proxy.holds.contains(where: { $0.id == selected }) {
                overlays[index] = .holds(selected: nil)
                tell("The selected message is no longer held.")
            }
            if proxy.holds.isEmpty { overlays.remove(at: index) }
        }
    }

    /// Applies a key in the list of held messages. The keys are the same as outside the list; `nil` for other keys.
    mutating func take(_ key: Key, holds selected: String?) -> [Effect]? {
        if key == Key(.enter) { return perform(.editHold, nil) }
        guard case .binding(let binding) = keymap.lookUp(key, after: nil, in: .list),
            Command.ofHolds.contains(binding.command)
        else { return nil }
        return perform(binding.command, binding.argument)
    }

    /// Opens a message to edit it, or applies the changes after its name; in linear mode, opens a draft first.
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

    /// Finds a held message by name, exchange number or `last`; by default of the selected exchange, or the oldest.
    private mutating func hold(_ argument: String?) -> String? {
        if case .holds(let selected)? = overlays.last, argument == nil {
            if selected == nil { tell("No message is selected; \(way(to: .down, in: .panel)) selects one.", .error) }
            return selected
        }
        guard let argument else {
            // In linear mode, the user would not see which message is decided.
            if isLinear, proxy.holds.count > 1 {
                tell("Several messages are held, name one: \(proxy.holds.map(\.id).joined(separator: ", ")).", .error)
                return nil
            }
            let own = selectedID.map { "\($0.number)." } ?? "-"
            return (proxy.holds.first { $0.id.hasPrefix(own) } ?? proxy.holds.first)?.id
        }
        let name = argument == "last" ? proxy.holds.last?.id ?? argument : String(argument.drop { $0 == "#" })
        let found = proxy.holds.first { $0.id == name || $0.id.hasPrefix(name + ".") }
        if found == nil { tell("No message '\(argument.prefix(40))' is held.", .error) }
        return found?.id
    }
}

extension Command {
    static let ofHolds: [Command] = [.editHold, .execute, .cancel, .abort, .executeAll]
}

enum HoldsView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let style = model.look.theme.alert
        screen.fill(rect, style: style)
        let holds = model.proxy.holds
        for (row, hold) in holds.prefix(rect.height).enumerated() {
            let isLast = row == rect.height - 1 && holds.count > rect.height
            let more = isLast ? " (and \(holds.count - rect.height) more)" : ""
            let text = " HELD \(hold.id) \(hold.side) \(hold.method) \(hold.url)"
            let ways = "\(model.way(to: .holds)) shows it, \(model.way(to: .executeAll)) executes all"
            screen.write(text, right: " \(Int(hold.age)) s\(more)  \(ways) ", in: rect.row(row), style: style)
        }
    }
}
