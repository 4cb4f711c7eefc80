import Description
import HTTPModel
import Support
import Terminal
import Testing
import Tools

@testable import Console

struct PromptUpdateTests {
    private func console() -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
    }

    private func prompt(_ model: ConsoleModel) -> PromptState? {
        if case .prompt(let prompt)? = model.overlays.last { prompt } else { nil }
    }

    private func screen(_ model: ConsoleModel) -> String { ConsoleView.draw(model).text }

    @Test func `a prompt stays with its text where the text is wrong, and says where and what may be typed`() throws {
        var model = console()
        model.press("enter")
        _ = model.perform(.page, nil)
        model.type("respnse")
        #expect(model.press("enter").isEmpty)
        #expect(prompt(model)?.line.text == "respnse")
        #expect(screen(model).contains("There is no page 'respnse'"))
        // What is typed next is text.
        model.type("i")
        #expect(prompt(model)?.line.text == "respnsei")
        #expect(prompt(model)?.problem == "")
        model.press("ctrl-u")
        model.type("response")
        model.press("enter")
        #expect(model.overlays.isEmpty)
        #expect(model.detail.options.page == .response)
    }

    @Test func `a mistake in a filter is pointed at in the prompt, wrapped`() {
        var model = console()
        model.press("V")
        model.type("host:a staus:4")
        model.press("enter")
        #expect(prompt(model)?.problemColumn == 7)
        #expect(prompt(model)?.line.text == "host:a staus:4")
        #expect(model.highlights.isEmpty)
    }

    @Test func `a number and a plan that make no sense stay in their prompts`() {
        var model = console()
        model.press("#")
        model.type("abc")
        model.press("enter")
        #expect(prompt(model)?.line.text == "abc")
        model.press("esc", "A")
        model.type("abc")
        #expect(model.press("enter").isEmpty)
        #expect(prompt(model)?.command == .repeatAdvanced)
        #expect(prompt(model)?.problem.contains("'abc'") == true)
    }

    @Test func `a command that is refused later brings its prompt back`() {
        var model = console()
        _ = model.perform(.newRequest, nil)
        model.type("GET http://")
        #expect(model.press("enter").words == ["compose GET http://"])
        #expect(model.overlays.isEmpty)
        model.answer { $0.promptAgain(.newRequest, "line 1: no host") }
        #expect(prompt(model)?.line.text == "GET http://")
        #expect(prompt(model)?.problem == "line 1: no host")
        model.press("esc")
        model.answer { $0.promptAgain(.loadProfile, "a.yaml:1:1: no") }
        #expect(model.overlays.isEmpty)
        #expect(model.told == "a.yaml:1:1: no")
    }

    @Test func `tab completes words, and shows several`() {
        var model = console()
        model.press("enter")
        _ = model.perform(.page, nil)
        model.type("ov")
        model.press("tab")
        #expect(prompt(model)?.line.text == "overview ")
        model.press("ctrl-u")
        model.type("re")
        model.press("tab")
        #expect(prompt(model)?.candidates == ["request", "response"])
        #expect(screen(model).contains("request  response"))
        model.type("x")
        model.press("tab")
        #expect(prompt(model)?.candidates == ["no match"])
    }

    @Test func `tab completes the name of a file from its directory`() {
        var model = console()
        model.press("ctrl-s", "ctrl-o", "ctrl-u")
        model.type("out/re")
        #expect(model.press("tab").words == ["complete out/re"])
        model.answer { $0.takeFiles(["report/", "response.json"], for: "out/re") }
        #expect(prompt(model)?.line.text == "out/re")
        #expect(prompt(model)?.candidates == ["report/", "response.json"])
        model.press("tab")
        model.type("p")
        // An answer for another text comes too late.
        model.answer { $0.takeFiles(["report/"], for: "out/re") }
        #expect(prompt(model)?.line.text == "out/rep")
        model.press("tab")
        model.answer { $0.takeFiles(["report/"], for: "out/rep") }
        #expect(prompt(model)?.line.text == "out/report/")
        model.type("a")
        // Enter that is typed ahead waits for the name.
        #expect(model.press("tab", "enter").isEmpty)
        #expect(model.answer { $0.takeFiles(["a.bin"], for: "out/report/a") }.words == ["save body 3 out/report/a.bin"])
        #expect(model.overlays.isEmpty)
    }

    @Test func `tab in a rule completes its keys and their words, else it indents`() {
        let lines = [("fr", "from: "), ("on-miss: er", "on-miss: error"), ("on-miss: x", ""), ("- to", "- to: ")]
        for (line, wanted) in lines {
            let completion = ValueCompletion.rule(line, at: line.count, of: .mapLocal)
            let text = completion.map { $0.text.isEmpty ? "" : String(line.prefix($0.start)) + $0.text }
            #expect(text == wanted, "\(line)")
        }
        #expect(ValueCompletion.rule("from: http://a", at: 14, of: .mapLocal) == nil)
        #expect(ValueCompletion.rule("  ", at: 2, of: .mapLocal) == nil)
        let several = ValueCompletion.rule("e", at: 1, of: .mapLocal)
        #expect(several?.candidates == ["except", "enabled"])
        #expect(ValueCompletion.rule("  ad", at: 4, of: .rewrite)?.text == "add: ")
    }

    @Test func `tab in the condition of a rule completes as in the filter, with the keys that a condition can have`() {
        let model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        let lines = [
            ("when: 'sch", "when: 'scheme:"), ("when: method:DEL", "when: method:DELETE"),
            ("{ at: a.example, when: not scheme:htt", "{ at: a.example, when: not scheme:http"),
            ("when: tim", "when: "), ("name: tim", nil), ("at: when", nil),
        ]
        for (line, wanted) in lines {
            let completion = model.completedCondition(line, at: line.count)
            #expect(completion.map { String(line.prefix($0.start)) + $0.text } == wanted, "\(line)")
        }
    }

    @Test func `tab in the place of a rule completes a host of the session`() {
        let hosts = ["localhost", "api.example.com", "api.example.org"]
        let lines = [
            ("at: loc", "at: localhost"), ("- at: loc", "- at: localhost"), ("at: http://loc", "at: http://localhost"),
            ("at: [\"other.net/x\", \"loc", "at: [\"other.net/x\", \"localhost"), ("at: ap", "at: api.example."),
            ("except: loc", "except: localhost"), ("at: nowhere", ""),
        ]
        for (line, wanted) in lines {
            let completion = ValueCompletion.rule(line, at: line.count, of: .blockList, hosts: hosts)
            let text = completion.map { $0.text.isEmpty ? "" : String(line.prefix($0.start)) + $0.text }
            #expect(text == wanted, "\(line)")
        }
        // A path is no host.
        #expect(ValueCompletion.rule("at: api.example.com/lo", at: 22, of: .blockList, hosts: hosts) == nil)
        var model = console()
        model.press("a", "b")
        let rule = EditorState(purpose: .rule(.blockList, replaces: nil), title: "New", area: TextArea("at: "))
        model.answer { $0.open(rule) }
        let host = model.list.rows.values.first?.url.host ?? ""
        model.press("end")
        model.type(String(host.prefix(3)))
        model.press("tab")
        guard case .editor(let editor)? = model.overlays.last else {
            Issue.record("no editor")
            return
        }
        #expect(!host.isEmpty && editor.area.text.hasPrefix("at: \(host)"), "\(editor.area.text)")
    }

    @Test func `what is pasted beside a text field never means commands`() {
        var model = console()
        #expect(model.update(.input(.paste("q X p i"))).isEmpty)
        #expect(model.told.hasPrefix("Pasted text ignored (7 characters)"))
        #expect(model.list.query.focusedHosts.isEmpty)
        #expect(model.update(.input(.paste(" curl -d x http://a.b/ \n"))).words == ["compose curl -d x http://a.b/"])
        #expect(model.update(.input(.paste("https://a.b/c"))).words == ["compose https://a.b/c"])
        model.press("?")
        #expect(model.update(.input(.paste("https://a.b/c"))).isEmpty)
        model = ModelFixture.listing(
            ModelFixture.plain(1),
            Size(width: 80, height: 24),
            source: .recorded(name: "a")
        )
        #expect(model.update(.input(.paste("https://a.b/c"))).isEmpty)
        #expect(model.told.hasSuffix("Requests are sent through a running proxy."))
    }

    @Test func `a command on several lines goes into the prompt for a request unchanged`() {
        var model = console()
        model.press("ctrl-n")
        let command = "curl http://a.b/ \\\n  -H 'X: 1'"
        #expect(model.update(.input(.paste(command))).words == ["compose \(command)"])
        #expect(model.overlays.isEmpty)
    }

    @Test func `marked requests are sent after a question only`() {
        var model = console()
        model.press("space", "up", "space", "up")
        #expect(model.marks.count == 2)
        #expect(model.press("p").isEmpty)
        guard case .confirm(let confirm)? = model.overlays.last else {
            Issue.record("no question")
            return
        }
        #expect(confirm.question == "Send the 2 marked requests again?")
        #expect(model.press("y").isEmpty)
        _ = model.update(.tick(model.now + 400_000))
        let ids = model.marks.map(\.description).joined(separator: " ")
        #expect(model.press("y").words == ["send each \(ids)"])
        #expect(model.perform(.repeatRequest, "1").words == ["send 1"])
    }

    @Test func `requests that were sent from here can be opened again, the newest first`() {
        var model = console()
        #expect(model.perform(.requests, nil).isEmpty)
        #expect(model.told.hasPrefix("No request was written or edited here yet"))
        for path in ["a", "b"] {
            let text = "GET http://h/\(path) HTTP/1.1\n\n"
            model.answer { $0.open(EditorState(purpose: .newRequest(nil), title: "New", area: TextArea(text))) }
            #expect(model.press("ctrl-s").words == ["send new"])
            model.answer { $0.take(answerTo: .newRequest(nil), refusal: nil) }
        }
        model.press("ctrl-n", "up", "up")
        #expect(prompt(model)?.line.text == "GET http://h/a")
        model.press("esc")
        _ = model.perform(.requests, nil)
        #expect(screen(model).contains("> GET http://h/b"))
        model.press("enter")
        guard case .editor(let editor)? = model.overlays.last else {
            Issue.record("no editor")
            return
        }
        #expect(editor.area.text == "GET http://h/b HTTP/1.1\n\n")
    }
}

struct LaidOutBodyTests {
    private let head = "POST http://h/ HTTP/1.1\nContent-Type: application/json\n\n"

    @Test func `a body that is laid out goes out as it came, unless it is edited`() throws {
        let json = #"{"a":1.50,"b":[],"c":[{"d":"é"},null],"a":{}}"#
        let (text, body) = try #require(LaidOutBody.layOut(head + json + "\n"))
        #expect(text.hasPrefix(head + "{\n  \"a\": 1.50,\n  \"b\": [],\n  \"c\": [\n    {\n"))
        #expect(text.hasSuffix("null\n  ],\n  \"a\": {}\n}\n"))
        #expect(body.restored(text) == head + json + "\n")
        let other = text.replacing("POST", with: "PUT")
        #expect(body.restored(other) == head.replacing("POST", with: "PUT") + json + "\n")
        let edited = text.replacing("1.50", with: "2")
        #expect(body.restored(edited) == edited)
        #expect(LaidOutBody.layOut(head + "a=1\n") == nil)
        #expect(LaidOutBody.layOut("GET http://h/ HTTP/1.1\n\n") == nil)
    }

    @Test func `the editor lays JSON out by a key and back`() {
        var model = ModelFixture.listing(ModelFixture.plain(1), Size(width: 80, height: 24))
        let text = head + #"{"a":1}"# + "\n"
        model.answer { $0.open(EditorState(purpose: .newRequest(nil), title: "New", area: TextArea(text))) }
        func area() -> String {
            if case .editor(let editor)? = model.overlays.last { editor.area.text } else { "" }
        }
        model.press("ctrl-y")
        #expect(area() == head + "{\n  \"a\": 1\n}\n")
        guard case .send(let draft?, .newRequest)? = model.press("ctrl-s").first else {
            Issue.record("nothing is sent")
            return
        }
        #expect(draft == text)
        model.press("ctrl-y")
        #expect(area() == text)
        model.press("ctrl-y", "ctrl-end")
        model.type("x")
        model.press("ctrl-y")
        #expect(model.told.hasPrefix("The formatted body was edited"))
    }

    @Test func `long lines take several rows, through which the cursor goes`() {
        var area = TextArea("short\n" + String(repeating: "abcdefghij", count: 5) + "\nend")
        area.reveal(rows: 3, width: 20)
        #expect(area.rows(of: 1) == [0, 20, 40])
        #expect(area.visibleRows(9).map(\.range) == [0..<5, 0..<20, 20..<40, 40..<50, 0..<3])
        area.move(line: 1, column: 5)
        _ = area.take(Key(.down))
        #expect(area.cursor == .init(line: 1, column: 25))
        _ = area.take(Key(.down))
        _ = area.take(Key(.down))
        #expect(area.cursor.line == 2)
        area.reveal(rows: 3, width: 20)
        #expect(area.visibleRows(3).map(\.line) == [1, 1, 2])
        _ = area.take(Key(.up))
        #expect(area.cursor == .init(line: 1, column: 43))
    }

    @Test func `a new line of a rule is indented as the one before`() {
        var area = TextArea("rules:\n  - add: header")
        area.move(line: 0, column: 6)
        area.insertIndentedLine()
        #expect(area.lines[1] == "  ")
        area.move(line: 2, column: 99)
        area.insertIndentedLine()
        #expect(area.lines[3] == "    ")
    }
}
