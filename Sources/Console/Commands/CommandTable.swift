import Rules
import Runner

/// All commands: help, palette, footer, key file and linear mode are made from these rows, and `update` does what they say.
package enum CommandTable {
    /// The rows, in the order of help.
    package static let entries: [CommandEntry] =
        rows(.move, moving) + rows(.look, looking) + rows(.tools, tools) + rows(.holds, holds)
        + rows(.share, share) + rows(.send, send) + rows(.console, console)

    package static func entry(_ command: Command) -> CommandEntry? { byCommand[command] }

    private static let byCommand = Dictionary(
        entries.map { ($0.command, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let main: Set<Context> = [.list, .detail]
    private static let texts: Set<Context> = [.detail, .report]
    private static let reading: Set<Context> = [.list, .detail, .panel, .picker, .report]

    private static func rows(_ group: CommandEntry.Group, _ rows: [CommandEntry]) -> [CommandEntry] {
        rows.map {
            var row = $0
            row.group = group
            return row
        }
    }

    private typealias Problem = @Sendable (ConsoleModel) -> String?

    /// A command that nothing follows.
    private static func plain(
        _ command: Command,
        _ title: String,
        _ keys: [String] = [],
        in contexts: Set<Context> = main,
        short: String = "",
        on form: CommandEntry.Form = .both,
        says answer: CommandEntry.Answer = .none,
        unless problem: @escaping Problem = { _ in nil },
        _ action: @escaping @Sendable (inout ConsoleModel) -> [Effect]
    ) -> CommandEntry {
        row(command, title, keys, .none, in: contexts, short: short, on: form, says: answer, unless: problem) {
            model,
            _ in action(&model)
        }
    }

    /// A command that something may follow.
    private static func row(
        _ command: Command,
        _ title: String,
        _ keys: [String] = [],
        _ argument: CommandArgument,
        in contexts: Set<Context> = main,
        short: String = "",
        on form: CommandEntry.Form = .both,
        says answer: CommandEntry.Answer = .none,
        unless problem: @escaping Problem = { _ in nil },
        _ action: @escaping @Sendable (inout ConsoleModel, String?) -> [Effect]
    ) -> CommandEntry {
        CommandEntry(
            command: command,
            title: title,
            keys: keys,
            argument: argument,
            contexts: form == .lines ? [] : contexts,
            short: short,
            form: form,
            answer: answer,
            problem: problem,
            action: action
        )
    }

    /// A command that something follows, which is asked for where it is missing.
    private static func asking(
        _ command: Command,
        _ title: String,
        _ keys: [String] = [],
        _ argument: CommandArgument,
        in contexts: Set<Context> = main,
        short: String = "",
        on form: CommandEntry.Form = .both,
        says answer: CommandEntry.Answer = .none,
        unless problem: @escaping Problem = { _ in nil },
        _ action: @escaping @Sendable (inout ConsoleModel, String) -> [Effect]
    ) -> CommandEntry {
        row(command, title, keys, argument, in: contexts, short: short, on: form, says: answer, unless: problem) {
            model,
            text in
            if let text { return action(&model, text) }
            if let choices = argument.choices { return model.pick(choices(model, command)) }
            // On lines nothing is asked for that may be left out.
            if model.isLinear, argument.name.first == "[", argument.name.last == "]" { return action(&model, "") }
            let line = LineEditor(argument.known(model), isSuggestion: true)
            return model.ask(PromptState(command: command, title: argument.prompt, line: line))
        }
    }

    private static let moving: [CommandEntry] = [
        plain(.up, "One line up", ["up", "k"], in: reading, says: .selected) { $0.move(by: -1) },
        plain(.down, "One line down", ["down", "j"], in: reading, says: .selected) { $0.move(by: 1) },
        plain(.pageUp, "One page up", ["pgup", "ctrl-b"], in: reading, on: .screen) { $0.movePage(-1) },
        plain(.pageDown, "One page down", ["pgdn", "ctrl-f"], in: reading, on: .screen) { $0.movePage(1) },
        plain(.top, "To the first line", ["home", "g"], in: reading, says: .selected) { $0.moveToEdge(first: true) },
        plain(.bottom, "To the last line; in the list, follow the newest", ["end", "G"], in: reading, says: .selected) {
            $0.moveToEdge(first: false)
        },
        plain(.left, "Close a branch; the page before", ["left", "h"], on: .screen) { $0.moveSideways(-1) },
        plain(.right, "Open a branch; the next page", ["right", "l"], on: .screen) { $0.moveSideways(1) },
        row(.open, "Open the exchange, or the fold", ["enter"], .id, short: "open", says: .detail, unless: \.noExchange)
        {
            $0.open($1)
        },
        row(
            .show,
            "What is known of an exchange, page by page",
            [],
            .idAndPage,
            on: .lines,
            says: .detail,
            unless: \.noExchange
        ) {
            $0.open($1)
        },
        plain(.back, "Back to the list; close", ["esc", "q"], in: [.detail, .panel, .report], on: .screen) {
            $0.goBack()
        },
        row(.switchView, "Sequence or structure", ["tab"], .view, short: "structure", says: .counts) {
            $0.switchView($1)
        },
        plain(.follow, "Follow the newest exchange, or stop", ["F"], short: "follow", on: .screen, unless: \.noNews) {
            $0.toggleFollow()
        },
        asking(.goTo, "Go to an exchange by its number", ["#"], .goal, says: .selected, unless: \.noSequence) {
            $0.go(to: $1)
        },
    ]

    private static let looking: [CommandEntry] = [
        row(.list, "The last exchanges of the list, each by its number", [], .count, on: .lines, says: .rows) {
            $0.listRows($1)
        },
        row(.filter, "Filter the list", ["/"], .filter, short: "filter", says: .counts) { $0.openFilter($1) },
        plain(.clearFilter, "Take the filter, the search and the focus away", ["\\"], says: .counts) {
            $0.clearFilter()
        },
        asking(.searchBodies, "Search in the bodies of all exchanges", ["S"], .bodyText, says: .counts) {
            $0.search($1)
        },
        asking(
            .findInDetail,
            "Find text in what is open",
            ["f"],
            .shownText,
            in: texts,
            says: .matches,
            unless: \.noText
        ) {
            $0.find($1)
        },
        plain(.findNext, "Find it again", ["ctrl-n"], in: texts, says: .matches, unless: \.noText) { $0.findAgain() },
        asking(.jumpKind, "Choose the kind to go to", ["J"], .kind, short: "jump", unless: \.noRows) {
            $0.chooseJump($1)
        },
        plain(.next, "The next of that kind", ["]"], says: .selected, unless: \.noJump) { $0.jump(forward: true) },
        plain(.previous, "The previous of that kind", ["["], says: .selected, unless: \.noJump) {
            $0.jump(forward: false)
        },
        asking(.page, "Choose a page of the detail", ["1", "2", "3", "4", "5"], .page, says: .detail, unless: \.noPage)
        {
            $0.turn(to: $1)
        },
        plain(.nextPage, "The next page of the detail", [">"], says: .detail, unless: \.noDetail) { $0.turnPage(1) },
        plain(.previousPage, "The page before", ["<"], says: .detail, unless: \.noDetail) { $0.turnPage(-1) },
        row(
            .bodyForm,
            "Body as pretty, raw or hex",
            ["v"],
            .bodyForm,
            in: [.detail],
            short: "raw/hex",
            says: .detail,
            unless: \.noDetail
        ) { $0.setBodyForm($1) },
        row(
            .version,
            "As received or as sent",
            ["s"],
            .version,
            in: [.detail],
            short: "received/sent",
            says: .detail,
            unless: \.noDetail
        ) { $0.setVersion($1) },
        plain(
            .fold,
            "Fold or unfold a block",
            ["space", "z"],
            in: [.detail],
            short: "fold",
            on: .screen,
            unless: \.noDetail
        ) {
            $0.toggleFold()
        },
        asking(.sort, "Sort the list by a column", ["o"], .order, says: .counts, unless: \.noList) { $0.sort($1) },
        asking(.columns, "Choose the columns", ["O"], .columns, on: .screen) { $0.setColumns($1) },
        row(.mark, "Mark the exchange, or unmark it", ["space"], .id, in: [.list], short: "mark", unless: \.noRecord) {
            $0.mark($1)
        },
        row(.focusHost, "Show only this host, or all again", ["i"], .host, says: .counts, unless: \.noBranch) {
            $0.focusHost($1)
        },
        asking(.highlight, "Colour exchanges that match the filter language", ["V"], .highlight) {
            $0.setHighlight($1)
        },
        row(.compare, "Compare with the marked exchange", ["="], .id, unless: \.noRecord) { $0.compare($1) },
        row(.why, "Why: what every rule did or did not", ["y"], .id, short: "why", unless: \.noRecord) {
            $0.on($1) { .why($0) }
        },
        plain(.stop, "Stop what is running", ["ctrl-g"], unless: \.noJob) { $0.cancelJobs() },
    ]

    private static let tools: [CommandEntry] = [
        asking(.toggleTool, "Switch a tool on or off", Tool.all.flatMap(\.toggleKeys), .tool, unless: \.noSteering) {
            $0.toggleTool($1)
        },
        asking(.panel, "Open a tool's panel", Tool.all.map(\.panelKey), .tool, unless: \.noProxy) {
            $0.openPanel($1)
        },
        asking(
            .ruleFromExchange,
            "Make a rule from the exchange",
            Tool.all.map { "a \($0.letter)" },
            .toolAndID,
            short: "add rule",
            unless: \.noOrigin
        ) { $0.draftRule($1) },
        plain(.apply, "Put the drafted rule in force", on: .lines, unless: \.noDraft) { $0.applyDraft() },
        plain(.discard, "Throw the drafted rule away", on: .lines, unless: \.noDraft) { $0.discardDraft() },
        asking(.switchRule, "Switch one rule of a tool on or off", [], .rule, on: .lines, unless: \.noSteering) {
            $0.changeRule($1) { $0.switchRule($1, of: $2) }
        },
        asking(.removeRule, "Remove one rule of a tool", [], .rule, on: .lines, unless: \.noSteering) {
            $0.changeRule($1) { $0.removeRule($1, of: $2) }
        },
        asking(.preset, "Choose the network's conditions", ["x p"], .preset, unless: \.noSteering) { $0.setPreset($1) },
        row(.saveProfile, "Save the rules to the profile's file", ["ctrl-s"], .file, unless: \.noSteering) {
            $0.saveProfile($1)
        },
        plain(.undo, "Take back the last change of rules", ["u"], in: main.union([.panel]), unless: \.noSteering) {
            $0.undoRules()
        },
        row(.decrypt, "Decrypt a host again whose client refused the certificate", ["d"], .host, unless: \.noSteering) {
            $0.decrypt($1)
        },
    ]

    private static let holds: [CommandEntry] = [
        plain(.holds, "The messages that wait for a decision", ["H"], short: "held", unless: \.noHold) {
            $0.openHolds()
        },
        row(.editHold, "Edit the message that waits", ["e"], .holdEdit, short: "edit", unless: \.noDecision) {
            $0.editHold($1)
        },
        row(.execute, "Execute the message that waits", ["ctrl-e"], .hold, unless: \.noDecision) {
            $0.decide(.execute, $1)
        },
        plain(.executeAll, "Execute all that wait", ["X"], unless: \.noDecision) { $0.decide(.execute, "all") },
        row(.cancel, "Cancel the hold: unedited, as though not held", [], .hold, unless: \.noDecision) {
            $0.decide(.cancel, $1)
        },
        row(.abort, "Abort the exchange that waits", ["D"], .hold, unless: \.noDecision) { $0.decide(.abort, $1) },
    ]

    private static let share: [CommandEntry] = [
        asking(.copy, "Copy something of the exchange", ["c"], .copyForm, short: "copy", unless: \.noRecord) {
            $0.copy($1)
        },
        row(.copyCurl, "Copy as cURL", ["C"], .id, unless: \.noRecord) { $0.on($1) { .copy(.curl, $0) } },
        asking(.saveBody, "Save a body to a file", ["ctrl-o"], .bodyFile, unless: \.noRecord) { $0.saveBody($1) },
        asking(.export, "Export the marked, or what the filter leaves", ["E"], .export, unless: \.noList) {
            $0.export($1)
        },
    ]

    private static let send: [CommandEntry] = [
        row(.repeatRequest, "Send the request again", ["p"], .id, short: "repeat", unless: \.noSending) {
            $0.on($1) { .send(draft: "", $0) }
        },
        row(.compose, "Edit the request and send it", ["P"], .id, unless: \.noSending) {
            $0.on($1) { .openRequest($0) }
        },
        asking(.repeatAdvanced, "Send it many times", ["A"], .plan, unless: \.noSending) { $0.repeatMany($1) },
    ]

    private static let console: [CommandEntry] = [
        plain(.palette, "All commands", [":", "ctrl-p"], short: "commands", on: .screen) { $0.pick($0.palette) },
        row(.help, "Help for what is open", ["?", "f1"], .command, in: reading.union([.editor]), short: "help") {
            $0.openHelp($1)
        },
        plain(.trust, "How to point a client at the proxy and trust it", ["!"]) {
            [.trust(proxy: $0.proxy.address, $0.look)]
        },
        plain(.messages, "What Sluice had to say", ["@"]) { $0.openMessages() },
        plain(.status, "How the proxy is, and what the list shows", on: .lines) { $0.openStatus() },
        plain(.quiet, "Say nothing of new exchanges", on: .lines) { $0.tellExchanges(false) },
        plain(.verbose, "Say one sentence for each exchange that has ended", on: .lines) { $0.tellExchanges(true) },
        asking(.theme, "Dark or light", [], .theme, on: .screen) { $0.setTheme($1) },
        plain(.redraw, "Draw the screen anew", ["ctrl-l"], in: Set(Context.allCases), on: .screen) { _ in [.redraw] },
        plain(.suspend, "Suspend to the shell", ["ctrl-z"], in: Set(Context.allCases), on: .screen) { _ in [.suspend] },
        plain(.quit, "Quit", ["q", "ctrl-c"], in: [.list], short: "quit") { $0.quit() },
    ]
}
