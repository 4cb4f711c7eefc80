import Rules
import Runner

extension CommandTable {
    static let holds = [
        Row(.holds, "The held messages", ["H"], do: .plain { $0.openHolds() })
            .short("held").unless(\.noHold),
        Row(.editHold, "Edit the held message", ["e"], .holdEdit, do: .with { $0.editHold($1) })
            .at([.list]).short("edit").unless(\.noEdit),
        Row(.execute, "Execute the held message", ["ctrl-e"], .hold, do: .with { $0.decide(.execute, $1) })
            .unless(\.noDecision),
        Row(.executeAll, "Execute all held messages", ["X"], do: .plain { $0.executeAll() })
            .at([.list]).unless(\.noDecision),
        Row(
            .cancel,
            "Cancel the hold: release the message unmodified",
            ["ctrl-x"],
            .hold,
            do: .with { $0.decide(.cancel, $1) }
        )
        .unless(\.noDecision),
        Row(.abort, "Abort the held exchange", ["ctrl-a"], .hold, do: .with { $0.decide(.abort, $1) })
            .unless(\.noDecision),
    ]
}
