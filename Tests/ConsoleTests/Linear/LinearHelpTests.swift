import Description
import HTTPModel
import Terminal
import Testing

@testable import Console

@Suite("Help, drafts and names on lines")
struct LinearHelpTests {
    private func console() -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 100, height: 40))
        model.isLinear = true
        return model
    }

    private func help(_ word: String? = nil) -> [String] {
        var model = console()
        _ = model.perform(.help, word)
        guard case .report(let report)? = model.overlays.last else { return [] }
        return report.document.lines.map(\.plain)
    }

    @Test("help is a screen at most and names every command by its group")
    func overview() {
        let lines = help()
        #expect(lines.count <= 23 && lines.allSatisfy { $0.count <= 79 })
        let words = Set(lines.flatMap { $0.split { !($0.isLetter || $0 == "-") }.map(String.init) })
        for entry in CommandTable.entries where entry.form != .screen {
            #expect(words.contains(entry.command.rawValue), "\(entry.command)")
        }
        for group in CommandEntry.Group.allCases { #expect(lines.contains { $0.hasPrefix("\(group.word): ") }) }
    }

    @Test("help GROUP has its titles, help WORD all of one command, help all everything")
    func words() {
        #expect(help("rules").contains { $0.hasPrefix("draft [KEY VALUE]: ") })
        #expect(help("show")[0] == "show ID [PAGE]: Show an exchange, or one of its pages")
        #expect(help("show").contains { $0.contains("'last'") })
        #expect(help("filter").contains { $0.hasPrefix("status:CODE, ") })
        #expect(help("sort").contains { $0.hasPrefix("Values: ") && $0.contains("time") })
        #expect(help("edit").contains { $0.hasPrefix("Not now: ") })
        #expect(help("all").count == CommandTable.entries.filter { $0.form != .screen }.count)
        #expect(help("tools").contains { $0.hasPrefix("b, block: ") })
        for entry in CommandTable.entries where entry.form != .screen { #expect(!help(entry.command.rawValue).isEmpty) }
    }

    @Test("A word of another program names the command that is meant; one for the screen, what does it here")
    func synonyms() {
        for (word, meant) in [
            ("replay", "repeat (Send"), ("har", "export ("), ("kill", "abort ("), ("redraw", "for the screen."),
        ] {
            let error = #expect(throws: ConsoleError.self) { try CommandCall(word) }
            #expect(error?.description.contains(meant) == true, "\(word): \(error?.description ?? "")")
        }
        let near = #expect(throws: ConsoleError.self) { try CommandCall("filtre x") }
        #expect(near?.description == "Unknown command 'filtre' (did you mean 'filter'?); help lists all.")
    }

    @Test("'last' stands for a number where an exchange is named, and nowhere else")
    func last() {
        let seven = ExchangeID(7)
        #expect(CommandArgument.id.withNumber(of: seven, "last") == "7")
        #expect(CommandArgument.idAndPage.withNumber(of: seven, "last response") == "7 response")
        #expect(CommandArgument.toolAndID.withNumber(of: seven, "block last") == "block 7")
        #expect(CommandArgument.copyForm.withNumber(of: seven, "url last") == "url 7")
        #expect(CommandArgument.filter.withNumber(of: seven, "last") == "last")
        #expect(CommandArgument.id.withNumber(of: nil, "last") == "last")
        #expect(!CommandArgument.idAndPage.names(last: "12 response"))
        var model = console()
        #expect(model.perform(.why, "last").words == ["why 9"])
        let holds = ["7.1", "8.1"].compactMap { ModelFixture.hold($0) }
        _ = model.update(.proxy(ModelFixture.status(), holds))
        #expect(model.perform(.execute, "last").words == ["execute 8.1"])
        #expect(model.perform(.execute, "#7").words == ["execute 7.1"])
    }

    @Test("A rule is drafted, read, changed by a key, and put in force")
    func draft() throws {
        var model = console()
        #expect(model.perform(.draft, nil).isEmpty)
        #expect(model.told == "There is no draft; rule TOOL or compose makes one.")
        _ = model.perform(.ruleFromExchange, #"map-remote {from: "a.example", to: "http://localhost:1"}"#)
        _ = model.update(.written)
        #expect(model.perform(.draft, "to http://localhost:2").words == ["check map-remote new"])
        _ = model.update(.written)
        _ = model.perform(.draft, nil)
        guard case .report(let report)? = model.overlays.last else {
            Issue.record("the draft is not read")
            return
        }
        #expect(report.document.lines.map(\.plain).contains("2. to: http://localhost:2"))
        _ = model.update(.written)
        #expect(model.perform(.draft, "99 x").isEmpty)
        #expect(model.told == "The draft has no line 99: its last is 2.")
        // `edit` alone opens the draft, and what comes back is the draft.
        #expect(model.perform(.editHold, nil).words == ["editor"])
        let draft = try #require(model.draft)
        model.answer { $0.takeBack(draft, "from: b.example\nto: http://localhost:3\n") }
        _ = model.update(.written)
        #expect(model.perform(.apply, nil).words == ["apply rules"])
    }

    @Test("A request is drafted, changed by its parts or lines, and sent or thrown away")
    func request() throws {
        var model = console()
        let editor = EditorState(
            purpose: .request(ExchangeID(3)),
            title: "Edit and send",
            area: TextArea("GET / HTTP/1.1\n")
        )
        model.answer { $0.open(editor) }
        _ = model.update(.written)
        #expect(model.perform(.draft, "header X-A: b").words == ["edit draft header X-A: b"])
        _ = model.perform(.draft, "1 PUT / HTTP/1.1")
        _ = model.update(.written)
        #expect(model.draft?.area.text == "PUT / HTTP/1.1\n")
        #expect(model.perform(.apply, nil).words == ["send 3"])
        // A refusal keeps it.
        model.answer { $0.take(answerTo: .request(ExchangeID(3)), refusal: "line 1: no") }
        _ = model.update(.written)
        #expect(model.draft != nil)
        _ = model.perform(.discard, nil)
        #expect(model.draft == nil)
    }
}
