import Rules
import Runner

extension CommandTable {
    static let holds = [
        Row(.holds, "The messages that wait for a decision", ["H"], do: .plain { $0.openHolds() })
            .short("held").unless(\.noHold),
        Row(.editHold, "Edit the message that waits", ["e"], .holdEdit, do: .with { $0.editHold($1) })
            .at([.list]).short("edit").unless(\.noDecision),
        Row(.execute, "Execute the message that waits", ["ctrl-e"], .hold, do: .with { $0.decide(.execute, $1) })
            .unless(\.noDecision),
        Row(.executeAll, "Execute all that wait", ["X"], do: .plain { $0.executeAll() })
            .at([.list]).unless(\.noDecision),
        Row(.cancel, "Cancel the hold: unedited, as though not held", [], .hold, do: .with { $0.decide(.cancel, $1) })
            .unless(\.noDecision),
        Row(.abort, "Abort the exchange that waits", ["D"], .hold, do: .with { $0.decide(.abort, $1) })
            .at([.list]).unless(\.noDecision),
    ]
}
