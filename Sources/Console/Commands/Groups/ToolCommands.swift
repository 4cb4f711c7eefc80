import Rules
import Runner

extension CommandTable {
    static let tools = [
        Row(
            .toggleTool,
            "Switch a tool on or off",
            Tool.all.flatMap(\.toggleKeys),
            .tool,
            do: .asking { $0.toggleTool($1) }
        ).only(Tool.all.map(\.letter), at: [.list]).unless(\.noSteering),
        Row(.panel, "Open a tool's panel", Tool.all.map(\.panelKey), .tool, do: .asking { $0.openPanel($1) })
            .only(["N"], at: [.list]).unless(\.noProxy),
        Row(
            .ruleFromExchange,
            "Make a rule from the exchange",
            Tool.all.map { "a \($0.letter)" },
            .toolAndID,
            do: .asking { $0.draftRule($1) }
        ).short("add rule").unless(\.noOrigin),
        Row(.apply, "Put the drafted rule in force", do: .plain { $0.applyDraft() }).onLines.unless(\.noDraft),
        Row(.discard, "Throw the drafted rule away", do: .plain { $0.discardDraft() }).onLines.unless(\.noDraft),
        Row(
            .switchRule,
            "Switch one rule of a tool on or off",
            [],
            .rule,
            do: .asking { $0.changeRule($1) { $0.switchRule($1, of: $2) } }
        ).onLines.unless(\.noSteering),
        Row(
            .removeRule,
            "Remove one rule of a tool",
            [],
            .rule,
            do: .asking { $0.changeRule($1) { $0.removeRule($1, of: $2) } }
        ).onLines.unless(\.noSteering),
        Row(.preset, "Choose the network's conditions", ["x p"], .preset, do: .asking { $0.setPreset($1) })
            .unless(\.noSteering),
        Row(.saveProfile, "Save the rules to the profile's file", ["ctrl-s"], .file, do: .with { $0.saveProfile($1) })
            .unless(\.noSteering),
        Row(.undo, "Take back the last change of rules", ["u"], do: .plain { $0.undoRules() })
            .at([.list, .detail, .panel]).unless(\.noSteering),
        Row(
            .decrypt,
            "Decrypt a host again whose client refused the certificate",
            ["ctrl-d"],
            .host,
            do: .with { $0.decrypt($1) }
        ).unless(\.noSteering),
    ]
}
