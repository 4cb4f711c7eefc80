/// A command of the console, given by a key, in the palette, or as a word in linear mode; see ``CommandTable``.
package enum Command: String, CaseIterable, Sendable, Hashable {
    // Moving.
    case up, down, left, right, top, bottom, open, show, back, follow
    case pageUp = "page-up"
    case pageDown = "page-down"
    case switchView = "view"
    case goTo = "go"
    // Looking.
    case list, filter, stats, page, version, fold, sort, columns, highlight, mark, compare, next, previous, why, stop
    case clearFilter = "clear-filter"
    case searchBodies = "search"
    case findInDetail = "find"
    case findNext = "find-next"
    case findPrevious = "find-previous"
    case nextExchange = "next-exchange"
    case previousExchange = "previous-exchange"
    case foldAll = "fold-all"
    case unfoldAll = "unfold-all"
    case wrap, layout
    case nextPage = "next-page"
    case previousPage = "previous-page"
    case bodyForm = "body"
    case focusHost = "focus"
    case ignoreHost = "ignore"
    case unignore
    case markAll = "mark-all"
    case unmarkAll = "unmark-all"
    case showMarked = "show-marked"
    case jumpKind = "jump"
    // Tools.
    case panel, draft, wider, apply, discard, preset, undo, decrypt, pass
    case insecureHost = "insecure-host"
    case toggleTool = "toggle"
    case ruleFromExchange = "rule"
    case switchRule = "switch-rule"
    case removeRule = "remove-rule"
    case editRule = "edit-rule"
    case moveRule = "move-rule"
    case saveProfile = "save-profile"
    case loadProfile = "profile"
    case breakEverything = "break-everything"
    // Holds.
    case holds, execute, cancel, abort
    case editHold = "edit"
    case executeAll = "execute-all"
    // Copying, saving, sending again.
    case copy, export, compose, requests, decode, descriptor
    case newRequest = "new"
    case openBody = "open-body"
    case copyCurl = "copy-curl"
    case copyMasked = "copy-masked"
    case saveBody = "save-body"
    case repeatRequest = "repeat"
    case repeatAdvanced = "repeat-advanced"
    // The session.
    case delete, clear, comment, colour, record
    case saveSession = "save-session"
    case importSession = "import"
    // The console.
    case trust, theme, palette, help, guide, messages, status, quiet, verbose, mouse, redraw, suspend, quit
    case openSession = "open-session"
    case backToLive = "back-to-live"
    case resetView = "reset-view"
}

/// A command with its argument, as bound to a key or typed on a line.
package struct CommandCall: Sendable, Hashable {
    package var command: Command
    package var argument: String?

    package init(_ command: Command, _ argument: String? = nil) {
        self.command = command
        self.argument = argument
    }
}

package struct CommandEntry: Sendable {
    package enum Group: String, CaseIterable, Sendable, Hashable {
        case move = "Moving"
        case look = "Looking"
        case tools = "Tools and rules"
        case holds = "Held messages"
        case share = "Copy, save, export"
        case send = "Send again"
        case session = "The session"
        case console = "The console"
    }

    enum Form: Sendable { case both, screen, lines }

    /// What linear mode prints after the command.
    enum Answer: Sendable {
        case none
        case rows
        case detail
        /// The lines of the open text that match the search.
        case matches
        case selected
        /// The number of exchanges in the list; in the structure view, the lines of the tree.
        case counts
    }

    /// The code that performs a command; it throws an error to reject the command.
    enum Action: Sendable {
        case plain(Plain)
        /// Accepts an argument; it is `nil` if a key gave the command.
        case with(With)
        /// Requires an argument; the console prompts for a missing one.
        case asking(Asking)

        typealias Plain = @Sendable (inout ConsoleModel) throws -> [Effect]
        typealias With = @Sendable (inout ConsoleModel, String?) throws -> [Effect]
        typealias Asking = @Sendable (inout ConsoleModel, String) throws -> [Effect]
    }

    package let command: Command
    package let title: String
    /// The default keys, written as in the key file: `ctrl-x`, or two keys with a space between them.
    package let keys: [String]
    let argument: CommandArgument
    private(set) var action = Action.plain { _ in [] }
    package var group = Group.console
    package var contexts: Set<Context> = [.list, .detail]
    /// Keys that mean this command in fewer contexts than ``contexts``.
    var places: [String: Set<Context>] = [:]
    /// One or two words for the footer; empty if the footer does not show the command.
    package var short = ""
    var shortPlaces: Set<Context>?
    var form = Form.both
    var answer = Answer.none
    /// The question before the palette performs the command, unless its whole name was typed; empty for no question.
    var question = ""
    var problem: @Sendable (ConsoleModel) -> String? = { _ in nil }

    init(_ command: Command, _ title: String, _ keys: [String] = [], _ argument: CommandArgument = .none) {
        (self.command, self.title, self.keys, self.argument) = (command, title, keys, argument)
    }

    func plain(_ action: @escaping Action.Plain) -> Self { having { $0.action = .plain(action) } }
    func with(_ action: @escaping Action.With) -> Self { having { $0.action = .with(action) } }
    func asking(_ action: @escaping Action.Asking) -> Self { having { $0.action = .asking(action) } }
    func at(_ contexts: Set<Context>) -> Self { having { $0.contexts = contexts } }
    func short(_ word: String) -> Self { having { $0.short = word } }
    func short(_ word: String, at places: Set<Context>) -> Self {
        having { ($0.short, $0.shortPlaces) = (word, places) }
    }
    func only(_ keys: [String], at places: Set<Context>) -> Self {
        having { row in for key in keys { row.places[key] = places } }
    }

    package func contexts(of key: String) -> Set<Context> { places[key].map { $0.intersection(contexts) } ?? contexts }
    func says(_ answer: Answer) -> Self { having { $0.answer = answer } }
    func unless(_ problem: @escaping @Sendable (ConsoleModel) -> String?) -> Self { having { $0.problem = problem } }
    /// For commands that discard settings: a few letters that match by chance must not perform them.
    func asks(_ question: String) -> Self { having { $0.question = question } }
    var onScreen: Self { having { $0.form = .screen } }
    var onLines: Self { having { ($0.form, $0.contexts) = (.lines, []) } }

    func having(_ change: (inout Self) -> Void) -> Self {
        var row = self
        change(&row)
        return row
    }
}

/// The part of the screen that has the keyboard focus: it decides what a key means.
package enum Context: String, CaseIterable, Sendable, Hashable {
    case list, detail, panel
    case editor
    /// The filter or a prompt.
    case line
    case picker
    case report
}

/// All commands, from the rows of the features. Help, palette, footer, key file and linear mode are built from them.
package enum CommandTable {
    package static let entries: [CommandEntry] = [
        (.move, moving), (.look, looking), (.tools, tools), (.holds, holds), (.share, share), (.send, send),
        (.session, session), (.console, console),
    ].flatMap { (group: CommandEntry.Group, rows: [CommandEntry]) in rows.map { $0.having { $0.group = group } } }

    package static func entry(_ command: Command) -> CommandEntry? { byCommand[command] }

    private static let byCommand = Dictionary(entries.map { ($0.command, $0) }) { first, _ in first }

    typealias Row = CommandEntry

    static let texts: Set<Context> = [.list, .detail, .report]
    static let reading: Set<Context> = [.list, .detail, .panel, .picker, .report]
}
