import Description
import HTTPModel
import Recording
import Runner
import Support
import Terminal
import Testing

@testable import Console

struct SessionUpdateTests {
    private func console(_ source: ConsoleModel.Source = .live) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 80, height: 24))
        model.source = source
        _ = model.update(.proxy(status(isOn: true), []))
        return model
    }

    private func status(isOn: Bool, passed: Int = 0, edits: Int = 0) -> ControlStatus {
        var status = ModelFixture.status()
        status.session = "/tmp/s.sluice"
        status.recording = RecordingState(isOn: isOn, passed: passed)
        status.edits = edits
        return status
    }

    private func result(_ changed: Int, inFlight: Int = 0, mark: Int64? = 17) -> SessionEditResult {
        var result = SessionEditResult()
        (result.changed, result.inFlight, result.mark) = (changed, inFlight, mark)
        return result
    }

    @Test func `what is selected is deleted: the exchange, the marked ones, or named ones`() {
        var model = console()
        model.press("k")
        #expect(model.press("d").words == ["delete 8"])
        model.marks = [ExchangeID(8), ExchangeID(7)]
        #expect(model.press("d").words == ["delete 8 7"])
        #expect(model.perform(.delete, "1 3-4").words == ["delete 1 3 4"])
        #expect(model.perform(.delete, "x").isEmpty)
        #expect(model.told == "'x' is not a list of exchanges; for example: 3 5-8")
        #expect(model.press("Z").words == ["clear "])
    }

    @Test func `a deletion is said, unmarks, closes what is gone, and is undone before older changes of rules`() {
        var model = console()
        model.rules.past = [[]]
        model.press("space", "enter")
        let id = model.detail.id
        let request = EditRequest.delete(.exchanges([ExchangeID(9)]), model.list.query)
        let effects = model.answer { $0.take(result(1, inFlight: 2), of: request, ExchangeNumbers([9]), undo: []) }
        #expect(effects.words.first == "query  #1")
        #expect(model.told == "1 exchange deleted; u brings it back. 2 unfinished are kept.")
        #expect(id == ExchangeID(9) && !model.detail.isOpen && model.marks.isEmpty && model.context == .list)
        #expect(model.press("u").words == ["restore 17"])
        let deletion = SessionChange(undo: [.restore(mark: 17)], rulesBefore: 1)
        model.answer { $0.take(result(1), of: .restore(deletion), ExchangeNumbers([]), undo: []) }
        #expect(model.told == "1 exchange is restored." && model.changes.isEmpty)
        #expect(model.press("u").words == ["apply rules"])
        // A change of rules after a deletion comes first.
        model.answer { $0.take(result(1), of: request, ExchangeNumbers([9]), undo: []) }
        model.rules.past = [[]]
        #expect(model.press("u").words == ["apply rules"])
        #expect(model.press("u").words == ["restore 17"])
    }

    @Test func `a comment and a colour are taken back, too`() {
        var model = console()
        let numbers = ExchangeNumbers([9])
        for note in [ExchangeNote.comment("flaky"), .colour(.red)] {
            let undo = SessionEdit.annotate(numbers, note)
            let request = EditRequest.note(.exchanges([ExchangeID(9)]), model.list.query, note)
            model.answer { $0.take(result(1), of: request, numbers, undo: [undo]) }
            guard case .edit(.restore(let change))? = model.press("u").first else {
                Issue.record("nothing is taken back")
                return
            }
            #expect(change.undo == [undo])
            model.answer { $0.take(result(1), of: .restore(change), ExchangeNumbers([]), undo: []) }
            #expect(model.told == "1 exchange is restored." && model.changes.isEmpty)
        }
    }

    @Test func `nothing is deleted where all is in flight`() {
        var model = console()
        let request = EditRequest.delete(.branch(.root), model.list.query)
        model.answer { $0.take(result(0, inFlight: 1), of: request, ExchangeNumbers([9]), undo: []) }
        #expect(model.told == "1 unfinished is kept." && model.changes.isEmpty)
    }

    @Test func `a comment is asked for with the present one, on lines it has the numbers first`() {
        var model = console()
        model.press(";")
        model.type("flaky, 404")
        #expect(
            model.press("enter").words == [
                "note \(Selection.exchanges([ExchangeID(9)])) \(ExchangeNote.comment("flaky, 404"))"
            ]
        )
        #expect(model.perform(.comment, "").words.first?.contains("comment(nil)") == true)
        model.isLinear = true
        let named = Selection.exchanges([ExchangeID(2), ExchangeID(3)])
        #expect(model.perform(.comment, "2-3 see  12").words == ["note \(named) \(ExchangeNote.comment("see  12"))"])
        #expect(model.perform(.colour, "2-3 red").words == ["note \(named) \(ExchangeNote.colour(.red))"])
        #expect(model.perform(.colour, "2 pink").isEmpty)
        #expect(model.told.hasPrefix("There is no colour 'pink'. There are: red, "))
    }

    @Test func `a colour is chosen, and shown with its letter beside the number`() {
        var model = console()
        model.press(",")
        model.type("gre")
        #expect(
            model.press("enter").words == [
                "note \(Selection.exchanges([ExchangeID(9)])) \(ExchangeNote.colour(.green))"
            ]
        )
        var record = ModelFixture.record(1)
        record.extras.annotation.colour = "green"
        record.extras.annotation.comment = "slow\non Mondays"
        model = ModelFixture.listing([record], Size(width: 80, height: 24))
        #expect(ConsoleView.draw(model).text.contains("\"g1"))
        _ = model.perform(.columns, "id comment path")
        #expect(ConsoleView.draw(model).text.contains("slow on Mondays"))
    }

    @Test func `the recording goes off and on, and the status line says so`() {
        var model = console()
        #expect(model.press("ctrl-r").words == ["record off"])
        #expect(StatusView.text(StatusView.items(model)).contains("· recording"))
        _ = model.update(.proxy(status(isOn: false, passed: 12), []))
        #expect(StatusView.text(StatusView.items(model)).contains("NOT RECORDING · 12 passed"))
        #expect(model.press("ctrl-r").words == ["record on"])
        #expect(model.perform(.record, "off").words == ["record off"])
        #expect(model.perform(.record, "maybe").isEmpty)
    }

    @Test func `what others edit has the list filled again`() {
        var model = console()
        #expect(model.update(.proxy(status(isOn: true, edits: 1), [])).words.contains("query  #1"))
        #expect(!model.update(.proxy(status(isOn: true, edits: 1), [])).words.contains { $0.hasPrefix("query") })
        #expect(model.update(.query(.stale(generation: 0))).isEmpty)
        #expect(model.update(.query(.stale(generation: 1))).words.contains("query  #2"))
    }

    @Test func `a copy of the session asks before it replaces a file`() {
        var model = console()
        model.press("ctrl-w")
        model.type("a.sluice")
        #expect(model.press("enter").words == ["save session a.sluice"])
        model.answer { $0.askToReplace("a.sluice") }
        #expect(model.press("o").words == ["save session a.sluice over"])
    }

    @Test func `a recording can be edited, a view cannot, and a proxy that records nothing has nothing to edit`() {
        var model = console(.recorded(name: "old.sluice"))
        #expect(model.press("d").words == ["delete 9"])
        #expect(model.press("u").isEmpty)
        #expect(model.told == "Nothing to undo.")
        model = console(.attached(canSteer: false))
        #expect(model.press("d").isEmpty && model.told == "Not available: attached with --view.")
        model = console()
        model.proxy.session = nil
        #expect(model.press("Z").isEmpty && model.told == "Nothing is recorded here.")
    }

    @Test func `after all is cleared, commands for an exchange say that there is none`() {
        for keys in [["p"], ["C"], ["y"], ["a", "b"], ["P"], ["d"]] {
            var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
            model.proxy.session = "a.sluice"
            var result = SessionEditResult()
            (result.changed, result.mark) = (3, 1)
            let request = EditRequest.delete(.branch(.root), model.list.query)
            model.answer { $0.take(result, of: request, ExchangeNumbers(ranges: [1...3]), undo: []) }
            let generation = model.list.generation
            _ = model.update(.query(.list(ListStatus(generation: generation, total: 0, sessionTotal: 0))))
            model.notices = []
            for key in keys { #expect(model.press(key).isEmpty, "\(keys)") }
            #expect(model.overlays.isEmpty && model.told == "No exchanges yet.", "\(keys): \(model.told)")
        }
    }

    @Test func `a filter that fits nothing leaves nothing selected`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        _ = model.perform(.filter, "host:nowhere")
        let generation = model.list.generation
        _ = model.update(.query(.list(ListStatus(generation: generation, total: 0, sessionTotal: 3))))
        #expect(model.press("p").isEmpty)
        #expect(model.told == "No exchanges here.")
    }

    @Test func `a command on the tree says where its rows are not there yet`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.proxy.session = "a.sluice"
        model.press("tab")
        #expect(model.press("d").isEmpty)
        #expect(model.told.hasPrefix("The tree is still loading"), "\(model.told)")
    }

    @Test func `the page of an exchange names this console's way to the help on trust`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.press("enter")
        #expect(model.detail.options.wayToTrust == "!")
        model.isLinear = true
        _ = model.loadDetail()
        #expect(model.detail.options.wayToTrust == "trust")
    }

    @Test func `a notice that waits for a key gives the status line back after two minutes`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.pin("Read this.")
        let start = model.now
        _ = model.update(.tick(start + 119_000_000))
        #expect(model.shownNotice?.text == "Read this." && model.needsClock)
        _ = model.update(.tick(start + 121_000_000))
        #expect(model.shownNotice == nil)
        #expect(model.notices.last?.text == "Read this.")
        // One that was told before there was a time has its two minutes too.
        var early = ConsoleModel(source: .live, size: Size(width: 80, height: 24), look: Look())
        early.pin("Read this.")
        _ = early.update(.tick(start))
        _ = early.update(.tick(start + 119_000_000))
        #expect(early.shownNotice?.text == "Read this.")
        _ = early.update(.tick(start + 121_000_000))
        #expect(early.shownNotice == nil)
        model.pin("Again.")
        model.press("j")
        _ = model.update(.tick(model.now + 7_000_000))
        #expect(model.shownNotice == nil)
    }

    @Test func `news of a held message let the answer to a key be read first`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        let start = model.now
        _ = model.update(.said("The message is executed.", .info))
        _ = model.update(.proxy(ModelFixture.status(), ["9.2"].compactMap { ModelFixture.hold($0) }))
        #expect(model.shownNotice?.text == "The message is executed.")
        _ = model.update(.tick(start + 2_000_000))
        #expect(model.shownNotice?.text.hasPrefix("Held: ") == true)
        // An answer that is newer takes its place at once.
        _ = model.update(.said("The message is aborted.", .info))
        #expect(model.shownNotice?.text == "The message is aborted.")
    }
}
