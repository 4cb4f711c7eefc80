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
    /// The held messages, and the name of the selected one; `nil` for none.
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

    /// The command that gets the choice as its argument; `nil` for the palette.
    package var command: Command?
    package var title: String
    package var items: [Item]
    package var line = LineEditor()
    package var selected = 0
    /// Whether it chooses the list's columns: keys then show, hide and move them.
    var isColumnChoice = false
    package var problem = ""
    /// What the argument of a command that is typed can be completed to, if several words fit.
    package var candidates: [String] = []

    package var matches: [Item] {
        let known = knownMatches
        // More than a name may be typed: `time desc`.
        guard known.isEmpty, let command, let argument = CommandTable.entry(command)?.argument,
            argument.isChecked, argument.mistake(line.text) == nil
        else { return known }
        return [Item(line.text, line.text)]
    }

    private var knownMatches: [Item] {
        let typed = line.text.lowercased().split(separator: " ").joined(separator: " ")
        // A title that has the value is not two texts: letters would be found in both together.
        let found = FuzzySearch.sorted(items, by: typed) {
            $0.title.contains($0.value) ? "\($0.title) \($0.synonyms)" : "\($0.title) \($0.value) \($0.synonyms)"
        }
        guard !typed.isEmpty else { return found.filter { $0.disabled == nil } + found.filter { $0.disabled != nil } }
        // Choices stay in their order, but the one of that name comes first, then a title's beginning, then a whole word. What
        // cannot be chosen now comes behind those, and before letters that are strewn over a title.
        guard command == nil else {
            func match(_ item: Item) -> Int {
                if [item.value, item.title].contains(where: { $0.lowercased() == typed }) { return -2 }
                // A word in another's title is not that one.
                if item.title.lowercased().hasPrefix(typed) { return -1 }
                let text = "\(item.title) \(item.value)".lowercased()
                return text.split { !$0.isLetter && !$0.isNumber }.contains { $0 == typed }
                    ? 0 : text.contains(typed) ? 1 : 2
            }
            func rank(_ item: Item) -> Int { match(item) < 2 ? match(item) - (item.disabled == nil ? 4 : 0) : 2 }
            let order = items.filter { found.contains($0) }.enumerated()
            return order.sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
        }
        // The beginning of a title counts most, then words of title and name, then words for the same thing; letters that are
        // strewn over them count least.
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
        // Of titles that begin with it, the one that fits what is selected comes first.
        let places = Dictionary(items.enumerated().map { ($1, $0) }) { first, _ in first }
        let ranked = found.enumerated().map { ($1, rank: rank($1), place: rank($1) < 2 ? places[$1] ?? 0 : $0) }
        return withArgument(ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.0), typed)
    }

    /// The matches, and first among them a command that was typed with its argument, unless those are words of a title.
    /// What begins with a command's word stays that command's: if the argument is wrong, no other row is left that
    /// Enter might do instead, but one whose title has just these words.
    private func withArgument(_ matches: [Item], _ typed: String) -> [Item] {
        guard command == nil, let order = CommandCall(typed: line.text), let argument = order.argument,
            let entry = CommandTable.entry(order.command),
            let item = items.first(where: { $0.value == order.command.rawValue })
        else { return matches }
        func isNamed(_ item: Item) -> Bool { " \(item.title.lowercased())".contains(" \(typed)") }
        let isWrong = entry.argument.mistake(argument) != nil
        // A letter or two begin too much to be meant as a command.
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
    /// What the command gets before the line: what was chosen already.
    package var prefix = ""
    /// What may be typed, or what is in force now.
    package var hint = ""
    /// Why the text was refused, and the column of it that is wrong, from 0, if that is known.
    package var problem = ""
    package var problemColumn: Int?
    package var candidates: [String] = []
    /// The path whose names in the directory are looked for, and whether Enter was pressed meanwhile.
    var completing: (path: String, isSubmitted: Bool)?
    /// Earlier texts, the newest last; the index of the one in the line, their count for none.
    package var history: [String] = []
    package var historyIndex = 0
    /// The search before its text was typed, which is shown again if the prompt is left; `nil` while nothing was typed.
    var before: SearchState?
    /// Whether it is at the top, as what it finds is in the lowest rows.
    var isHigh = false
}

package struct ConfirmState: Sendable {
    package struct Choice: Sendable {
        package var key: Character
        package var title: String
        /// Whether it sends, releases or discards something, so that a key typed before the question does not count.
        var takesCare = false
        var action: Message.Change?

        init(_ key: Character, _ title: String, takesCare: Bool = false, _ action: Message.Change? = nil) {
            (self.key, self.title, self.takesCare, self.action) = (key, title, takesCare, action)
        }
    }

    /// How long a question is there before such an answer counts, in microseconds.
    static let readingTime: Int64 = 300_000

    package var question: String
    package var choices: [Choice]
    /// In microseconds since 1970.
    package var askedAt: Int64 = 0
    /// Whether ctrl-c, pressed again, ends the console.
    var isAboutQuitting = false
}

package struct ReportState: Sendable {
    package var title: String
    package var text: OpenText
    package var sought = ""
    var pages: [HelpPage] = []
    var page = 0
    /// The guide's page about it; of help, the one about what it was asked for.
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
    /// What is wrong with the text, or what it would do.
    package var remark = ""
    package var isWrong = false
    package var origin: RuleOrigin?
    package var level = 0
    /// What that scope matches; empty if none was suggested.
    var scope = ""
    var laidOut: LaidOutBody?

    var isNewRule: Bool { if case .rule(_, nil) = purpose { true } else { false } }
    var isRule: Bool { if case .rule = purpose { true } else { false } }

    /// The text to send: a body that was laid out and not edited goes out as it came.
    var finishedText: String { laidOut?.restored(area.text) ?? area.text }
    /// Whether line mode keeps the text as a draft until the user applies it. Edits of a held message are applied at once.
    var isDraft: Bool { if case .hold = purpose { false } else { true } }
}

package struct PanelState: Sendable {
    package var tool: Tool
    package var selected = 0
}
