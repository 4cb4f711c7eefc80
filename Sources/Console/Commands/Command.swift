/// One thing that the console can be told to do: by a key, from the palette, or as a word on a line.
///
/// ``CommandTable`` has a row for each that says everything else about it.
package enum Command: String, CaseIterable, Sendable, Hashable {
    // Moving.
    case up, down, left, right, top, bottom
    case pageUp = "page-up"
    case pageDown = "page-down"
    case open, show, back
    case follow
    case switchView = "view"
    case goTo = "go"
    // Looking.
    case list
    case filter
    case clearFilter = "clear-filter"
    case searchBodies = "search"
    case findInDetail = "find"
    case findNext = "find-next"
    case nextPage = "next-page"
    case previousPage = "previous-page"
    case page
    case bodyForm = "body"
    case version
    case fold
    case sort, columns
    case focusHost = "focus"
    case highlight
    case mark
    case compare
    case jumpKind = "jump"
    case next, previous
    case why
    case stop
    // Tools.
    case toggleTool = "toggle"
    case panel
    case ruleFromExchange = "rule"
    case apply, discard
    case switchRule = "switch-rule"
    case removeRule = "remove-rule"
    case preset
    case saveProfile = "save-profile"
    case undo
    case decrypt
    // Holds.
    case holds
    case editHold = "edit"
    case execute
    case executeAll = "execute-all"
    case cancel
    case abort
    // Taking away.
    case copy
    case copyCurl = "copy-curl"
    case saveBody = "save-body"
    case export
    // Sending again.
    case repeatRequest = "repeat"
    case compose
    case repeatAdvanced = "repeat-advanced"
    // The console.
    case trust
    case theme
    case palette, help
    case messages
    case status, quiet, verbose
    case redraw, suspend, quit
}

/// A row of the table: all that anyone needs to know of a command.
package struct CommandEntry: Sendable {
    /// Commands of one kind stand together in help.
    package enum Group: String, CaseIterable, Sendable, Hashable {
        case move = "Moving"
        case look = "Looking"
        case tools = "Tools and rules"
        case holds = "Messages that wait"
        case share = "Copy, save, export"
        case send = "Send again"
        case console = "The console"
    }

    /// Which of the console's two forms has it.
    enum Form: Sendable {
        case both, screen, lines
    }

    /// What linear mode writes of the list or of the open exchange once the command is done.
    enum Answer: Sendable {
        case none
        /// So many of the newest rows as were asked for.
        case rows
        case detail
        /// The lines of what is open in which the text was found.
        case matches
        case selected
        /// How many exchanges the list has; of the structure, its lines.
        case counts
    }

    package let command: Command
    /// What it does, as the palette and help name it.
    package let title: String
    /// The keys it has by default, in the spelling of the key file: `ctrl-x`, or two keys with a space between.
    package let keys: [String]
    let argument: CommandArgument
    /// Where those keys mean this command.
    package let contexts: Set<Context>
    /// What it is called in the footer, one or two words; empty where the footer has no room for it.
    package let short: String
    let form: Form
    let answer: Answer
    /// Why it cannot be done now; `nil` where it can.
    let problem: @Sendable (ConsoleModel) -> String?
    /// Does it; the text is what follows its word, `nil` where it was given by a key.
    let action: @Sendable (inout ConsoleModel, String?) -> [Effect]
    /// Where it stands in help.
    package var group = Group.console
}

/// What has the keyboard's attention: it decides what a key means.
package enum Context: String, CaseIterable, Sendable, Hashable {
    /// The list of exchanges, in sequence or as a tree.
    case list
    case detail
    case panel
    /// A text that is being edited: a rule, a message, a request.
    case editor
    /// A line that is being typed: the filter, a prompt.
    case line
    case picker
    /// A text to read: help, a comparison, a report.
    case report
}
