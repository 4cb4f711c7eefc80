/// One thing that the console can be told to do: by a key, from the palette, or as a word in linear mode.
package enum Command: String, CaseIterable, Sendable, Hashable {
    // Moving.
    case up, down, left, right, top, bottom
    case pageUp = "page-up"
    case pageDown = "page-down"
    case open, back
    case follow
    case switchView = "view"
    case goTo = "go"
    // Looking.
    case filter
    case clearFilter = "clear-filter"
    case searchBodies = "search"
    case findInDetail = "find"
    case findNext = "find-next"
    case nextPage = "next-page"
    case previousPage = "previous-page"
    case page
    case bodyForm = "body"
    case stand
    case fold
    case sort, columns
    case focusHost = "focus"
    case highlight
    case mark
    case compare
    case jumpKind = "jump"
    case next, previous
    case why
    case cancel
    // Tools.
    case toggleTool = "toggle"
    case panel
    case ruleFromExchange = "rule"
    case preset
    case saveProfile = "save-profile"
    case undo
    case decrypt
    // Holds.
    case holds
    case editHold = "edit"
    case execute
    case executeAll = "execute-all"
    case cancelHold = "let-go"
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
    case redraw, suspend, quit
}

/// What the table says of a command.
package struct CommandEntry: Sendable, Hashable {
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

    package let command: Command
    /// What it does, as the palette and help name it.
    package let title: String
    /// What it is called in the footer, one or two words; empty where the footer has no room for it.
    package let short: String
    /// Where it stands in help.
    package let group: Group
    /// What may follow its word in linear mode, for example `EXPRESSION`; empty for nothing.
    package let argument: String
    /// The keys it has by default, in the spelling of the key file: `ctrl-x`, or two keys with a space between.
    package let keys: [String]
    /// Where those keys mean this command.
    package let contexts: Set<Context>
}

/// What has the keyboard's attention: it decides what a key means.
package enum Context: String, CaseIterable, Sendable, Hashable {
    /// The list of exchanges, in sequence or as a tree.
    case list
    /// The detail of one exchange.
    case detail
    /// A tool's panel.
    case panel
    /// A text that is being edited: a rule, a message, a request.
    case editor
    /// A line that is being typed: the filter, a prompt.
    case line
    /// A choice from a list.
    case picker
    /// A text to read: help, a comparison, a report.
    case report
}
