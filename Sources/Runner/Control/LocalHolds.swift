import ExchangeCore
import HTTPModel

/// A target that holds messages in this process.
protocol LocalHolds: ControlTarget {
    /// The oldest first.
    func waitingHolds() async -> [WaitingHold]
    /// `false` if the message is no longer waiting.
    func resolve(_ id: HoldID, _ resolution: HoldResolution) async -> Bool
}

extension LocalHolds {
    func holds() async -> [HoldSummary] { await waitingHolds().map { HoldSummary($0) } }

    func hold(_ id: String) async throws -> HoldDetails { HoldDetails(try await only(id)) }

    func editHold(_ id: String, _ edit: HoldEdit) async throws -> String {
        let hold = try await only(id)
        guard await resolve(hold.id, try edit.resolution(for: hold.message)) else { throw gone(hold.id.description) }
        return hold.id.description
    }

    func decide(_ ids: [String], _ decision: HoldDecision) async throws -> HoldsDecided {
        let waiting = await waitingHolds()
        var chosen: [HoldID] = []
        // All names are checked first, so that nothing is decided if one name is wrong.
        for name in ids {
            for hold in try choose(name, waiting) where !chosen.contains(hold.id) { chosen.append(hold.id) }
        }
        var result = HoldsDecided()
        for id in chosen {
            let list = await resolve(id, decision.resolution) ? \HoldsDecided.decided : \HoldsDecided.gone
            result[keyPath: list].append(id.description)
        }
        return result
    }

    private func only(_ name: String) async throws -> WaitingHold {
        let found = try choose(name, await waitingHolds())
        guard let hold = found.first else { throw ControlError("No message is waiting.") }
        guard found.count == 1 else {
            throw ControlError("'\(name)' is more than one message.", hint: "Choose one: \(list(found)).")
        }
        return hold
    }

    /// `all`, `12.1`, or `12` for all messages of exchange 12.
    private func choose(_ name: String, _ holds: [WaitingHold]) throws(ControlError) -> [WaitingHold] {
        if name == "all" { return holds }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let exchange = Int64(parts[0]),
            let ordinal = parts.count == 1 ? 0 : Int(parts[1])
        else {
            let hint = "Write an ID such as 12.1, or 'all'."
            throw ControlError("'\(name.prefix(40))' is not a message.", hint: hint)
        }
        let found = holds.filter {
            $0.id.exchange.number == exchange && (parts.count == 1 || $0.id.ordinal == ordinal)
        }
        if !found.isEmpty { return found }
        throw holds.isEmpty
            ? gone(name) : ControlError("Message \(name) is not waiting.", hint: "Waiting: \(list(holds)).")
    }

    private func gone(_ id: String) -> ControlError {
        let hint = "It was decided, timed out, or its client disconnected."
        return ControlError("Message \(id) is no longer waiting.", hint: hint)
    }

    private func list(_ holds: [WaitingHold]) -> String {
        let shown = holds.prefix(20).map(\.id.description).joined(separator: ", ")
        return holds.count > 20 ? "\(shown), …" : shown
    }
}
