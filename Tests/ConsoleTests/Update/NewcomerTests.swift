import HTTPModel
import Rules
import Support
import Terminal
import Testing
import Tools

@testable import Console
@testable import Description
@testable import Jobs
@testable import Runner

/// What somebody stumbled over who saw the console for the first time.
struct NewcomerTests {
    private let size = Size(width: 100, height: 30)

    private func list(_ count: Int = 3) -> ConsoleModel { ModelFixture.listing(ModelFixture.plain(count), size) }
    private func screen(_ model: ConsoleModel) -> String { ConsoleView.draw(model).text }

    @Test func `a word that is typed whole is chosen before one that begins with it`() throws {
        var model = list()
        _ = model.perform(.preset, nil)
        model.type("off")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        #expect(picker.matches.first?.value == "off")
        #expect(picker.matches.contains { $0.value == "offline" })
        model.press("ctrl-u")
        model.type("3g")
        guard case .picker(let other)? = model.overlays.last else { return }
        #expect(other.matches.prefix(2).map(\.value) == ["3g", "3g-slow"])
    }

    @Test func `a choice takes more than its name, and words of a title are no argument`() throws {
        var model = list()
        model.press("o")
        model.type("time desc")
        model.press("enter")
        #expect(model.list.query.sort == SortOrder(column: .time, isDescending: true))
        model.press(":")
        model.type("new request")
        guard case .picker(let palette)? = model.overlays.last else {
            Issue.record("no palette")
            return
        }
        #expect(palette.matches.first?.value == "new")
    }

    @Test func `what waits at a breakpoint is said of the open exchange and of its row, as long as it waits`() {
        let open = ModelFixture.record(2, "POST", status: 200) {
            $0.state = .inFlight
            $0.flags = .held
        }
        var model = ModelFixture.listing([ModelFixture.record(1), open], size)
        model.press("enter")
        #expect(model.detail.options.held == nil && !screen(model).contains(" held "))
        let waiting = [ModelFixture.hold("2.1", "response")].compactMap(\.self)
        let effects = model.update(.proxy(ModelFixture.status(), waiting))
        #expect(effects.words.contains { $0.hasPrefix("detail 2 ") })
        let ways = "execute (ctrl-e), cancel (ctrl-x) or abort (ctrl-a)"
        #expect(model.detail.options.held == HeldSide(isRequest: false, ways: ways))
        #expect(screen(model).contains("POST    held "))
        #expect(!model.update(.proxy(ModelFixture.status(), waiting)).words.contains { $0.hasPrefix("detail") })
        #expect(model.update(.proxy(ModelFixture.status(), [])).words.contains { $0.hasPrefix("detail 2 ") })
        #expect(model.detail.options.held == nil && !screen(model).contains("POST    held "))
    }

    @Test func `of a sorted list the first rows stay, and the place of what is selected is asked for`() {
        var model = list(60)
        _ = model.perform(.sort, "time")
        ModelFixture.answer(&model, ModelFixture.plain(60))
        let (top, generation) = (model.list.total - model.list.bottom, model.list.generation)
        var status = ListStatus(generation: generation, total: 63, sessionTotal: 63)
        status.sorts = 2
        let selected = model.list.selectedID?.number ?? 0
        #expect(model.update(.query(.list(status))).words.contains("locate \(selected) #\(generation)"))
        #expect(model.list.total - model.list.bottom == top)
    }

    @Test func `the throttle is switched off with its conditions kept, and chosen where there are none`() {
        var model = list()
        #expect(model.press("t").isEmpty)
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        #expect(picker.command == .preset && model.notices.isEmpty)
        let throttle = ToolState(name: "throttle", isOn: true, rules: 1, enabled: 1)
        _ = model.update(.proxy(ModelFixture.status([throttle]), []))
        #expect(model.perform(.preset, "off").words == ["throttle off"])
    }

    @Test func `a tool that needs no location is switched on with one key`() {
        var model = list()
        #expect(model.press("x", "n").words == ["apply rules"])
        var mapping = list()
        #expect(mapping.press("m").isEmpty)
        #expect(mapping.told.hasPrefix("Map remote has no rules yet"))
    }

    @Test func `a comment's prompt says how many exchanges are marked`() {
        var model = list()
        model.press("up", "up", "space", "space", ";")
        guard case .prompt(let prompt)? = model.overlays.last else {
            Issue.record("no prompt")
            return
        }
        #expect(prompt.title == "Comment on 2 marked exchanges; empty removes it")
    }

    @Test func `the palette knows the tools by their names`() {
        var model = list()
        model.press(":")
        model.type("rewrite panel")
        model.press("enter")
        guard case .panel(let panel)? = model.overlays.last else {
            Issue.record("no panel")
            return
        }
        #expect(panel.tool == .rewrite)
    }

    @Test func `filters that help shows are filters`() throws {
        for (expression, _) in HelpDocument.filters { #expect(throws: Never.self) { try Filter(expression) } }
    }

    @Test func `all that may follow a first key is on the screen`() {
        for width in [80, 120] {
            var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: width, height: 24))
            model.press("a")
            let screen = ConsoleView.draw(model)
            let text = (0..<24).map { screen.row($0) }.joined(separator: "\n")
            for tool in Tool.all { #expect(text.contains(tool.title.lowercased()), "\(tool) at \(width)") }
        }
    }

    @Test func `an export asks for the file alone, and before it writes over one`() {
        var model = list()
        model.press("E", "enter")
        model.type("bug.sh")
        #expect(model.press("enter").words == ["export curl bug.sh"])
        let request = ExportRequest(format: .curl, path: "bug.sh", ids: nil, query: ListQuery())
        #expect(model.answer { $0.askToOverwrite(request) }.isEmpty)
        #expect(model.jobs.isEmpty)
        guard case .export(let forced)? = model.press("o").first else {
            Issue.record("nothing is exported")
            return
        }
        #expect(forced.isForced && forced.path == "bug.sh")
    }

    @Test func `what is suggested in a line gives way to what is typed, and not to the cursor's keys`() {
        var line = LineEditor("10 x 2", isSuggestion: true)
        _ = line.take(Key(.character("5")))
        #expect(line.text == "5")
        var kept = LineEditor("10 x 2", isSuggestion: true)
        _ = kept.take(Key(.backspace))
        _ = kept.take(Key(.character("4")))
        #expect(kept.text == "10 x 4")
    }

    @Test func `a jump from the detail shows what it finds in the detail`() {
        var model = list(30)
        model.press("enter")
        #expect(model.context == .detail)
        #expect(model.press("[").words == ["find before 0"])
        let effects = model.update(.query(.found(generation: 0, index: 12)))
        #expect(effects.words.contains { $0.hasPrefix("detail 18 ") })
        #expect(model.detail.id == ExchangeID(18) && model.selectedID == ExchangeID(18))
    }

    @Test func `what never ended in a recording is cut, and no clock runs`() {
        let record = ModelFixture.record(1) {
            $0.state = .inFlight
            $0.status = 0
        }
        var model = ModelFixture.listing([record], size, source: .recorded(name: "day.sluice"))
        let screen = ConsoleView.draw(model)
        let row = (0..<30).map { screen.row($0) }.first { $0.contains("GET") }
        #expect(row?.contains(" cut ") == true && row?.contains("s…") == false)
        #expect(model.update(.tick(ModelFixture.now + 10_000_000)).isEmpty)
    }

    @Test func `that nothing is recorded any more stands in the status line`() {
        var model = list()
        var status = ModelFixture.status()
        status.recordingProblem = "The disk is full."
        _ = model.update(.proxy(status, []))
        #expect(StatusView.text(StatusView.items(model)).contains("NOT RECORDING · The disk is full."))
    }

    @Test func `what is added to a filter is a term of its own, and no spaces are kept`() {
        var model = list()
        model.press("/")
        model.type("items")
        model.press("enter")
        model.press("/")
        #expect(model.filter.line.text == "items ")
        model.type("status:200 ")
        model.press("enter")
        #expect(model.filter.applied == "items status:200")
        #expect(model.filter.history == ["items", "items status:200"])
    }

    @Test func `terms that fit something each, and nothing together, are not blamed alone`() {
        var model = list()
        _ = model.perform(.filter, "method:POST status:404")
        _ = model.update(.query(.list(ListStatus(generation: model.list.generation, total: 0, sessionTotal: 3))))
        let screen = ConsoleView.draw(model)
        let text = (0..<30).map { screen.row($0) }.joined(separator: "\n")
        #expect(text.contains("Each term alone matches some exchanges; none matches all terms."))
    }

    @Test func `a text of bodies that fits nothing is a filter that one can take away`() {
        var model = list()
        _ = model.perform(.searchBodies, "zebra")
        _ = model.update(.query(.list(ListStatus(generation: model.list.generation, total: 0, sessionTotal: 3))))
        #expect(ConsoleView.draw(model).text.contains("edits the filter"))
    }
}

/// What a check of every promise found.
struct PromiseTests {
    private let size = Size(width: 100, height: 30)

    @Test func `what runs is shown over what was said before it began`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), size)
        model.tell("Saved.")
        model.jobs = [Job(id: .repeating, title: "sending 4 requests", progress: 0.5, startedAt: model.now)]
        _ = model.update(.tick(model.now + 400_000))
        #expect(ConsoleView.draw(model).row(28).contains("sending 4 requests 50 %, ctrl-g stops"))
        model.tell("Told since.")
        #expect(ConsoleView.draw(model).row(28).contains("Told since."))
    }

    @Test func `an attached console asks about no rules, which stay with their proxy`() {
        var model = ModelFixture.listing(ModelFixture.plain(1), size, source: .attached(canSteer: true))
        model.rules.texts = [.init(file: "rules.yaml", text: "version: 1", isUnsaved: true)]
        #expect(model.press("q").words == ["quit"])
        var live = ModelFixture.listing(ModelFixture.plain(1), size)
        live.rules.texts = model.rules.texts
        #expect(live.press("q").isEmpty && live.overlays.count == 1)
    }

    @Test func `what was there before the console is no traffic`() {
        var model = ModelFixture.listing(ModelFixture.plain(30), size, source: .attached(canSteer: true))
        _ = model.update(.tick(ModelFixture.now + 2_000_000))
        #expect(model.proxy.rates.allSatisfy { $0 == 0 })
    }
}
