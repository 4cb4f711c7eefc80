import Rules
import Support
import Terminal
import Testing
import Tools

@testable import Console

@Suite("The key file")
struct KeyFileTests {
    private func meaning(_ keys: String, in context: Context, _ keymap: Keymap) -> Keymap.Result {
        let keys = keys.split(separator: " ").compactMap { Key(spelling: String($0)) }
        guard let last = keys.last else { return .unknown }
        return keymap.lookUp(last, after: keys.count > 1 ? keys[0] : nil, in: context)
    }

    @Test("Keys get another meaning, or none; what is not named stays")
    func rebinds() {
        let file = KeyFile(
            """
            keys:
              list: { "ctrl-n": down, "g": null, "g g": top, f2: toggle throttle }
              detail: { "ctrl-X": back }
            """,
            file: "keys.yaml"
        )
        #expect(file.issues.isEmpty, "\(file.issues)")
        #expect(meaning("ctrl-n", in: .list, file.keymap) == .binding(.init(.down)))
        #expect(meaning("g g", in: .list, file.keymap) == .binding(.init(.top)))
        #expect(meaning("f2", in: .list, file.keymap) == .binding(.init(.toggleTool, "throttle")))
        #expect(meaning("ctrl-x", in: .detail, file.keymap) == .binding(.init(.back)))
        #expect(meaning("j", in: .list, file.keymap) == .binding(.init(.down)))
        #expect(meaning("g", in: .detail, file.keymap) == .binding(.init(.top)))
    }

    @Test("The keys in force are printed as a file that comes to the same keys")
    func roundTrip() {
        var keymap = Keymap.standard
        keymap.bind("ctrl-n", to: .init(.down), in: .list)
        keymap.bind("\"", to: .init(.filter, "host:a"), in: .list)
        keymap.bind("k", to: nil, in: .list)
        let read = KeyFile(KeyFile.text(keymap), file: "keys.yaml")
        #expect(read.issues.isEmpty, "\(read.issues)")
        #expect(KeyFile.text(read.keymap) == KeyFile.text(keymap))
        #expect(meaning("k", in: .list, read.keymap) == .unknown)
        #expect(KeyFile("", file: "keys.yaml").keymap == .standard)
    }

    @Test(
        "What is wrong is named with its place and the nearest word, and the standard keys stay",
        arguments: [
            ("keys: { list: { x: dwn } }", "keys.yaml:1:20: there is no command 'dwn' (did you mean 'down'?)"),
            ("keys:\n  lits: { x: down }", "keys.yaml:2:3: there is no place 'lits' (did you mean 'list'?)"),
            ("kees: {}", "keys.yaml:1:1: there is no 'kees' here (did you mean 'keys'?)"),
            ("keys: { list: { ctrl-: down } }", "is not a key"),
            ("keys: { list: { a b c: down } }", "is not a key"),
            ("keys: { list: { x: toggle throtle } }", "there is no tool 'throtle' (did you mean 'throttle'?)"),
            ("keys: { list: { x: page respnse } }", "there is no page 'respnse' (did you mean 'response'?)"),
            ("keys: { list: { x: sort colour } }", "there is no column 'colour'"),
            ("keys: { list: { x: view tree } }", "there is no view 'tree'"),
            ("keys: { list: { x: export pdf } }", "there is no form 'pdf'"),
            ("keys: { list: { x: go home } }", "'home' is not an exchange number"),
            ("keys: { list: { ctrl-j: down } }", "'ctrl-j' cannot be bound: a terminal sends enter for it"),
            ("keys: { list: { g ctrl-i: down } }", "'ctrl-i' cannot be bound: a terminal sends tab for it"),
            ("keys: { list: { x: down 3 } }", "'down' takes no argument"),
            ("keys: { list: { ctrl-x: down, ctrl-X: up } }", "the key 'ctrl-x' is given twice"),
            ("keys: { list: { a: down } }", "'a' is a command and also begins 'a "),
            ("keys: { list: { g g: top } }", "'g' is a command and also begins 'g g'"),
            ("keys: { line: { x: down } }", "'x' is typed as text here"),
            ("keys: { list: [down] }", "'list' holds a mapping"),
            ("keys: { list: { x: [down] } }", "expected a word"),
            ("- keys", "a key file begins with 'keys:'"), ("keys: {", "not valid YAML"),
        ]
    )
    func wrong(text: String, words: String) {
        let file = KeyFile(text, file: "keys.yaml")
        #expect(file.issues.map(\.description).joined(separator: "\n").contains(words), "\(file.issues)")
        #expect(file.keymap == .standard)
    }

    @Test("A file that is wrong is told at the start")
    func told() {
        var model = ConsoleModel(source: .live, size: Size(width: 80, height: 24), look: Look())
        KeyFile("keys: { list: { x: dwn, y: dwn } }", file: "keys.yaml").configure(&model)
        #expect(model.notices.map(\.text).joined().contains("(and 1 more). The standard keys are used"))
        #expect(model.keymap == .standard)
        // It stands there until somebody has seen it.
        _ = model.update(.tick(ModelFixture.now))
        func status() -> String { String(ConsoleView.draw(model).text.split(separator: "\n").suffix(4).joined()) }
        #expect(status().contains("there is no command 'dwn'"))
        model.press("up")
        #expect(!status().contains("there is no command 'dwn'"))
    }
}
