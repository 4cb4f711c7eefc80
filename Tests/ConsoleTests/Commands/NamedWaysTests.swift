import Foundation
import HTTPModel
import Rules
import Support
import Terminal
import Testing
import Tools

@testable import Console

/// What texts tell the user to press or to type is there.
@Suite("Keys and commands that texts name")
struct NamedWaysTests {
    /// Every screen that there is, and editors with all that they can have.
    private static func screens() -> [ConsoleModel] {
        let size = Size(width: 80, height: 24)
        var models = Screens.all.map { $0.make(size, Look()) }
        var editor = ModelFixture.listing(ModelFixture.plain(9), size)
        let purpose = EditorState.Purpose.rule(Tool.all[0], replaces: nil)
        var state = EditorState(purpose: purpose, title: "New", area: TextArea("at: a\naction: deny"))
        state.origin = .exchange(ModelFixture.plain(1)[0].id)
        _ = editor.update(.editor(state))
        editor.press("x")
        models.append(editor)
        var request = ModelFixture.listing(ModelFixture.plain(9), size)
        let text = "POST http://a/\nContent-Type: application/json\n\n{\"a\":1}"
        _ = request.update(.editor(EditorState(purpose: .newRequest(nil), title: "New", area: TextArea(text))))
        request.press("ctrl-end", "x", "left")
        models.append(request)
        var field = ModelFixture.listing(ModelFixture.plain(9), size)
        field.press("S")
        field.type("ab cd")
        field.press("left")
        models.append(field)
        var columns = ModelFixture.listing(ModelFixture.plain(9), size)
        columns.press("O")
        models.append(columns)
        return models
    }

    /// Whether a key is bound there, or changes what is seen, or asks for something.
    private static func acts(_ key: Key, in model: ConsoleModel) -> Bool {
        if model.keymap.lookUp(key, after: model.pendingKey, in: model.context) != .unknown { return true }
        var changed = model
        let effects = changed.update(.input(.key(key)))
        if changed.told != model.told, changed.told.contains("means nothing here") { return false }
        return !effects.isEmpty || ConsoleView.draw(changed).text != ConsoleView.draw(model).text
    }

    private static let arrows: [Substring: String] = ["↑": "up", "↓": "down", "←": "left", "→": "right"]
    /// Keys that move in a text, which may be at its end already.
    private static let moving: Set<String> = ["up", "down", "left", "right", "home", "end", "pgup", "pgdn"]
    private static var modified: Regex<Substring> { /\b(?:ctrl|alt|shift)-(?:[a-z0-9]+|[^\w\s])|\bf\d{1,2}\b/ }
    private static var command: Regex<(Substring, Substring)> { /(?:^|[\s(;,]):([a-z]+(?:-[a-z]+)*)/ }
    private static var named: Regex<(Substring, Substring)> { /\bcommand ([a-z]+-[a-z]+(?:-[a-z]+)*)/ }
    /// One letter or sign before what it does: `u takes it back`.
    private static var single: Regex<(Substring, Substring)> { /(?:^|[;:,.(] )([^\s\w]|[A-Za-z]) (?:[a-z]+s)\b/ }

    /// The keys that a footer or a page of help has in one column.
    private static func keys(of column: String) -> [String] {
        column.split(separator: " ").flatMap { word -> [String] in
            if let arrow = arrows[word] { return [arrow] }
            guard word != "…", word != "type", word != "1…0", word.count > 0 else { return [] }
            let parts = word.split(separator: "/")
            guard parts.count > 1 else { return [String(word)] }
            return [String(parts[0]), parts[0].prefix { $0 != "-" } + "-" + parts[1]]
        }
    }

    @Test("Every key of every footer does something there")
    func footers() {
        for model in Self.screens() {
            for hint in FooterView.hints(model) {
                for spelling in Self.keys(of: hint.key) where !Self.moving.contains(spelling) {
                    guard let key = Key(spelling: spelling) else {
                        Issue.record("\(spelling) of '\(hint.key)' is no key")
                        continue
                    }
                    #expect(Self.acts(key, in: model), "\(spelling) '\(hint.word)' in \(model.context)")
                }
            }
        }
    }

    @Test("Every key that the first page of help has of an editor, a panel or a field does something there")
    func help() {
        for model in Self.screens() {
            var hints: [HelpKeys.Hint] = []
            switch model.overlays.last {
            case .editor(let editor): hints = HelpKeys.editor(editor)
            case .holds: hints = HelpKeys.holds(model)
            case .prompt: hints = HelpKeys.field
            case .picker: hints = HelpKeys.picker
            case .panel: hints = HelpKeys.panel.map { ($0.key, $0.value) }
            default: if model.filter.isEditing { hints = HelpKeys.filter }
            }
            for hint in hints {
                for spelling in Self.keys(of: hint.key) {
                    guard let key = Key(spelling: spelling) else {
                        Issue.record("\(spelling) of '\(hint.key)' is no key")
                        continue
                    }
                    let isMoving = Self.moving.contains(spelling.split(separator: "-").last.map(String.init) ?? "")
                    let isAtEdge = spelling == "delete" || spelling == "ctrl-k"
                    #expect(isMoving || isAtEdge || Self.acts(key, in: model), "\(spelling): \(hint.word)")
                }
            }
        }
    }

    /// What is wrong with a text; empty where all that it names is there.
    private static func problems(_ text: String, among screens: [ConsoleModel]) -> [String] {
        var problems: [String] = []
        for match in text.matches(of: modified) {
            let key = Key(spelling: String(match.output))
            let isKey = key.map { key in
                Context.allCases.contains { Keymap.standard.lookUp(key, after: nil, in: $0) != .unknown }
                    || screens.contains { acts(key, in: $0) }
            }
            if isKey != true { problems.append("no key \(match.output)") }
        }
        for match in text.matches(of: single) {
            let isKey = Key(spelling: String(match.output.1)).map { key in
                screens.contains { acts(key, in: $0) && $0.context != .line && $0.context != .editor }
            }
            if isKey != true { problems.append("no key \(match.output.1)") }
        }
        let words = text.matches(of: command).map(\.output.1) + text.matches(of: named).map(\.output.1)
        for word in words where Command(rawValue: String(word)) == nil { problems.append("no command \(word)") }
        return problems
    }

    @Test("Every key and command in a sentence is there")
    func sentences() throws {
        let screens = Self.screens()
        // These say how keys are spelled, not what they do.
        let spelling = ["Console/Keys/KeyFile.swift", "Console/Commands/Groups/"]
        let folders = ["Console", "Sharing/Document", "Sharing/RPC", "Rules/Explain", "Runner", "ProxyServer"]
        let texts = try folders.flatMap { try SourceText.all(in: $0) }.filter { text in
            !spelling.contains { text.file.hasPrefix($0) }
        }
        #expect(texts.count > 2_000, "the sources were not read")
        for text in texts {
            let problems = Self.problems(text.text, among: screens)
            #expect(problems.isEmpty, "\(text): \(problems)")
        }
        // The words of commands are made of these.
        for entry in CommandTable.entries {
            #expect(Self.problems(entry.title, among: screens).isEmpty, "\(entry.title)")
            for match in entry.instead.matches(of: /'([a-z-]+)(?: [^']*)?'/) {
                #expect(Command(rawValue: String(match.output.1)) != nil, "\(entry.instead)")
            }
        }
    }

    @Test(
        "A text that names what is not there is noticed",
        arguments: [
            "Rules act at once; ctrl-q saves them.", "Try :saev-body.", "the command save-bdy writes it whole",
            "Nothing is open; ; opens it: f11.", "The page stays; ° folds it.", "alt-q undoes it",
        ]
    )
    func wrong(text: String) { #expect(!Self.problems(text, among: Self.screens()).isEmpty) }

    @Test("Literals are read with their interpolations left out, and comments are no literals")
    func literals() {
        let source = ##"""
            // "no"
            let a = "x \(f("in", (1))) y\"z" // "no"
            let b = #"raw \( "#
            """##
        let texts = SourceText.read(source)
        let hole = SourceText.hole
        #expect(texts.map(\.text) == ["in", "x \(hole) y\"z", "raw \\( "] && texts.map(\.line) == [2, 2, 3])
    }
}
