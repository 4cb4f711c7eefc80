extension CommandEntry {
    var synonyms: String { Command.synonyms[command] ?? "" }

    /// What linear mode offers instead of a command for the screen; empty for a command that linear mode has.
    var instead: String { form == .screen ? Command.instead[command] ?? "" : "" }
}

extension CommandEntry.Group {
    package var word: String {
        switch self {
        case .move: "move"
        case .look: "look"
        case .tools: "rules"
        case .holds: "held"
        case .share: "copy"
        case .send: "send"
        case .session: "file"
        case .console: "more"
        }
    }
}

extension Command {
    /// The most used commands first: the order of the palette and of the first page of help.
    static let mostUsed: [Command] = [
        .open, .filter, .clearFilter, .findInDetail, .searchBodies, .copyCurl, .copy, .repeatRequest, .compose,
        .ruleFromExchange, .why, .toggleTool, .panel, .mark, .compare, .focusHost, .switchView, .saveBody, .export,
        .jumpKind, .next, .previous, .sort, .columns, .highlight, .follow, .preset, .undo, .saveProfile, .holds,
        .executeAll, .goTo, .decrypt, .palette, .help, .trust, .messages, .quit,
    ]

    /// A description so short that help shows two commands side by side; other commands show their title.
    static let brief: [Command: String] = [
        .switchView: "Sequence, tree, timeline", .clearFilter: "Show all again", .searchBodies: "Search in all bodies",
        .findInDetail: "Find text here",
        .copy: "Copy in another form", .compose: "Edit and send", .ruleFromExchange: "Make a rule",
        .why: "What the rules did", .mark: "Mark or unmark", .compare: "Compare two",
        .highlight: "Colour matches", .follow: "Follow the newest", .preset: "Network conditions",
        .undo: "Undo", .saveProfile: "Save the rules", .goTo: "Go to a number",
        .decrypt: "Decrypt the host", .trust: "Set up a client", .export: "Export to a file",
        .jumpKind: "Choose what to jump to", .next: "Jump to the next", .previous: "Jump to the previous",
        .help: "Help", .bottom: "To the newest",
    ]

    fileprivate static let synonyms: [Command: String] = [
        .switchView: "structure sequence tree flow",
        .follow: "tail scroll newest live",
        .goTo: "jump number id",
        .open: "show view details inspect",
        .show: "open view details inspect",
        .list: "ls flows requests",
        .filter: "search find only narrow hide",
        .clearFilter: "reset unfilter show all",
        .searchBodies: "grep content full text",
        .findInDetail: "search grep",
        .page: "overview request response messages timing difference tab",
        .bodyForm: "raw pretty hex json format wire gzip undecoded encoded compressed",
        .version: "original modified before after received sent",
        .sort: "order newest slowest largest",
        .columns: "scheme size type protocol fields",
        .mark: "select tag flag star",
        .focusHost: "only host domain",
        .highlight: "color colour tag",
        .compare: "diff difference",
        .why: "explain trace rule matched blocked failed",
        .stop: "cancel interrupt job",
        .jumpKind: "error slow large next previous",
        .toggleTool: "enable disable on off",
        .panel: "rules settings edit list",
        .ruleFromExchange: "add new block map rewrite breakpoint intercept mock",
        .preset: "throttle slow network bandwidth latency 3g lte",
        .undo: "revert back",
        .saveProfile: "write store rules yaml",
        .decrypt: "ssl tls https tunnel certificate pinning mitm",
        .insecureHost: "trust tls ssl https certificate self-signed expired untrusted skip verification",
        .holds: "breakpoint intercept paused waiting queue",
        .editHold: "modify change breakpoint intercept",
        .execute: "resume continue release let go breakpoint",
        .executeAll: "resume continue release let go breakpoint",
        .cancel: "unedited as received breakpoint",
        .abort: "kill drop reject breakpoint",
        .copy: "clipboard url body header httpie fetch python raw value line cookie",
        .copyCurl: "clipboard command shell",
        .copyMasked: "clipboard secrets redact sanitize hide token password",
        .saveBody: "download write file dump",
        .openBody: "view viewer pager less image browser",
        .newRequest: "compose create post get curl from nothing",
        .requests: "history composed sent again",
        .descriptor: "protobuf proto grpc names",
        .decode: "base64 epoch date urlencoded jwt",
        .delete: "remove hide",
        .clear: "delete all empty wipe reset",
        .record: "pause start stop recording capture",
        .comment: "note annotate remark",
        .colour: "color mark tag",
        .saveSession: "write store save as copy",
        .guide: "manual documentation how to learn",
        .openSession: "load archive file",
        .importSession: "append merge add load archive",
        .backToLive: "close session",
        .loadProfile: "rules reload yaml",
        .pass: "passthrough bypass tunnel",
        .breakEverything: "intercept hold all breakpoint",
        .ignoreHost: "hide exclude domain",
        .markAll: "select all",
        .unmarkAll: "select none deselect",
        .showMarked: "only selected",
        .stats: "statistics summary percentile count host",
        .fold: "expand collapse open close",
        .foldAll: "collapse",
        .unfoldAll: "expand",
        .layout: "zoom full screen split pane maximize",
        .wrap: "unwrap long lines sideways",
        .resetView: "defaults columns forget",
        .mouse: "click select text",
        .export: "har save file json curl script archive",
        .repeatRequest: "replay resend again",
        .compose: "replay resend edit modify",
        .repeatAdvanced: "load test benchmark times replay",
        .trust: "certificate ca phone qr setup proxy insecure verify verification",
        .theme: "dark light color colour",
        .palette: "all menu",
        .help: "keys shortcuts bindings ?",
        .messages: "log events notices errors",
        .redraw: "refresh clear screen",
        .suspend: "background shell",
        .quit: "exit close end",
    ]

    fileprivate static let instead: [Command: String] = [
        .pageUp: "Lines have no pages; 'list 100' shows more of the list.",
        .pageDown: "Lines have no pages; 'list 100' shows more of the list.",
        .left: "'previous-page' turns the page; 'view structure' writes the tree.",
        .right: "'next-page' turns the page; 'view structure' writes the tree.",
        .back: "Nothing stays open here.",
        .follow: "'verbose' reports each exchange, 'bottom' goes to the newest.",
        .fold: "Nothing is folded here.",
        .foldAll: "Nothing is folded here.",
        .unfoldAll: "Nothing is folded here.",
        .wrap: "Lines are never cut.",
        .layout: "'show ID' writes an exchange, 'list' the list.",
        .mouse: "Lines need no mouse.",
        .resetView: "Lines keep no settings.",
        .palette: "'help' lists the commands, 'help WORD' explains one.",
        .theme: "Lines have no colours.",
        .redraw: "Lines are written once.",
        .suspend: "Press ctrl-z in the terminal.",
    ]
}
