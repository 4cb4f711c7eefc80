package import HTTPModel
package import Rules
package import Runner

/// What lies over list and detail.
package enum Overlay: Sendable {
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
    package var context: Context {
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
package struct PickerState: Sendable {
    /// What the choice is for.
    package enum Purpose: Sendable, Hashable {
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
    package struct Item: Sendable, Hashable {
        /// What is given to the command that the choice is for.
        package var value: String
        package var title: String
        /// More about it, at the right.
        package var detail: String
        /// Why it cannot be chosen now; `nil` where it can.
        package var disabled: String?

        package init(_ value: String, _ title: String, detail: String = "", disabled: String? = nil) {
            self.value = value
            self.title = title
            self.detail = detail
            self.disabled = disabled
        }
    }

    /// What the choice is for.
    package var purpose: Purpose
    /// The title above it.
    package var title: String
    /// All lines.
    package var items: [Item]
    /// What was typed to narrow them.
    package var line = LineEditor()
    /// The selected one of those that are left.
    package var selected = 0

    /// The lines that are left, best first.
    package var matches: [Item] { FuzzySearch.sorted(items, by: line.text) { "\($0.title) \($0.value)" } }
}

/// A line to type.
package struct PromptState: Sendable {
    /// The command that takes the line.
    package var command: Command
    /// What is asked.
    package var title: String
    package var line: LineEditor
    /// What the command is told before the line: what was chosen already.
    package var prefix = ""
}

/// A question before something cannot be taken back.
package struct ConfirmState: Sendable {
    /// What happens at yes.
    package enum Action: Sendable, Hashable {
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

    package var question: String
    package var choices: [(key: Character, title: String, action: Action?)]
}

/// A text to read: help, a comparison, a report.
package struct ReportState: Sendable {
    /// The title above it.
    package var title: String
    /// The text.
    package var document: DetailDocument
    package var reading = ReadingState()
    /// The text that was last looked for.
    package var sought = ""
}

/// A text to edit.
package struct EditorState: Sendable {
    /// What happens with the text.
    package enum Purpose: Sendable, Hashable {
        /// It becomes a rule of the tool, a new one or in place of one.
        case rule(Tool, replaces: Int?)
        /// The message that waits goes on with it.
        case hold(String)
        /// It is sent as a request.
        case request(ExchangeID?)
    }

    /// What happens with the text.
    package var purpose: Purpose
    /// The title above it.
    package var title: String
    package var area: TextArea
    /// What is wrong with it, in words, or what it would do.
    package var remark = ""
    /// Whether the remark is a mistake.
    package var isWrong = false
    /// What it was made from.
    package var origin: RuleOrigin?
    /// Which of the suggested scopes is in the text.
    package var level = 0
}

/// A tool's rules in a panel.
package struct PanelState: Sendable {
    package var tool: Tool
    /// The selected rule.
    package var selected = 0
}
