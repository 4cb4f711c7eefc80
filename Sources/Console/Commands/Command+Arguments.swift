import ExchangeCore
import Rules
import Tools

/// What may follow a command, where that is one of few words.
extension Command {
    /// What is wrong with what follows the command; `nil` for nothing, and where only the session can tell.
    func problem(withArgument argument: String) -> String? {
        let words = argument.lowercased().split { $0 == " " || $0 == "," }.map(String.init)
        let first = words.first ?? ""
        switch self {
        case .toggleTool, .panel, .ruleFromExchange:
            guard Tool(word: first) == nil else { return nil }
            return unknown("tool", first, Tool.all.map(\.key))
        case .page:
            let pages = DetailPage.allCases.map(\.rawValue)
            let isPage = Int(first).map { (1...pages.count).contains($0) } ?? pages.contains { $0.hasPrefix(first) }
            return isPage ? nil : unknown("page", first, pages)
        case .jumpKind:
            let kinds = JumpChoice.allCases.map(\.rawValue)
            return kinds.contains { $0.hasPrefix(argument.lowercased()) } ? nil : unknown("kind", argument, kinds)
        case .columns:
            let columns = Column.allCases.map(\.rawValue)
            return words.first { !columns.contains($0) }.map { unknown("column", $0, columns) }
        case .open, .goTo, .mark, .compare, .why, .copyCurl, .repeatRequest, .compose:
            let isNumber = Int64(argument.drop { $0 == "#" }).map { $0 > 0 } ?? false
            return isNumber ? nil : "'\(argument.prefix(40))' is no number of an exchange"
        default:
            guard let (what, known) = choices, !known.contains(first) else { return nil }
            return unknown(what, first, known)
        }
    }

    /// The words of which one follows the command, and what they are; `nil` where it is something else.
    private var choices: (String, [String])? {
        switch self {
        case .switchView: ("view", ConsoleModel.ListView.allCases.map(\.rawValue))
        case .sort: ("column", SortColumn.allCases.map(\.rawValue))
        case .bodyForm: ("form", BodyForm.allCases.map(\.rawValue))
        case .stand: ("stand", MessageStand.allCases.map(\.rawValue))
        case .copy: ("form", CopyForm.allCases.map(\.rawValue))
        case .export: ("form", ExportRequest.Form.allCases.map(\.rawValue))
        case .theme: ("theme", Theme.allCases.map(\.rawValue))
        case .preset: ("preset", ["off"] + (ToolRegistry.standard.withPresets?.presets?.presets.map(\.name) ?? []))
        default: nil
        }
    }

    private func unknown(_ what: String, _ word: String, _ known: [String]) -> String {
        "there is no \(what) '\(word.prefix(40))'\(Suggestion.text(for: word, among: known))"
    }
}
