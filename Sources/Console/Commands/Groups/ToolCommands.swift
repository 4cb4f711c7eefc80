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
        Row(.draft, "Read the draft, or change a key or line of it", [], .draftChange, do: .with { $0.changeDraft($1) })
            .onLines.unless(\.noDraft),
        Row(.wider, "Draft the rule with the next wider scope", do: .plain { $0.widenDraft() })
            .onLines.unless(\.noDraft),
        Row(.apply, "Put the drafted rule in force, or send the request", do: .plain { $0.applyDraft() })
            .onLines.unless(\.noDraft),
        Row(.discard, "Throw the draft away", do: .plain { $0.discardDraft() }).onLines.unless(\.noDraft),
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
        Row(
            .editRule,
            "Draft one rule of a tool anew, to be changed",
            [],
            .rule,
            do: .asking { $0.changeRule($1) { $0.editRule($1, of: $2) } }
        ).onLines.unless(\.noSteering),
        Row(.moveRule, "Move one rule of a tool up or down", [], .ruleMove, do: .asking { $0.moveRule($1) })
            .onLines.unless(\.noSteering),
        Row(.preset, "Choose the network's conditions", ["x p"], .preset, do: .asking { $0.setPreset($1) })
            .unless(\.noSteering),
        Row(.saveProfile, "Save the rules to the profile's file", ["ctrl-s"], .file, do: .with { $0.saveProfile($1) })
            .unless(\.noSteering),
        Row(
            .loadProfile,
            "Load a profile, or reload this one",
            ["U"],
            .profile,
            do: .with { $0.loadProfile($1) }
        ).at([.list]).unless(\.noSteering),
        Row(
            .decrypt,
            "Decrypt the host, or pass it through unread",
            ["ctrl-d"],
            .host,
            do: .with { $1 == nil && !$0.isLinear ? $0.switchDecrypting() : $0.decrypt($1) }
        ).unless(\.noSteering),
        Row(.pass, "Pass a host through unread", [], .host, do: .with { $0.pass($1) }).unless(\.noSteering),
        Row(
            .insecureHost,
            "Go on without verifying the server's certificate, or verify it again",
            ["ctrl-t"],
            .host,
            do: .with { $0.switchVerification($1) }
        ).unless(\.noSteering),
        Row(
            .breakEverything,
            "Hold every request and response, or stop that",
            ["ctrl-k"],
            do: .plain { $0.switchEverything() }
        ).unless(\.noSteering),
    ]
}
