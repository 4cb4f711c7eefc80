import Rules

/// All commands with their words, keys and places: help, palette, footer and key file are made from it.
package enum CommandTable {
    /// The entries, in the order of help.
    package static let entries: [CommandEntry] = moving + looking + tools + holds + share + send + console

    package static func entry(_ command: Command) -> CommandEntry? { byCommand[command] }

    private static let byCommand = Dictionary(
        entries.map { ($0.command, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let main: Set<Context> = [.list, .detail]
    private static let reading: Set<Context> = [.list, .detail, .panel, .picker, .report]

    private static func entry(
        _ command: Command,
        _ title: String,
        _ keys: [String],
        _ group: CommandEntry.Group,
        short: String = "",
        argument: String = "",
        in contexts: Set<Context>? = nil
    ) -> CommandEntry {
        CommandEntry(
            command: command,
            title: title,
            short: short,
            group: group,
            argument: argument,
            keys: keys,
            contexts: contexts ?? main
        )
    }

    private static let moving = [
        entry(.up, "One line up", ["up", "k"], .move, in: reading),
        entry(.down, "One line down", ["down", "j"], .move, in: reading),
        entry(.pageUp, "One page up", ["pgup", "ctrl-b"], .move, in: reading),
        entry(.pageDown, "One page down", ["pgdn", "ctrl-f"], .move, in: reading),
        entry(.top, "To the first line", ["home", "g"], .move, in: reading),
        entry(.bottom, "To the last line; in the list, follow the newest", ["end", "G"], .move, in: reading),
        entry(.left, "Close a branch; the page before", ["left", "h"], .move, in: main),
        entry(.right, "Open a branch; the next page", ["right", "l"], .move, in: main),
        entry(.open, "Open the exchange, or the fold", ["enter"], .move, short: "open", argument: "ID", in: main),
        entry(.back, "Back to the list; close", ["esc", "q"], .move, in: [.detail, .panel, .report]),
        entry(.switchView, "Sequence or structure", ["tab"], .move, short: "structure", argument: "VIEW"),
        entry(.follow, "Follow the newest exchange, or stop", ["F"], .move, short: "follow"),
        entry(.goTo, "Go to an exchange by its number", ["#"], .move, argument: "ID"),
    ]

    private static let looking = [
        entry(.filter, "Filter the list", ["/"], .look, short: "filter", argument: "EXPRESSION"),
        entry(.clearFilter, "Take the filter, the search and the focus away", ["\\"], .look),
        entry(.searchBodies, "Search in the bodies of all exchanges", ["S"], .look, argument: "TEXT"),
        entry(.findInDetail, "Find text in what is open", ["f"], .look, argument: "TEXT", in: [.detail, .report]),
        entry(.findNext, "Find it again", ["ctrl-n"], .look, in: [.detail, .report]),
        entry(.jumpKind, "Choose the kind to go to", ["J"], .look, short: "jump", argument: "KIND"),
        entry(.next, "The next of that kind", ["]"], .look),
        entry(.previous, "The previous of that kind", ["["], .look),
        entry(.page, "Choose a page of the detail", ["1", "2", "3", "4", "5"], .look, argument: "PAGE"),
        entry(.nextPage, "The next page of the detail", [">"], .look),
        entry(.previousPage, "The page before", ["<"], .look),
        entry(.bodyForm, "Body as pretty, raw or hex", ["v"], .look, short: "raw/hex", argument: "FORM", in: [.detail]),
        entry(.stand, "As received or as sent", ["s"], .look, short: "received/sent", argument: "STAND", in: [.detail]),
        entry(.fold, "Fold or unfold a block", ["space", "z"], .look, short: "fold", in: [.detail]),
        entry(.sort, "Sort the list by a column", ["o"], .look, argument: "COLUMN [asc|desc]"),
        entry(.columns, "Choose the columns", ["O"], .look, argument: "NAMES"),
        entry(.mark, "Mark the exchange, or unmark it", ["space"], .look, short: "mark", argument: "ID", in: [.list]),
        entry(.focusHost, "Show only this host, or all again", ["i"], .look, argument: "HOST"),
        entry(.highlight, "Colour exchanges that match the filter language", ["V"], .look, argument: "[EXPRESSION]"),
        entry(.compare, "Compare with the marked exchange", ["="], .look, argument: "ID"),
        entry(.why, "Why: what every rule did or did not", ["y"], .look, short: "why", argument: "ID"),
        entry(.cancel, "Stop what is running", ["ctrl-g"], .look),
    ]

    private static let tools = [
        entry(.toggleTool, "Switch a tool on or off", Tool.all.flatMap(\.toggleKeys), .tools, argument: "TOOL"),
        entry(.panel, "Open a tool's panel", Tool.all.map(\.panelKey), .tools, argument: "TOOL"),
        entry(
            .ruleFromExchange,
            "Make a rule from the exchange",
            Tool.all.map { "a \($0.letter)" },
            .tools,
            short: "add rule",
            argument: "TOOL [ID]"
        ),
        entry(.preset, "Choose the network's conditions", ["x p"], .tools, argument: "PRESET"),
        entry(.saveProfile, "Save the rules to the profile's file", ["ctrl-s"], .tools, argument: "FILE"),
        entry(.undo, "Take back the last change of rules", ["u"], .tools, in: [.list, .detail, .panel]),
        entry(.decrypt, "Decrypt a host again whose client refused the certificate", ["d"], .tools, argument: "HOST"),
    ]

    private static let holds = [
        entry(.holds, "The messages that wait for a decision", ["H"], .holds, short: "held"),
        entry(.editHold, "Edit the message that waits", ["e"], .holds, short: "edit", argument: "HOLD"),
        entry(.execute, "Let it go on", ["ctrl-e"], .holds, argument: "HOLD"),
        entry(.executeAll, "Let all that wait go on", ["X"], .holds),
        entry(.cancelHold, "Let it go on as it came", [], .holds, argument: "HOLD"),
        entry(.abort, "Abort the exchange that waits", ["D"], .holds, argument: "HOLD"),
    ]

    private static let share = [
        entry(.copy, "Copy something of the exchange", ["c"], .share, short: "copy", argument: "WHAT [ID]"),
        entry(.copyCurl, "Copy as cURL", ["C"], .share, argument: "ID"),
        entry(.saveBody, "Save a body to a file", ["ctrl-o"], .share, argument: "[ID] FILE"),
        entry(.export, "Export the marked, or what the filter leaves", ["E"], .share, argument: "FORMAT FILE"),
    ]

    private static let send = [
        entry(.repeatRequest, "Send the request again", ["p"], .send, short: "repeat", argument: "ID"),
        entry(.compose, "Edit the request and send it", ["P"], .send, argument: "ID"),
        entry(.repeatAdvanced, "Send it many times", ["A"], .send, argument: "TIMES x PARALLEL, DELAY"),
    ]

    private static let console = [
        entry(.palette, "All commands", [":", "ctrl-p"], .console, short: "commands"),
        entry(.help, "Help for what is open", ["?", "f1"], .console, short: "help", in: reading.union([.editor])),
        entry(.trust, "How to point a client at the proxy and trust it", ["!"], .console),
        entry(.messages, "What Sluice had to say", ["@"], .console),
        entry(.theme, "Dark or light", [], .console, argument: "NAME"),
        entry(.redraw, "Draw the screen anew", ["ctrl-l"], .console, in: Set(Context.allCases)),
        entry(.suspend, "Suspend to the shell", ["ctrl-z"], .console, in: Set(Context.allCases)),
        entry(.quit, "Quit", ["q", "ctrl-c"], .console, short: "quit", in: [.list]),
    ]
}
