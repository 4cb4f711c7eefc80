import Foundation
import HTTPModel
import Rules
import Support
import Terminal
import Testing
import Tools

@testable import Console
@testable import Runner

/// Hosts that are decrypted or passed, everything held, rules that are saved and loaded, sessions opened within.
struct ActingUpdateTests {
    private func console(_ text: String? = nil, _ records: [ExchangeRecord] = ModelFixture.plain(2)) -> ConsoleModel {
        var model = ModelFixture.listing(records, Size(width: 100, height: 30))
        if let text { model.answer { $0.takeOver([ProfileSource(file: "rules.yaml", text: text)], nil) } }
        return model
    }

    private func applied(_ effects: [Effect]) -> String? {
        effects.lazy.compactMap { if case .applyRules(let texts, _, _) = $0 { texts.last?.text } else { nil } }.first
    }

    @Test func `a host is passed through unread by a key, and the same key decrypts it again`() throws {
        var model = console("version: 1\n# ours\nblock:\n  - at: x.com\n")
        let passed = try #require(applied(model.press("ctrl-d")))
        #expect(passed.contains("except: [api.example.com]"))
        #expect(passed.contains("# ours\n"))
        model.answer { $0.takeOver([ProfileSource(file: "rules.yaml", text: passed, isUnsaved: true)], nil) }
        #expect(model.perform(.pass, "api.example.com").isEmpty)
        #expect(model.told.contains("is not decrypted already"))
        let back = try #require(applied(model.press("ctrl-d")))
        #expect(back.hasPrefix("version: 1\n# ours\nblock:\n  - at: x.com\n"))
        #expect(!back.contains("intercept"))
    }

    @Test func `a host that a wider rule leaves out is not decrypted, and it is said which`() {
        var model = console("version: 1\nintercept: { except: [ \"*.example.com\", other.com ] }\n")
        #expect(model.perform(.decrypt, "api.example.com").isEmpty)
        #expect(model.told.contains("'intercept' of the profile excludes"))
        #expect(model.told.contains("*.example.com"))
        let text = applied(model.perform(.decrypt, "other.com"))
        #expect(text?.contains("except: [ \"*.example.com\" ]") == true, "\(text ?? "")")
        #expect(model.perform(.decrypt, "third.com").words == ["decrypt third.com"])
        let plain = ModelFixture.record(1, "GET", "http://plain.com/")
        model = console(nil, [plain])
        #expect(model.press("ctrl-d").isEmpty)
        #expect(model.told == "This exchange is plain HTTP: there is nothing to decrypt.")
    }

    @Test func `everything is held by one key, and no more by the same`() throws {
        var model = console()
        let text = try #require(applied(model.press("ctrl-k")))
        #expect(text.contains("name: everything"))
        #expect(!StatusView.text(StatusView.items(model)).contains("everything is held"))
        model.answer { $0.takeOver([ProfileSource(file: "sluice-rules.yaml", text: text, isUnsaved: true)], nil) }
        #expect(StatusView.text(StatusView.items(model)).contains("everything is held"))
        #expect(applied(model.press("ctrl-k"))?.contains("everything") == false)
    }

    @Test func `a tool that is switched off is saved as off`() throws {
        var model = console("version: 1\nthrottle: { preset: 3g }\n")
        let off = [ToolState(name: "throttle", isOn: false, rules: 1, enabled: 1)]
        _ = model.update(.proxy(ModelFixture.status(off), []))
        guard case .saveSwitched(let texts, _)? = model.press("ctrl-s").first else {
            Issue.record("nothing is saved")
            return
        }
        #expect(texts.first?.text == "version: 1\noff: [throttle]\nthrottle: { preset: 3g }\n")
        model.answer { $0.takeOver(texts, nil) }
        #expect(model.press("ctrl-s").isEmpty)
        #expect(model.told == "The rules are already saved.")
        let on = [ToolState(name: "throttle", isOn: true, rules: 1, enabled: 1)]
        _ = model.update(.proxy(ModelFixture.status(on), []))
        guard case .saveSwitched(let again, _)? = model.press("ctrl-s").first else {
            Issue.record("nothing is saved")
            return
        }
        #expect(again.first?.text == "version: 1\nthrottle: { preset: 3g }\n")
    }

    @Test func `off in a console without rules says so, and changes nothing`() {
        var model = console()
        #expect(model.perform(.preset, "off").isEmpty)
        #expect(model.told == "Throttling is off.")
    }

    @Test func `a profile is loaded by name or read again, and unsaved rules are asked about`() {
        var model = console()
        #expect(model.press("U").words == ["profile sluice-rules.yaml"])
        model.answer { $0.promptAgain(.loadProfile, "sluice-rules.yaml:1:1: cannot be read") }
        guard case .prompt(let prompt)? = model.overlays.last else {
            Issue.record("no prompt")
            return
        }
        #expect(prompt.problem == "sluice-rules.yaml:1:1: cannot be read")
        model = console("version: 1\n")
        model.press("U")
        #expect(model.press("enter").words == ["profile again"])
        model.press("U")
        model.type("b.yaml")
        #expect(model.press("enter").words == ["profile b.yaml"])
        model.answer { $0.takeOver([ProfileSource(file: "rules.yaml", text: "version: 1\n", isUnsaved: true)], nil) }
        #expect(model.perform(.loadProfile, "b.yaml").isEmpty)
        #expect(model.press("y").words == ["profile b.yaml over"])
    }

    @Test func `a rule that answers from a file offers to save the recorded answer there`() {
        var model = console()
        var editor = EditorState(
            purpose: .rule(.mapLocal, replaces: nil),
            title: "Map local",
            area: TextArea("from: https://api.example.com/*\nto: x.json")
        )
        editor.origin = .exchange(ExchangeID(2))
        model.answer { $0.open(editor) }
        #expect(model.press("ctrl-s").words == ["offer answer 2"])
        model.answer { $0.offerAnswer("x.json", "another text") }
        #expect(model.overlays.count == 1)
        model.answer { $0.offerAnswer("x.json", editor.area.text) }
        #expect(model.press("y").words == ["save body 2 x.json", "apply rules"])
        #expect(model.overlays.isEmpty)
        model.answer { $0.open(editor) }
        model.press("ctrl-s")
        #expect(model.answer { $0.offerAnswer(nil, editor.area.text) }.words == ["apply rules"])
    }

    @Test func `another session is looked at in the console, and the own one comes back as it was`() {
        var model = console("version: 1\n")
        model.press("space", "Y")
        model.type("old.sluice")
        model.list.query.focusedHosts = ["a.example"]
        model.list.query.ignoredHosts = ["b.example"]
        #expect(model.press("enter").words == ["open session old.sluice"])
        model.answer { $0.takeOpened("old.sluice", hidesLive: true) }
        #expect(model.told.contains("The proxy continues to record"))
        #expect(model.marks.isEmpty && model.list.query.focusedHosts.isEmpty && model.list.query.ignoredHosts.isEmpty)
        #expect(model.perform(.toggleTool, "block").isEmpty)
        #expect(model.told == "Not available: viewing a recording.")
        let hold = ModelFixture.hold("7.1")
        _ = model.update(.proxy(ModelFixture.status(), [hold].compactMap(\.self)))
        #expect(model.proxy.holds.isEmpty)
        #expect(model.told.hasPrefix("A message is held in the live session"))
        #expect(model.press("q").words == ["back to live"])
        model.answer { $0.takeOpened(nil, hidesLive: false) }
        #expect(model.source == .live)
        #expect(model.marks == [ExchangeID(2)])
        #expect(model.rules.texts.count == 1)
        #expect(model.list.query.focusedHosts == ["a.example"] && model.list.query.ignoredHosts == ["b.example"])
    }

    @Test func `one of several highlights is taken away by its number`() {
        var model = console()
        for text in ["status:404", "host:a", "method:POST"] { _ = model.perform(.highlight, text) }
        _ = model.perform(.highlight, "-2")
        #expect(model.highlights.map(\.number) == [1, 3])
        _ = model.perform(.highlight, "host:b")
        #expect(model.highlights.map(\.number) == [1, 2, 3])
        _ = model.perform(.highlight, "-7")
        #expect(model.told.hasPrefix("There is no highlight 7."))
        model.press("V")
        #expect(ConsoleView.draw(model).text.contains("Active: 1 status:404"))
    }
}

struct ViewSettingsTests {
    private func model() -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
    }

    @Test func `what one set up is as it was at the next start`() throws {
        let scratch = try Scratch()
        let file = ViewSettingsFile(path: scratch.path("view.json"))
        var first = model()
        _ = first.perform(.columns, "id path")
        _ = first.perform(.sort, "time desc")
        _ = first.perform(.theme, "light")
        _ = first.perform(.focusHost, "api.example.com")
        _ = first.perform(.highlight, "status:404")
        _ = first.perform(.mouse, "off")
        first.filter.history = ["host:a"]
        first.split = 700
        try file.write(ViewSettings(first))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        var second = model()
        file.configure(&second)
        #expect(ViewSettings(second) == ViewSettings(first))
        #expect(second.list.columns == [.id, .path])
        #expect(second.list.query.focusedHosts == ["api.example.com"])
        #expect(!second.isMouseOn)
        // An order is for one look at the list.
        #expect(second.list.query.sort == nil)
        #expect(second.told.hasPrefix("Restored view: only api.example.com is shown, 1 highlight"))
        _ = second.perform(.resetView, nil)
        #expect(second.isMouseOn)
        #expect(ViewSettings(second) == ViewSettings())
        try file.write(ViewSettings(second))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `where the mouse is off at first, only what was chosen against that is kept`() throws {
        var first = model()
        (first.isMouseOn, first.isMouseOnAtFirst) = (false, false)
        #expect(ViewSettings(first).usesMouse == nil)
        _ = first.perform(.mouse, "on")
        let settings = ViewSettings(first)
        #expect(settings.usesMouse == true)
        _ = first.perform(.resetView, nil)
        #expect(!first.isMouseOn)
        settings.apply(to: &first)
        #expect(first.isMouseOn)
    }

    @Test(arguments: ["", "no JSON", "[1]", #"{"columns": 7}"#])
    func `a file that is wrong never stops the start, and is told of`(_ text: String) throws {
        let scratch = try Scratch()
        let path = try scratch.write("view.json", text)
        var model = model()
        ViewSettingsFile(path: path).configure(&model)
        #expect(model.told.contains("cannot be read and is ignored"))
        #expect(ViewSettings(model) == ViewSettings())
    }

    @Test func `what is unknown or out of bounds in the file is left out`() throws {
        let scratch = try Scratch()
        let text =
            #"{"columns":["id","nonsense"],"sort":"waterfall","split":99999,"theme":"pink","highlights":{"0":"a","3":"body:x"},"later":1}"#
        let path = try scratch.write("view.json", text)
        var model = model()
        ViewSettingsFile(path: path).configure(&model)
        #expect(model.list.columns == [.id])
        #expect(model.list.query.sort == nil)
        #expect(model.split == 850)
        #expect(model.look.theme == .dark)
        #expect(model.highlights.isEmpty)
    }
}
