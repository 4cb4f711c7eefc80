public import HTTPModel
public import Runner

/// What lies over list and detail.
public enum Overlay: Sendable {
    /// A choice.
    case picker(PickerState)
    /// A line to type.
    case prompt(PromptState)
    /// A question with a word to type or a key to press.
    case confirm(ConfirmState)
    /// A text to read.
    case report(ReportState)
    /// A text to edit.
    case editor(EditorState)
    /// A tool's rules.
    case panel(PanelState)
    /// The messages that wait, and the name of the one that keys decide about; `nil` for none.
    case holds(selected: String?)

    /// What keys mean in it.
    public var context: Context {
        switch self {
        case .picker: .picker
        case .prompt: .line
        case .confirm, .report: .report
        case .editor: .editor
        case .panel, .holds: .panel
        }
    }
}

/// A choice from a list, narrowed by typing.
public struct PickerState: Sendable {
    /// What the choice is for.
    public enum Purpose: Sendable, Hashable {
        case palette
        case jump
        case copy
        case export
        case preset
        case sort
        case theme
        case tool(Command)
    }

    /// One line to choose.
    public struct Item: Sendable, Hashable {
        /// What is given to the command that the choice is for.
        public var value: String
        /// What is read.
        public var title: String
        /// More about it, at the right.
        public var detail: String
        /// Why it cannot be chosen now; `nil` where it can.
        public var disabled: String?

        /// Puts a line together.
        public init(_ value: String, _ title: String, detail: String = "", disabled: String? = nil) {
            self.value = value
            self.title = title
            self.detail = detail
            self.disabled = disabled
        }
    }

    /// What the choice is for.
    public var purpose: Purpose
    /// The title above it.
    public var title: String
    /// All lines.
    public var items: [Item]
    /// What was typed to narrow them.
    public var line = LineEditor()
    /// The selected one of those that are left.
    public var selected = 0

    /// The lines that are left, best first.
    public var matches: [Item] { FuzzySearch.sorted(items, by: line.text) { "\($0.title) \($0.value)" } }
}

/// A line to type.
public struct PromptState: Sendable {
    /// The command that takes the line.
    public var command: Command
    /// What is asked.
    public var title: String
    /// The line.
    public var line: LineEditor
    /// What the command is told before the line: what was chosen already.
    public var prefix = ""
}

/// A question before something cannot be taken back.
public struct ConfirmState: Sendable {
    /// What happens at yes.
    public enum Action: Sendable, Hashable {
        /// The console ends, whatever is unsaved.
        case quit
        /// The rules are saved, then the console ends.
        case saveAndQuit
        /// The request is sent as often as was said.
        case repeating(ExchangeID, RepeatPlan)
        /// The profile's files are written over.
        case overwriteRules
        /// The file is written over.
        case export(ExportRequest)
        /// The rules are saved as a copy; the file is asked for.
        case saveRulesElsewhere
        /// The profile's files are read, and the rules that were changed here give way.
        case reloadRules
        /// The text of the editor below is thrown away.
        case dropText
    }

    /// The question.
    public var question: String
    /// The keys and what they do.
    public var choices: [(key: Character, title: String, action: Action?)]
}

/// A text to read: help, a comparison, a report.
public struct ReportState: Sendable {
    /// The title above it.
    public var title: String
    /// The text.
    public var document: DetailDocument
    /// Where the reader is.
    public var reading = ReadingState()
    /// The text that was last looked for.
    public var sought = ""
}

/// A text to edit.
public struct EditorState: Sendable {
    /// What happens with the text.
    public enum Purpose: Sendable, Hashable {
        /// It becomes a rule of the tool, a new one or in place of one.
        case rule(Tool, replaces: Int?)
        /// The message that waits goes on with it.
        case hold(String)
        /// It is sent as a request.
        case request(ExchangeID?)
    }

    /// What happens with the text.
    public var purpose: Purpose
    /// The title above it.
    public var title: String
    /// The text.
    public var area: TextArea
    /// What is wrong with it, in words, or what it would do.
    public var remark = ""
    /// Whether the remark is a mistake.
    public var isWrong = false
    /// What it was made from.
    public var origin: RuleOrigin?
    /// Which of the suggested scopes is in the text.
    public var level = 0
}

/// A tool's rules in a panel.
public struct PanelState: Sendable {
    /// The tool.
    public var tool: Tool
    /// The selected rule.
    public var selected = 0
}
