package import Clients
package import Description
package import HTTPModel
package import Rules

package enum Overlay: Sendable {
    case picker(PickerState)
    case prompt(PromptState)
    case confirm(ConfirmState)
    case report(ReportState)
    case editor(EditorState)
    case panel(PanelState)
    /// The held messages, and the name of the selected message; `nil` if none is selected.
    case holds(selected: String?)

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

package struct PickerState: Sendable {
    package struct Item: Sendable, Hashable {
        package var value: String
        package var title: String
        package var detail: String
        package var disabled: String?
        var synonyms = ""

        package init(_ value: String, _ title: String, detail: String = "", disabled: String? = nil) {
            (self.value, self.title, self.detail, self.disabled) = (value, title, detail, disabled)
        }
    }

    /// The command that receives the chosen value as its argument; `nil` for the palette.
    package var command: Command?
    package var title: String
    package var items: [Item]
    package var line = LineEditor()
    package var selected = 0
    /// Whether the picker chooses the list's columns; then keys show, hide and move columns.
    var isColumnChoice = false
    package var problem = ""
    /// The completions for the argument of a typed command, if there are several.
    package var candidates: [String] = []

    package var matches: [Item] {
        let known = knownMatches
        // The user may type more words than a name: `time desc`.
        guard known.isEmpty, let command, let argument = CommandTable.entry(command)?.argument,
            argument.isChecked, argument.mistake(line.text) == nil
        else { return known }
        return [Item(line.text, line.text)]
    }

    private var knownMatches: [Item] {
        let typed = line.text.lowercased().split(separator: " ").joined(separator: " ")
        // A value that the title contains is not added, because the letters would match across both texts.
        let found = FuzzySearch.sorted(items, by: typed) {
            $0.title.contains($0.value) ? "\($0.title) \($0.synonyms)" : "\($0.title) \($0.value) \($0.synonyms)"
        }
        guard !typed.isEmpty else { return found.filter { $0.disabled == nil } + found.filter { $0.disabled != nil } }
        // Choices keep their order, except that an exact name comes first, then the beginning of a title, then a whole
        // word. Disabled choices come after all enabled ones, but before choices that match only by scattered letters.
        guard command == nil else {
            func match(_ item: Item) -> Int {
                if [item.value, item.title].contains(where: { $0.lowercased() == typed }) { return -2 }
                // The beginning of a title ranks higher than the same word elsewhere in a title.
                if item.title.lowercased().hasPrefix(typed) { return -1 }
                let text = "\(item.title) \(item.value)".lowercased()
                return text.split { !$0.isLetter && !$0.isNumber }.contains { $0 == typed }
                    ? 0 : text.contains(typed) ? 1 : 2
            }
            func rank(_ item: Item) -> Int { match(item) < 2 ? match(item) - (item.disabled == nil ? 4 : 0) : 2 }
            let order = items.filter { found.contains($0) }.enumerated()
            return order.sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
        }
        // Ranks the beginning of a title highest, then words of title and name, then synonyms, then scattered letters.
        let wanted = typed.split(separator: " ")
        func has(_ text: String) -> Bool {
            let words = text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "-" }
            let all = words + words.flatMap { $0.split(separator: "-") }
            return wanted.allSatisfy { word in all.contains { $0.hasPrefix(word) } }
        }
        func rank(_ item: Item) -> Int {
            let names = "\(item.title) \(item.value)"
            let match =
                item.title.lowercased().hasPrefix(typed)
                ? 0 : has(names) ? 2 : has("\(names) \(item.synonyms)") ? 4 : 6
            return match + (item.disabled == nil ? 0 : 1)
        }
        // Titles that begin with the text keep their original order, in which the best for the selection comes first.
        let places = Dictionary(items.enumerated().map { ($1, $0) }) { first, _ in first }
        let ranked = found.enumerated().map { ($1, rank: rank($1), place: rank($1) < 2 ? places[$1] ?? 0 : $0) }
        return withArgument(ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.0), typed)
    }

    /// The matches; a command that was typed with its argument is first, unless the text is part of a title. If the
    /// argument is invalid, only titles that contain the text remain, so that Enter cannot do something else.
    private func withArgument(_ matches: [Item], _ typed: String) -> [Item] {
        guard command == nil, let order = CommandCall(typed: line.text), let argument = order.argument,
            let entry = CommandTable.entry(order.command),
            let item = items.first(where: { $0.value == order.command.rawValue })
        else { return matches }
        func isNamed(_ item: Item) -> Bool { " \(item.title.lowercased())".contains(" \(typed)") }
        let isWrong = entry.argument.mistake(argument) != nil
        // One or two letters are the beginning of too many commands.
        if isWrong, typed.prefix(while: { $0 != " " }).count < 3 { return matches }
        var whole = Item("\(item.value) \(argument)", "\(item.value) \(argument)", detail: item.title)
        whole.disabled = item.disabled
        let others = matches.filter { $0.value != whole.value }
        let place = others.prefix(while: isNamed).count
        return Array(others[..<place]) + [whole] + (isWrong ? [] : others[place...])
    }
}

package struct PromptState: Sendable {
    package var command: Command
    package var title: String
    package var line: LineEditor
    /// The part of the command's argument before the line, which was chosen already.
    package var prefix = ""
    /// The possible input, or the current setting.
    package var hint = ""
    /// Why the text was rejected, and the wrong column, from 0, if it is known.
    package var problem = ""
    package var problemColumn: Int?
    package var candidates: [String] = []
    /// The path for which file names are being loaded, and whether Enter was pressed meanwhile.
    var completing: (path: String, isSubmitted: Bool)?
    /// Earlier texts, the newest last; and the index of the text in the line, or `history.count` if it is new.
    package var history: [String] = []
    package var historyIndex = 0
    /// The search before the preview, which is restored if the prompt is closed; `nil` while nothing was typed.
    var before: SearchState?
    /// Whether the prompt is at the top of the screen, because the match is in the lowest rows.
    var isHigh = false
}

package struct ConfirmState: Sendable {
    package struct Choice: Sendable {
        package var key: Character
        package var title: String
        /// Whether the choice sends, releases or discards something; then a key pressed too early does not count.
        var takesCare = false
        var action: Message.Change?

        init(_ key: Character, _ title: String, takesCare: Bool = false, _ action: Message.Change? = nil) {
            (self.key, self.title, self.takesCare, self.action) = (key, title, takesCare, action)
        }
    }

    /// How long the question must be visible before the key of such a choice counts, in microseconds.
    static let readingTime: Int64 = 300_000

    package var question: String
    package var choices: [Choice]
    /// In microseconds since 1970.
    package var askedAt: Int64 = 0
    /// Whether a second ctrl-c ends the console.
    var isAboutQuitting = false
}

package struct ReportState: Sendable {
    package var title: String
    package var text: OpenText
    package var sought = ""
    var pages: [HelpPage] = []
    var page = 0
    /// The topic of the guide page about the report; for help, about the context in which help was opened.
    var topic: String?

    var isHelp: Bool { !pages.isEmpty }
    package var document: DetailDocument { text.document ?? DetailDocument() }
}

package struct EditorState: Sendable {
    package enum Purpose: Sendable, Hashable {
        case rule(Tool, replaces: Int?)
        case hold(String)
        case request(ExchangeID?)
        case newRequest(ComposedRequest?)

        var origin: ExchangeID? { if case .request(let id) = self { id } else { nil } }
    }

    package var purpose: Purpose
    package var title: String
    package var area: TextArea
    /// Why the text is wrong, or what it would do.
    package var remark = ""
    package var isWrong = false
    package var origin: RuleOrigin?
    package var level = 0
    /// What the suggested scope matches; empty if no scope was suggested.
    var scope = ""
    var laidOut: LaidOutBody?

    var isNewRule: Bool { if case .rule(_, nil) = purpose { true } else { false } }
    var isRule: Bool { if case .rule = purpose { true } else { false } }

    /// The text to send: a formatted body that was not edited is sent in its original form.
    var finishedText: String { laidOut?.restored(area.text) ?? area.text }
    /// Whether linear mode keeps the text as a draft until `apply`. Edits of a held message are applied at once.
    var isDraft: Bool { if case .hold = purpose { false } else { true } }
}

package struct PanelState: Sendable {
    package var tool: Tool
    package var selected = 0
}
