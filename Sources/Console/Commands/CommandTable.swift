import Rules
import Runner

/// All commands: help, palette, footer, key file and linear mode are made from these rows, and `update` performs them.
package enum CommandTable {
    /// The rows, in the order of help.
    package static let entries: [CommandEntry] = [
        (.move, moving), (.look, looking), (.tools, tools), (.holds, holds), (.share, share), (.send, send),
        (.console, console),
    ].flatMap { (group: CommandEntry.Group, rows: [CommandEntry]) in rows.map { $0.with { $0.group = group } } }

    package static func entry(_ command: Command) -> CommandEntry? { byCommand[command] }

    private static let byCommand = Dictionary(entries.map { ($0.command, $0) }) { first, _ in first }

    private typealias Row = CommandEntry

    private static let texts: Set<Context> = [.detail, .report]
    private static let reading: Set<Context> = [.list, .detail, .panel, .picker, .report]

    private static let moving = [
        Row(.up, "One line up", ["up", "k"], do: .plain { $0.move(by: -1) }).at(reading).says(.selected),
        Row(.down, "One line down", ["down", "j"], do: .plain { $0.move(by: 1) }).at(reading).says(.selected),
        Row(.pageUp, "One page up", ["pgup", "ctrl-b"], do: .plain { $0.movePage(-1) }).at(reading).onScreen,
        Row(.pageDown, "One page down", ["pgdn", "ctrl-f"], do: .plain { $0.movePage(1) }).at(reading).onScreen,
        Row(.top, "To the first line", ["home", "g"], do: .plain { $0.moveToEdge(first: true) })
            .at(reading).says(.selected),
        Row(
            .bottom,
            "To the last line; in the list, follow the newest",
            ["end", "G"],
            do: .plain { $0.moveToEdge(first: false) }
        ).at(reading).says(.selected),
        Row(.left, "Close a branch; the page before", ["left", "h"], do: .plain { $0.moveSideways(-1) }).onScreen,
        Row(.right, "Open a branch; the next page", ["right", "l"], do: .plain { $0.moveSideways(1) }).onScreen,
        Row(.open, "Open the exchange, or the fold", ["enter"], .id, do: .with { $0.open($1) })
            .short("open").says(.detail).unless(\.noExchange),
        Row(.show, "What is known of an exchange, page by page", [], .idAndPage, do: .with { $0.open($1) })
            .onLines.says(.detail).unless(\.noExchange),
        Row(.back, "Back to the list; close", ["esc", "q"], do: .plain { $0.goBack() })
            .at([.detail, .panel, .report]).onScreen,
        Row(.switchView, "Sequence or structure", ["tab"], .view, do: .with { $0.switchView($1) })
            .short("structure").says(.counts),
        Row(.follow, "Follow the newest exchange, or stop", ["F"], do: .plain { $0.toggleFollow() })
            .short("follow").onScreen.unless(\.noNews),
        Row(.goTo, "Go to an exchange by its number", ["#"], .goal, do: .asking { $0.go(to: $1) })
            .says(.selected).unless(\.noSequence),
    ]

    private static let looking = [
        Row(.list, "The last exchanges of the list, each by its number", [], .count, do: .with { $0.listRows($1) })
            .onLines.says(.rows),
        Row(.filter, "Filter the list", ["/"], .filter, do: .with { $0.openFilter($1) })
            .short("filter").says(.counts),
        Row(.clearFilter, "Take the filter, the search and the focus away", ["\\"], do: .plain { $0.clearFilter() })
            .says(.counts),
        Row(.searchBodies, "Search in the bodies of all exchanges", ["S"], .bodyText, do: .asking { $0.search($1) })
            .says(.counts),
        Row(.findInDetail, "Find text in what is open", ["f"], .shownText, do: .asking { $0.find($1) })
            .at(texts).says(.matches).unless(\.noText),
        Row(.findNext, "Find it again", ["ctrl-n"], do: .plain { $0.findAgain() })
            .at(texts).says(.matches).unless(\.noText),
        Row(.jumpKind, "Choose the kind to go to", ["J"], .kind, do: .asking { $0.chooseJump($1) })
            .short("jump").unless(\.noRows),
        Row(.next, "The next of that kind", ["]"], do: .plain { $0.jump(forward: true) })
            .says(.selected).unless(\.noJump),
        Row(.previous, "The previous of that kind", ["["], do: .plain { $0.jump(forward: false) })
            .says(.selected).unless(\.noJump),
        Row(.page, "Choose a page of the detail", ["1", "2", "3", "4", "5"], .page, do: .asking { $0.turn(to: $1) })
            .says(.detail).unless(\.noPage),
        Row(.nextPage, "The next page of the detail", [">"], do: .plain { $0.turnPage(1) })
            .says(.detail).unless(\.noDetail),
        Row(.previousPage, "The page before", ["<"], do: .plain { $0.turnPage(-1) }).says(.detail).unless(\.noDetail),
        Row(.bodyForm, "Body as pretty, raw or hex", ["v"], .bodyForm, do: .with { $0.setBodyForm($1) })
            .at([.detail]).short("raw/hex").says(.detail).unless(\.noDetail),
        Row(.version, "As received or as sent", ["s"], .version, do: .with { $0.setVersion($1) })
            .at([.detail]).short("received/sent").says(.detail).unless(\.noDetail),
        Row(.fold, "Fold or unfold a block", ["space", "z"], do: .plain { $0.toggleFold() })
            .at([.detail]).short("fold").onScreen.unless(\.noDetail),
        Row(.sort, "Sort the list by a column", ["o"], .order, do: .asking { $0.sort($1) })
            .says(.counts).unless(\.noList),
        Row(.columns, "Choose the columns", ["O"], .columns, do: .asking { $0.setColumns($1) }).onScreen,
        Row(.mark, "Mark the exchange, or unmark it", ["space"], .id, do: .with { $0.mark($1) })
            .at([.list]).short("mark").unless(\.noRecord),
        Row(.focusHost, "Show only this host, or all again", ["i"], .host, do: .with { $0.focusHost($1) })
            .says(.counts).unless(\.noBranch),
        Row(
            .highlight,
            "Colour exchanges that match the filter language",
            ["V"],
            .highlight,
            do: .asking { $0.setHighlight($1) }
        ),
        Row(.compare, "Compare with the marked exchange", ["="], .id, do: .with { $0.compare($1) })
            .unless(\.noRecord),
        Row(.why, "Why: what every rule did or did not", ["y"], .id, do: .with { $0.on($1) { .why($0) } })
            .short("why").unless(\.noRecord),
        Row(.stop, "Stop what is running", ["ctrl-g"], do: .plain { $0.cancelJobs() }).unless(\.noJob),
    ]

    private static let tools = [
        Row(
            .toggleTool,
            "Switch a tool on or off",
            Tool.all.flatMap(\.toggleKeys),
            .tool,
            do: .asking { $0.toggleTool($1) }
        ).unless(\.noSteering),
        Row(.panel, "Open a tool's panel", Tool.all.map(\.panelKey), .tool, do: .asking { $0.openPanel($1) })
            .unless(\.noProxy),
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
            ["d"],
            .host,
            do: .with { $0.decrypt($1) }
        ).unless(\.noSteering),
    ]

    private static let holds = [
        Row(.holds, "The messages that wait for a decision", ["H"], do: .plain { $0.openHolds() })
            .short("held").unless(\.noHold),
        Row(.editHold, "Edit the message that waits", ["e"], .holdEdit, do: .with { $0.editHold($1) })
            .short("edit").unless(\.noDecision),
        Row(.execute, "Execute the message that waits", ["ctrl-e"], .hold, do: .with { $0.decide(.execute, $1) })
            .unless(\.noDecision),
        Row(.executeAll, "Execute all that wait", ["X"], do: .plain { $0.decide(.execute, "all") })
            .unless(\.noDecision),
        Row(.cancel, "Cancel the hold: unedited, as though not held", [], .hold, do: .with { $0.decide(.cancel, $1) })
            .unless(\.noDecision),
        Row(.abort, "Abort the exchange that waits", ["D"], .hold, do: .with { $0.decide(.abort, $1) })
            .unless(\.noDecision),
    ]

    private static let share = [
        Row(.copy, "Copy something of the exchange", ["c"], .copyForm, do: .asking { $0.copy($1) })
            .short("copy").unless(\.noRecord),
        Row(.copyCurl, "Copy as cURL", ["C"], .id, do: .with { $0.on($1) { .copy(.curl, $0) } }).unless(\.noRecord),
        Row(.saveBody, "Save a body to a file", ["ctrl-o"], .bodyFile, do: .asking { $0.saveBody($1) })
            .unless(\.noRecord),
        Row(.export, "Export the marked, or what the filter leaves", ["E"], .export, do: .asking { $0.export($1) })
            .unless(\.noList),
    ]

    private static let send = [
        Row(.repeatRequest, "Send the request again", ["p"], .id, do: .with { $0.on($1) { .send(draft: "", $0) } })
            .short("repeat").unless(\.noSending),
        Row(.compose, "Edit the request and send it", ["P"], .id, do: .with { $0.on($1) { .openRequest($0) } })
            .unless(\.noSending),
        Row(.repeatAdvanced, "Send it many times", ["A"], .plan, do: .asking { $0.repeatMany($1) })
            .unless(\.noSending),
    ]

    private static let console = [
        Row(.palette, "All commands", [":", "ctrl-p"], do: .plain { $0.push(.picker($0.palette)) })
            .short("commands").onScreen,
        Row(.help, "Help for what is open", ["?", "f1"], .command, do: .with { $0.openHelp($1) })
            .at(reading.union([.editor])).short("help"),
        Row(
            .trust,
            "How to point a client at the proxy and trust it",
            ["!"],
            do: .plain { [.trust(proxy: $0.isLinear ? "" : $0.proxy.address, $0.look)] }
        ),
        Row(.messages, "What Sluice had to say", ["@"], do: .plain { $0.openMessages() }),
        Row(.status, "How the proxy is, and what the list shows", do: .plain { $0.openStatus() }).onLines,
        Row(.quiet, "Say nothing of new exchanges", do: .plain { $0.tellExchanges(false) }).onLines,
        Row(.verbose, "Say one sentence for each exchange that has ended", do: .plain { $0.tellExchanges(true) })
            .onLines,
        Row(.theme, "Dark or light", [], .theme, do: .asking { $0.setTheme($1) }).onScreen,
        Row(.redraw, "Draw the screen anew", ["ctrl-l"], do: .plain { _ in [.redraw] })
            .at(Set(Context.allCases)).onScreen,
        Row(.suspend, "Suspend to the shell", ["ctrl-z"], do: .plain { _ in [.suspend] })
            .at(Set(Context.allCases)).onScreen,
        Row(.quit, "Quit", ["q", "ctrl-c"], do: .plain { $0.quit() }).at([.list]).short("quit"),
    ]
}
