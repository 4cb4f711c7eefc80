import Description
import HTTPModel
import Rules
import Support
import Terminal
import Testing
import Text
import Tools

@testable import Console

@Suite("Help and the palette")
struct HelpTests {
    private func console(_ records: [ExchangeRecord] = ModelFixture.plain(9)) -> ConsoleModel {
        ModelFixture.listing(records, Size(width: 80, height: 24))
    }

    private func report(_ model: ConsoleModel) -> ReportState? {
        if case .report(let report)? = model.overlays.last { report } else { nil }
    }

    private func lines(_ model: ConsoleModel) -> [String] { report(model)?.document.lines.map(\.plain) ?? [] }

    @Test("The first page fits a screen of 80×24 wherever help is asked for, and nothing runs into anything else")
    func firstPage() {
        var places: [(String, ConsoleModel)] = [("list", console())]
        func add(_ name: String, _ keys: String...) {
            var model = console()
            for key in keys { model.press(key) }
            places.append((name, model))
        }
        add("detail", "enter")
        add("panel", "B")
        add("prompt", "S")
        add("palette", ":")
        var editor = console()
        let rule = EditorState(purpose: .rule(Tool.all[0], replaces: nil), title: "New", area: TextArea("at: a\n"))
        editor.answer { $0.open(rule) }
        places.append(("editor", editor))
        for (name, model) in places {
            var model = model
            model.press("f1")
            let lines = lines(model)
            #expect((5...20).contains(lines.count), "\(name): \(lines.count)")
            for line in lines { #expect(TextWidth.columns(line) <= 76, "\(name): \(line)") }
            #expect(lines[0].contains("[1 now]"))
            model.press("esc")
            #expect(report(model) == nil)
        }
    }

    @Test("Help says what the keys do here: Enter folds in the detail, an editor has its own keys, a report copies")
    func byContext() {
        var model = console()
        model.press("enter", "f1")
        let detail = lines(model)
        #expect(detail.contains { $0.hasPrefix("enter z") || $0.contains(" enter z") }, "\(detail)")
        #expect(!detail.contains { $0.contains("Open the exchange") })
        func editor(_ purpose: EditorState.Purpose) -> [String] {
            var model = console()
            model.answer { $0.open(EditorState(purpose: purpose, title: "New", area: TextArea("at: a\n"))) }
            model.press("f1")
            return lines(model)
        }
        let rule = editor(.rule(Tool.all[0], replaces: nil))
        #expect(rule.contains { $0.hasPrefix("tab ") } && !rule.contains { $0.hasPrefix("ctrl-y ") })
        let request = editor(.newRequest(nil))
        #expect(request.contains { $0.hasPrefix("ctrl-y ") } && !request.contains { $0.hasPrefix("tab ") })
        model = console()
        model.press("!")
        #expect(FooterView.hints(model).contains { $0.key == "c" })
        // The guide is behind help, however much room the other keys leave.
        for width in [46, 80, 120] {
            model = ModelFixture.listing(ModelFixture.plain(9), Size(width: width, height: 24))
            model.press("?")
            #expect(FooterView.hints(model).contains { $0.key == "?" && $0.word == "guide" })
        }
    }

    @Test("The legend names no colour where none is seen", arguments: [ColorDepth.none, .ansi8, .ansi16, .palette256])
    func legend(depth: ColorDepth) {
        for theme in Theme.allCases {
            let text = HelpSigns.lines(Look(theme: theme, depth: depth)).map(\.plain).joined(separator: "\n")
            let hasColours = depth == .palette256 && theme != .plain
            #expect(text.contains("has a colour") == hasColours, "\(theme.rawValue) \(depth)")
            #expect(text.contains("its row is underlined") != hasColours, "\(theme.rawValue) \(depth)")
        }
    }

    @Test("In an editor, a prompt and a picker help is about these, and what was typed stays")
    func typing() {
        var model = console()
        model.press("S")
        model.type("nee?")
        model.press("f1")
        #expect(lines(model).contains { $0.contains("TEXT") } && !lines(model).contains { $0.contains("One line up") })
        model.press("esc")
        guard case .prompt(let prompt)? = model.overlays.last else {
            Issue.record("the prompt is gone")
            return
        }
        #expect(prompt.line.text == "nee?")
        model.press("esc", "/")
        model.type("sta")
        model.press("f1")
        #expect(lines(model).contains { $0.hasPrefix("status:5xx ") })
        model.press("esc")
        #expect(model.filter.isEditing && model.filter.line.text == "sta")
    }

    @Test("Pages are turned by tab, arrows and numbers; a word opens the page of its command")
    func pages() {
        var model = console()
        model.press("?", "tab")
        #expect(report(model)?.page == 1)
        model.press("left", "left")
        #expect(report(model)?.page == (report(model)?.pages.count ?? 0) - 1)
        #expect(lines(model).contains { $0.hasPrefix("200~ ") })
        model.press("4")
        for tool in Tool.all {
            #expect(lines(model).contains { $0.contains("\(tool.title): no rules") && $0.contains("a \(tool.letter)") })
        }
        model.press("esc")
        _ = model.perform(.help, "export")
        #expect(lines(model)[0].contains("[6 copy]"))
        model.press("esc")
        #expect(model.perform(.help, "nothing").isEmpty && model.told.hasPrefix("Help has no page 'nothing'"))
    }

    private func palette(_ model: ConsoleModel, _ typed: String = "") -> [PickerState.Item] {
        var model = model
        model.press(":")
        model.type(typed)
        if case .picker(let picker)? = model.overlays.last { return picker.matches }
        return []
    }

    @Test("The palette begins with what fits the selection, and ends with what cannot be done")
    func palette() throws {
        let plain = palette(console())
        #expect(plain.first?.value == "open")
        let firstDisabled = try #require(plain.firstIndex { $0.disabled != nil })
        #expect(plain[firstDisabled...].allSatisfy { $0.disabled != nil })
        let tunnel = ModelFixture.record(1, "CONNECT", "https://pinned.example.com/") { $0.kind = .tunnel }
        #expect(palette(console([tunnel])).first?.value == "decrypt")
        #expect(palette(console([ModelFixture.record(1, status: 500)])).first?.value == "why")
        let image = ModelFixture.record(1) { $0.mediaType = "image/png" }
        #expect(palette(console([image])).first?.value == "save-body")
        var held = console()
        _ = held.update(.proxy(ModelFixture.status(), ["9.1"].compactMap { ModelFixture.hold($0) }))
        #expect(palette(held).prefix(4).map(\.value) == ["execute", "edit", "cancel", "abort"])
    }

    @Test(
        "The palette finds a command by other programs' words for it",
        arguments: [
            ("har", "export"), ("replay", "repeat"), ("resend", "repeat"), ("qr", "trust"), ("diff", "compare"),
            ("scheme", "columns"), ("ssl", "decrypt"), ("kill", "abort"), ("search", "search"), ("sort", "sort"),
            ("undo", "undo"), ("abort", "abort"),
        ]
    )
    func synonyms(word: String, command: String) {
        #expect(palette(console(), word).first?.value == command, "\(word)")
    }

    @Test(
        "Words count by how they match: a title's beginning, a word of it, a word for the same thing, letters",
        arguments: [
            ("expand", ["unfold-all", "fold"]), ("back", ["back", "back-to-live"]), ("unfold", ["unfold-all", "fold"]),
            ("all commands", ["palette"]), ("slow bandwidth", ["preset"]), ("insec", ["insecure-host", "trust"]),
        ]
    )
    func ranking(word: String, commands: [String]) {
        #expect(palette(console(), word).prefix(commands.count).map(\.value) == commands, "\(word)")
    }

    @Test("In a session that was opened, back is back from it, unless an exchange is open")
    func back() {
        var model = console()
        model.answer { $0.takeOpened("old.sluice", hidesLive: true) }
        ModelFixture.answer(&model, ModelFixture.plain(9))
        #expect(palette(model, "back").first?.value == "back-to-live")
        model.press("enter")
        #expect(palette(model, "back").first?.value == "back")
    }

    @Test("What may follow x is said once for each tool, and how to come to its rules")
    func prefixes() {
        var model = console()
        model.press("x")
        let hints = FooterView.hints(model)
        #expect(hints.prefix(2).map(\.word) == ["on/off", "rules"])
        #expect(hints.count { $0.word == "block cookies" } == 1)
        #expect(Set(hints.map(\.word)).count == hints.count, "\(hints)")
        let footer = ConsoleView.draw(model).text
        #expect(footer.contains("a-z on/off  A-Z rules") && footer.contains("c block cookies"))
    }

    @Test("Why several commands cannot be done now is said once for a group")
    func reasons() throws {
        var model = console()
        model.press("?")
        for group in CommandEntry.Group.allCases.map(\.word) where group != "send" {
            _ = model.perform(.help, group)
            guard case .report(let report)? = model.overlays.last else { continue }
            let text = report.document.lines.map(\.plain).joined(separator: " ")
            let count = text.ranges(of: "Nothing is open;").count
            #expect(count <= 1 && (group != "look" || count == 1 && text.contains("(1)")), "\(group): \(text)")
        }
    }

    @Test("The palette takes a command with its argument")
    func argument() {
        var model = console()
        model.press(":")
        model.type("filter status:404")
        model.press("enter")
        #expect(model.filter.applied == "status:404" && model.overlays.isEmpty)
        #expect(palette(console(), "filter the").first?.value == "filter")
        #expect(palette(console(), "copy as curl").first?.value == "copy-curl")
        var wrong = console()
        wrong.press(":")
        wrong.type("filter stauts:4")
        wrong.press("enter")
        guard case .picker(let picker)? = wrong.overlays.last else {
            Issue.record("the palette is gone")
            return
        }
        #expect(picker.problem.hasPrefix("Filter: "))
    }

    @Test(
        "What begins with a command's word stays that command's, which gives its reason",
        arguments: [
            ("columns id st", "There is no column 'st'; there are id, start, method"),
            ("columns id statsu path", "There is no column 'statsu' (did you mean 'status'?)."),
            ("colu id statsu", "There is no column 'statsu' (did you mean 'status'?)."),
            ("sort nothing", "There is no column 'nothing'"), ("theme pink", "There is no theme 'pink'"),
        ]
    )
    func wrongArgument(typed: String, reason: String) {
        var model = console()
        model.list.columns = [.id, .path]
        model.press(":")
        model.type(typed)
        model.press("enter")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("the palette is gone")
            return
        }
        #expect(picker.matches.count == 1)
        #expect(picker.line.text == typed)
        #expect(picker.problem.hasPrefix(reason), "\(picker.problem)")
        #expect(model.list.columns == [.id, .path])
    }

    @Test("Letters of a title still find what begins like no command")
    func fewLetters() {
        // `b` begins `body`, and the rest is no form of one.
        #expect(palette(console(), "b list").contains { $0.title.hasPrefix("Block list") })
        #expect(palette(console(), "copy as curl").first?.value == "copy-curl")
    }

    @Test("What throws away what was set up is asked for, unless its own word was typed")
    func forgetting() {
        var model = console()
        model.list.columns = [.id, .path]
        model.press(":")
        model.type("reset col")
        #expect(model.press("enter").isEmpty)
        guard case .confirm(let question)? = model.overlays.last else {
            Issue.record("nothing was asked")
            return
        }
        #expect(question.question.hasPrefix("Reset columns, order, theme"))
        #expect(question.choices.map(\.key) == ["y", "n"])
        model.press("n")
        #expect(model.overlays.isEmpty && model.list.columns == [.id, .path])
        model.press(":")
        model.type("reset col")
        model.press("enter")
        _ = model.update(.tick(model.now + 1_000_000))
        model.press("y")
        #expect(model.overlays.isEmpty && model.list.columns.isEmpty)
        model.list.columns = [.id, .path]
        model.press(":")
        model.type("reset-view")
        model.press("enter")
        #expect(model.overlays.isEmpty && model.list.columns.isEmpty)
    }

    @Test("Tab completes the names of columns behind their command's word")
    func completion() {
        var model = console()
        model.press(":")
        model.type("columns id +met")
        model.press("tab")
        model.type("-pr")
        model.press("tab")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("the palette is gone")
            return
        }
        #expect(picker.line.text == "columns id +method -process ")
        var several = console()
        several.press(":")
        several.type("columns id s")
        several.press("tab")
        guard case .picker(let open)? = several.overlays.last else {
            Issue.record("the palette is gone")
            return
        }
        let begun = Column.allCases.map(\.rawValue).filter { $0.hasPrefix("s") }
        #expect(begun.count > 1 && open.candidates == begun)
        #expect(ConsoleView.draw(several).text.contains(begun.joined(separator: "  ")))
        several.type("zz")
        several.press("tab")
        guard case .picker(let wrong)? = several.overlays.last else { return }
        #expect(wrong.line.text == "columns id szz" && wrong.candidates == ["no match"])
    }

    @Test("A row whose title begins with what was typed comes first")
    func beginning() {
        var model = console()
        model.press("enter")
        model.press("c")
        model.type("line under")
        guard case .picker(let copy)? = model.overlays.last else {
            Issue.record("no choice of what to copy")
            return
        }
        #expect(copy.matches.first?.title.hasPrefix("Line under the cursor") == true, "\(copy.matches)")
        #expect(copy.matches.contains { $0.title.hasPrefix("Header line under") })
        #expect(palette(console(), "filter the").first?.title == "Filter the list")
        #expect(palette(console(), "mark").first?.title.hasPrefix("Mark") == true)
    }
}
