import HTTPModel
import Terminal
import Testing
import Tools

@testable import Console

struct EditorUpdateTests {
    private static let purposes: [EditorState.Purpose] = [
        .rule(.blockList, replaces: nil), .hold("7.1"), .request(ExchangeID(3)),
    ]

    private func console(_ purpose: EditorState.Purpose) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 100, height: 30))
        waiting(&model, "7.1", "8.1")
        if case .hold = purpose { model.press("H") }
        model.answer { $0.open(EditorState(purpose: purpose, title: "Text", area: TextArea("at: a.com"))) }
        return model
    }

    private func waiting(_ model: inout ConsoleModel, _ ids: String...) {
        _ = model.update(.proxy(ModelFixture.status(), ids.compactMap { ModelFixture.hold($0) }))
    }

    private func editor(_ model: ConsoleModel) -> EditorState? {
        if case .editor(let editor)? = model.overlays.last { editor } else { nil }
    }

    @Test(arguments: purposes.dropFirst())
    func `a text stays in the editor until it is taken, with what is wrong under it`(_ purpose: EditorState.Purpose) {
        var model = console(purpose)
        let count = model.overlays.count
        model.type("nonsense ")
        #expect(model.press("ctrl-s").count == 1)
        model.answer { $0.take(answerTo: purpose, refusal: "line 1: no\nmethod") }
        #expect(model.press("D", "q").isEmpty)
        #expect(editor(model)?.area.text == "nonsense Dqat: a.com")
        #expect(editor(model)?.remark == "line 1: no method")
        #expect(editor(model)?.isWrong == true)
        // A question over it goes with it.
        model.press("ctrl-s", "esc")
        model.answer { $0.take(answerTo: purpose, refusal: nil) }
        #expect(model.overlays.count == count - 1)
        model.answer { $0.take(answerTo: purpose, refusal: "too late") }
        #expect(model.told == "too late")
    }

    @Test func `an edited message leaves the list at the next one`() {
        var model = console(.hold("7.1"))
        #expect(model.press("ctrl-s").words == ["edited 7.1"])
        model.answer { $0.take(answerTo: .hold("7.1"), refusal: nil) }
        #expect(model.press("ctrl-e").words == ["execute 8.1"])
    }

    @Test(arguments: purposes)
    func `a changed text is not dropped without a question`(_ purpose: EditorState.Purpose) {
        var model = console(purpose)
        let count = model.overlays.count
        model.press("down", "esc")
        #expect(model.overlays.count == count - 1)
        model = console(purpose)
        model.type("b")
        model.press("esc", "n")
        #expect(editor(model)?.area.text == "bat: a.com")
        model.press("esc", "esc")
        #expect(editor(model) != nil)
        // What was taken back is no change.
        model.press("backspace")
        #expect(editor(model)?.area.isChanged == false)
        _ = editor(model).map { editor in model.answer { $0.takeBack(editor, "at: b.com") } }
        #expect(editor(model)?.area.text == "at: b.com")
        model.press("esc", "y")
        #expect(model.overlays.count == count - 1)
    }

    @Test func `an editor says when its message is no longer held, and keeps the text`() {
        var model = console(.hold("7.1"))
        model.type("new ")
        waiting(&model, "8.1")
        #expect(editor(model)?.remark.hasPrefix("This message is no longer held") == true)
        #expect(editor(model)?.isWrong == true)
        #expect(editor(model)?.area.text == "new at: a.com")
        waiting(&model)
        #expect(editor(model)?.area.text == "new at: a.com")
    }

    @Test func `what would be lost at the end is told in a sentence`() {
        var model = console(.hold("7.1"))
        model.press("esc", "esc")
        model.answer {
            $0.takeOver([ProfileSource(file: "rules.yaml", text: ModelFixture.rules, isUnsaved: true)], nil)
        }
        waiting(&model, "8.1")
        model.press("q")
        guard case .confirm(let confirm)? = model.overlays.last else {
            Issue.record("no question")
            return
        }
        #expect(confirm.question == "You have unsaved rule changes, and a message is held.")
    }
}
