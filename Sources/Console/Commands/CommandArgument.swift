import Description
import ExchangeCore
import Formats
import HTTPModel
import Jobs
import Rules
import Tools

struct CommandArgument: Sendable {
    /// How an argument can be checked without the session.
    enum Form: Sendable {
        case text, exchange, tool, preset, page
        /// A host; in linear mode, also the number of an exchange, which stands for its host.
        case host
        /// A text, or a regular expression between slashes.
        case pattern
        case word(String, [String])
        case beginning(String, [String])
        /// Several words, each with an optional `+` or `-` before it.
        case words(String, [String])
    }

    /// The name in help, for example `EXPRESSION`, in brackets if it is optional; empty for no argument.
    let name: String
    var form = Form.text
    /// The title of the prompt for a missing argument, and its initial text.
    var prompt = ""
    var known: @Sendable (ConsoleModel) -> String = { _ in "" }
    var choices: (@Sendable (ConsoleModel, Command) -> PickerState)?

    var isOptional: Bool { name.first == "[" && name.last == "]" }

    private static func words<Value: CaseIterable & RawRepresentable<String>>(_: Value.Type) -> [String] {
        Value.allCases.map(\.rawValue)
    }

    private static func choice(
        _ name: String,
        _ form: Form,
        _ choices: @escaping @Sendable (ConsoleModel, Command) -> PickerState
    ) -> CommandArgument { CommandArgument(name: name, form: form, choices: choices) }

    static let none = CommandArgument(name: "")
    static let id = CommandArgument(name: "ID", form: .exchange)
    static let idAndPage = CommandArgument(name: "ID [PAGE]")
    static let goal = CommandArgument(name: "ID", form: .exchange, prompt: "Number of the exchange")
    static let filter = CommandArgument(name: "EXPRESSION")
    static let host = CommandArgument(name: "[HOST|ID]", form: .host)
    static let ids = CommandArgument(name: "[ID …]")
    static let onOff = CommandArgument(name: "[on|off]", form: .word("state", ["on", "off"]))
    static let sessionFile = CommandArgument(name: "FILE", prompt: "File for a copy of the session")
    static let comment = CommandArgument(name: "[ID …] TEXT", prompt: "Comment") {
        $0.selectedRecord?.extras.annotation.comment ?? ""
    }
    static let colour = choice("[ID …] NAME", .text) { model, command in
        let colours = ExchangeAnnotation.Colour.allCases.map { PickerState.Item($0.rawValue, $0.rawValue) }
        let title = "Colour of \(model.selectionWords)"
        return PickerState(command: command, title: title, items: colours + [.init("none", "none: remove the colour")])
    }
    static let session = CommandArgument(name: "[FILE]", prompt: "Session or HAR to open; last is the newest session")
    static let imported = CommandArgument(name: "FILE", prompt: "HAR or session to import into this session")
    static let sent = choice("NUMBER", .text) { model, _ in model.sentChoices }
    static let topic = CommandArgument(name: "[TOPIC]", form: .beginning("topic", ConsoleModel.guideTopics))
    static let page = CommandArgument(name: "PAGE", form: .page, prompt: "Page")
    static let view = CommandArgument(name: "VIEW", form: .word("view", words(ConsoleModel.ListView.self)))
    static let bodyForm = CommandArgument(name: "FORM", form: .word("form", words(BodyForm.self)))
    static let version = CommandArgument(name: "VERSION", form: .word("version", words(MessageVersion.self)))
    static let rule = CommandArgument(name: "TOOL NUMBER", prompt: "for example: switch-rule block 1")
    static let ruleMove = CommandArgument(name: "TOOL NUMBER up|down", prompt: "for example: move-rule block 2 up")
    static let highlight = CommandArgument(
        name: "[EXPRESSION]",
        prompt: "Filter whose matches are coloured; empty removes all"
    )
    static let bodyText = CommandArgument(name: "TEXT", prompt: "Text to find in bodies") {
        $0.list.query.bodyText ?? ""
    }
    static let shownText = CommandArgument(name: "TEXT", form: .pattern, prompt: "Text to find, or /expression/") {
        $0.soughtHere
    }
    static let layout = CommandArgument(name: "LAYOUT", form: .word("layout", words(ReadingLayout.self)))
    static let bodyFile = CommandArgument(name: "[ID] FILE", prompt: "File for the body") { $0.suggestedFile }
    static let columns = choice("[+|-]NAME …", .words("column", words(Column.self))) { model, _ in
        model.columnChoice()
    }
    static let plan = CommandArgument(
        name: "TIMES x PARALLEL, DELAY",
        prompt: "Requests x parallel, delay: for example 100 x 10, 50ms"
    ) { _ in "10 x 2" }
    static let ignored = choice("HOST", .text) { model, command in
        let hosts = model.list.query.ignoredHosts.sorted().map { PickerState.Item($0, $0) }
        return PickerState(command: command, title: "Show again", items: hosts + [.init("all", "all of them")])
    }
    static let tool = choice("TOOL", .tool) { $0.toolChoices($1) }
    static let toolAndID = choice("TOOL [ID]", .tool) { $0.toolChoices($1) }
    static let kind = choice("KIND", .beginning("kind", words(JumpChoice.self))) {
        let items = JumpChoice.allCases.map { PickerState.Item($0.rawValue, $0.rawValue, detail: $0.meaning) }
        let title = "Jump with \($0.way(to: .next)) and \($0.way(to: .previous)) to"
        return PickerState(command: $1, title: title, items: items)
    }
    static let order = choice("COLUMN [asc|desc]", .word("column", sortable)) {
        let columns = $0.isTimelineInUse ? words(TimelineState.Column.self) : Column.sortable.map(\.rawValue)
        return $0.choices($1, "Sort by", columns)
    }
    private static let sortable =
        Column.sortable.map(\.rawValue)
        + words(TimelineState.Column.self).filter { name in !Column.sortable.contains { $0.rawValue == name } }
    static let theme = choice("NAME", .word("theme", words(Theme.self))) { $0.choices($1, "Theme", words(Theme.self)) }
    static let copyForm = choice("WHAT [OF] [ID] [masked]", .word("form", words(CopyForm.self))) { $0.copyChoices($1) }
    static let descriptorFile = CommandArgument(
        name: "FILE",
        prompt: "Descriptor file (protoc --descriptor_set_out FILE --include_imports)"
    )
    static let export = choice("FORMAT [SCOPE] [secrets] FILE", .word("form", words(ExportFormat.self))) {
        PickerState(command: $1, title: "Export", items: $0.exportChoices)
    }
    static let preset = choice("PRESET", .preset) { model, command in
        let choice = ToolRegistry.standard.withPresets?.presets
        let own = model.rules.texts.ownPresets.map {
            PickerState.Item($0, $0, detail: "from your profile")
        }
        let presets = choice?.presets.map { PickerState.Item($0.name, $0.name, detail: $0.brief) } ?? []
        let off = PickerState.Item("off", "off: no \(choice?.effect.lowercased() ?? "")")
        return PickerState(command: command, title: choice?.title ?? "", items: [off] + own + presets)
    }

    var values: [String]? {
        switch form {
        case .text, .exchange, .tool, .pattern, .host: nil
        case .preset: ["off"] + (ToolRegistry.standard.withPresets?.presets?.presets.map(\.name) ?? [])
        case .page: DetailPage.allCases.map(\.rawValue)
        case .word(_, let known), .beginning(_, let known), .words(_, let known): known
        }
    }

    func names(last argument: String?) -> Bool { withNumber(of: ExchangeID(0), argument) != argument }

    func withNumber(of last: ExchangeID?, _ argument: String?) -> String? {
        guard let last, let argument, name.contains("ID") else { return argument }
        var words = argument.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let isMasked = words.count > 1 && words.last == "masked" && name.hasSuffix("[masked]")
        let index = name.drop { $0 == "[" }.hasPrefix("ID") ? 0 : words.count - (isMasked ? 2 : 1)
        guard words[index] == "last" else { return argument }
        words[index] = "\(last)"
        return words.joined(separator: " ")
    }

    var isChecked: Bool {
        switch form {
        case .text, .preset: false
        default: true
        }
    }

    /// Why an argument is invalid; `nil` if it is valid, or if only the session can check it.
    func mistake(_ text: String) -> String? {
        let words = text.lowercased().split { $0 == " " || $0 == "," }.map(String.init)
        let first = words.first ?? ""
        switch form {
        case .text, .host, .preset: return nil
        case .pattern:
            do {
                _ = try SoughtText.reading(text)
                return nil
            } catch {
                return "\(error)"
            }
        case .exchange:
            let isNumber = first == "last" || Int64(first.drop { $0 == "#" }).map { $0 > 0 } ?? false
            return isNumber ? nil : "'\(text.prefix(40))' is not an exchange number"
        case .tool: return Tool(word: first) == nil ? Self.unknown("tool", first, Tool.all.map(\.key)) : nil
        case .page:
            let pages = DetailPage.allCases.map(\.rawValue)
            let isPage = Int(first).map { (1...pages.count).contains($0) } ?? pages.contains { $0.hasPrefix(first) }
            return isPage ? nil : Self.unknown("page", first, pages)
        case .word(let what, let known): return known.contains(first) ? nil : Self.unknown(what, first, known)
        case .beginning(let what, let known):
            let isKnown = !text.isEmpty && known.contains { $0.hasPrefix(text.lowercased()) }
            return isKnown ? nil : Self.unknown(what, text, known)
        case .words(let what, let known):
            let wrong = words.map { String($0.drop { "+-".contains($0) }) }.first { word in
                !known.contains(word) && (try? Place(word)) == nil
            }
            return wrong.map { Column.problem(with: $0) ?? Self.unknown(what, $0, known) }
        }
    }

    static func unknown(_ what: String, _ word: String, _ known: [String]) -> String {
        "there is no \(what) '\(word.prefix(40))'\(Suggestion.text(for: word, among: known))"
    }
}

extension CommandArgument: ExpressibleByStringLiteral {
    init(stringLiteral name: String) { self.init(name: name) }
}
