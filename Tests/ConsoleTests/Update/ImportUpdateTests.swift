import HTTPModel
import Recording
import Rules
import Support
import Terminal
import Testing

@testable import Console
@testable import Jobs
@testable import Runner

struct ImportUpdateTests {
    private func console(_ source: ConsoleModel.Source = .live, session: String? = "/tmp/s.sluice") -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.source = source
        var status = ModelFixture.status()
        status.session = session
        _ = model.update(.proxy(status, []))
        return model
    }

    private func prompt(_ model: ConsoleModel) -> Command? {
        if case .prompt(let prompt)? = model.overlays.last { prompt.command } else { nil }
    }

    @Test func `a plus in the prompt for a session asks for one that is imported`() {
        var model = console()
        model.press("Y", "+")
        #expect(prompt(model) == .importSession)
        model.type("bug.har")
        #expect(model.press("enter").words == ["import bug.har"])
        model.press("Y", "a", "+")
        #expect(prompt(model) == .openSession)
    }

    @Test func `where nothing can be imported it is said why, with the prompt open`() {
        var model = console(.attached(canSteer: true))
        #expect(model.perform(.importSession, "bug.har").isEmpty)
        #expect(model.told.contains("in the console of the Sluice that records"))
        model.press("Y", "+")
        #expect(prompt(model) == .openSession)
        guard case .prompt(let open)? = model.overlays.last else { return }
        #expect(open.problem.contains("in the console of the Sluice that records"))
        model = console(session: nil)
        #expect(model.perform(.importSession, "bug.har").isEmpty && model.told == "Nothing is recorded here.")
        model = console()
        model.answer { $0.takeOpened("other.sluice", hidesLive: true) }
        #expect(model.perform(.importSession, "bug.har").isEmpty && model.told.contains("goes back"))
        model = console()
        model.answer { $0.start(Job(id: .importing, title: "importing", startedAt: 0)) }
        #expect(model.perform(.importSession, "bug.har").isEmpty && model.told.contains("ctrl-g stops it"))
    }

    @Test func `a recorded session that grows by an import is not recorded by another Sluice`() {
        for imports in [false, true] {
            var model = console(.recorded(name: "s.sluice"))
            if imports { _ = model.perform(.importSession, "bug.har") }
            let status = ListStatus(generation: model.list.generation, total: 4, sessionTotal: 4)
            _ = model.update(.query(.list(status)))
            #expect(model.isGrowing == !imports)
        }
    }

    @Test func `what came, what was left out and what could not be read is said`() {
        var outcome = ImportOutcome()
        #expect(EffectRunner.words(outcome, of: "a.har") == "No exchanges in a.har.")
        (outcome.count, outcome.first, outcome.unfinished, outcome.isStopped) = (2, ExchangeID(7), 3, true)
        outcome.problem = "a.har:3:1: no HAR"
        #expect(
            EffectRunner.words(outcome, of: "a.har") == "Stopped: Imported 2 exchanges from a.har, the first as 7. "
                + "3 unfinished skipped. Filter is:imported shows them. "
                + "The rest could not be read: a.har:3:1: no HAR"
        )
    }

    @Test func `what was told before the first tick is seen for as long as other notices`() {
        var model = ConsoleModel(source: .live, size: Size(width: 80, height: 24), look: Look())
        model.tell("As you left it")
        let start: Int64 = 1_700_000_000_000_000
        _ = model.update(.tick(start))
        #expect(model.shownNotice?.text == "As you left it")
        _ = model.update(.tick(start + Notice.shown))
        #expect(model.shownNotice == nil)
    }

    @Test func `the editor says what a suggested scope matches, until the text is another`() {
        let model = console()
        let purpose = EditorState.Purpose.rule(Tool.all[0], replaces: nil)
        var editor = EditorState(purpose: purpose, title: "", area: TextArea("at: x"))
        (editor.scope, editor.remark) = ("/p and /p/*", "It would match 1 of 2.")
        #expect(EditorView.remark(editor, model).first == "Matches /p and /p/*. It would match 1 of 2.")
        editor.area.insert("y")
        #expect(EditorView.remark(editor, model).first == "It would match 1 of 2.")
    }
}
