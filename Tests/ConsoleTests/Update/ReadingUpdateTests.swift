import HTTPModel
import Support
import Terminal
import Testing

@testable import Clients
@testable import Console
@testable import Description

/// The open exchange: that it is the selected one, its layouts, and what is kept of the reader's place.
struct ReadingUpdateTests {
    private let size = Size(width: 80, height: 24)
    private static let pages: [DetailPage] = [.overview, .request, .response]

    /// A response with headers and a body of numbered lines.
    private static func response(_ lines: Range<Int>, headers: Int = 3) -> DetailDocument {
        var all = [DetailLine([Span("HTTP/1.1 200 OK")])]
        var heading = DetailLine([Span("Headers")])
        heading.name = "Headers"
        heading.fold = Fold(end: 2 + headers, summary: "", startsFolded: true)
        all.append(heading)
        all += (0..<headers).map { DetailLine([Span("Field-\($0): value")], indent: 2) }
        var body = DetailLine([Span("Body")])
        body.name = "Body"
        body.fold = Fold(end: all.count + 1 + lines.count, summary: "")
        all.append(body)
        all += lines.map { DetailLine([Span("line \($0)")]) }
        var document = DetailDocument(lines: all)
        (document.page, document.bodyForm) = (.response, .pretty)
        return document
    }

    private static func messages(
        _ range: Range<Int>,
        hasMore: Bool = false,
        isUnfinished: Bool = true
    ) -> DetailDocument {
        var title = DetailLine([Span("Messages")])
        title.name = "messages"
        var all = [title]
        for number in range {
            var line = DetailLine([Span("message \(number + 1) here")])
            line.name = "message \(number + 1)"
            line.fold = Fold(end: all.count + 2, summary: "", startsFolded: true)
            all += [line, DetailLine([Span("content of \(number + 1)")], indent: 2)]
        }
        var document = DetailDocument(lines: all)
        (document.page, document.isUnfinished) = (.messages, isUnfinished)
        document.messages = MessageWindow(range: range, hasMore: hasMore)
        return document
    }

    private func list(_ count: Int = 5, _ size: Size? = nil) -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(count), size ?? self.size)
    }

    private func answer(_ model: inout ConsoleModel, _ document: DetailDocument) {
        guard let id = model.detail.id else { return }
        let pages = Self.pages + (document.page == .messages ? [.messages] : [])
        model.answer { $0.show(document, pages, of: id, $0.detail.generation) }
    }

    private func screen(_ model: ConsoleModel) -> String { ConsoleView.draw(model).text }

    // MARK: - What has room

    @Test func `headers are folded only if the page has no room for all`() {
        for (lines, folds) in [(3, Set<Int>()), (40, [1])] {
            var model = list()
            model.press("enter", "3")
            #expect(model.detail.options.isShort)
            answer(&model, Self.response(0..<lines))
            #expect(model.detail.text.reading.folds == folds)
        }
        // What the user folded stays folded.
        var model = list()
        model.press("enter", "3")
        answer(&model, Self.response(0..<3))
        model.press("down", "z", "space")
        answer(&model, Self.response(0..<3))
        #expect(model.detail.text.reading.folds == [1])
    }

    @Test func `a message that is unfolded at the lower edge is seen`() {
        var model = list()
        model.press("enter", "4")
        answer(&model, Self.messages(0..<30, isUnfinished: false))
        model.press("G", "z")
        #expect(screen(model).contains("content of 30") && screen(model).contains("message 30 here"))
    }

    @Test(arguments: [ConsoleModel.ListView.structure, .timeline])
    func `another view takes the screen from an exchange that has it alone`(_ view: ConsoleModel.ListView) {
        var model = list()
        _ = model.perform(.layout, "detail")
        answer(&model, Self.response(0..<3))
        #expect(Layout(model).list.isEmpty)
        _ = model.perform(.switchView, view.rawValue)
        #expect(model.context == .list && !Layout(model).list.isEmpty && !screen(model).contains("line 0"))
        #expect(model.layout == .detail)
    }

    @Test func `the selected row stays on the screen when held messages or further keys take rows`() {
        var model = list(40, Size(width: 80, height: 24))
        for _ in 0..<Layout(model).listRows - 1 { model.press("up") }
        let row = "\(ModelFixture.plain(40)[40 - Layout(model).listRows].url.path) "
        #expect(screen(model).contains(row))
        model.press("a")
        #expect(Layout(model).footer.height > 1 && screen(model).contains(row))
        model.press("esc")
        _ = model.update(.proxy(ModelFixture.status(), [ModelFixture.hold("7.1")].compactMap(\.self)))
        #expect(Layout(model).holds.height > 0 && screen(model).contains(row))
    }

    @Test func `a slash searches the text that is open, and filters the list`() {
        func command(_ keys: [String]) -> Command? {
            var model = list()
            for key in keys { model.press(key) }
            if model.filter.isEditing { return .filter }
            guard case .prompt(let prompt)? = model.overlays.last else { return nil }
            return prompt.command
        }
        #expect(command(["/"]) == .filter)
        #expect(command(["enter", "/"]) == .findInDetail)
        #expect(command(["?", "/"]) == .findInDetail)
        #expect(command(["enter", "f"]) == .findInDetail)
    }

    // MARK: - The open exchange is the selected one

    @Test(arguments: 0..<80)
    func `whatever is done, the open exchange is the one that commands are about and that the list has selected`(
        _ seed: UInt64
    ) {
        var random = SplitMix(seed &* 977 &+ 5)
        var records = ModelFixture.plain(30)
        var shown = records
        var model = list(30)
        /// Answers all that the list may be asked, as the session would.
        func settle() {
            ModelFixture.answer(&model, shown)
            for id in [model.list.sought, model.list.selectedID].compactMap(\.self) {
                let index = shown.reversed().firstIndex { $0.id == id }.map { shown.count - 1 - $0 }
                let row = shown.lastIndex { $0.id == id }.map { shown.count - 1 - $0 }
                let place: ListPlace = index == nil ? .nowhere(nearest: shown.isEmpty ? nil : 0) : .row(row ?? 0)
                _ = model.update(.query(.position(generation: model.list.generation, id: id, place)))
            }
            ModelFixture.answer(&model, shown)
        }
        for step in 0..<80 {
            switch Int.random(in: 0..<14, using: &random) {
            case 0: model.press("enter")
            case 1: model.press("esc")
            case 2:
                model.press(
                    ["space", "backspace", "j", "k", "g", "G", "pgdn", "F"].randomElement(using: &random) ?? "j"
                )
            case 3: _ = model.perform(.goTo, "\(Int.random(in: 1...records.count, using: &random))")
            case 4: _ = model.perform(.mark, nil)
            case 5: model.press("-")
            case 6, 7:
                records = ModelFixture.plain(records.count + Int.random(in: 1...4, using: &random))
                shown = records
            case 8: _ = model.perform(.sort, ["time", "size", "id"].randomElement(using: &random))
            case 9:
                _ = model.perform(.filter, "path:*\(Int.random(in: 0...9, using: &random))")
                shown = records.filter { _ in Bool.random(using: &random) }
            case 10:
                _ = model.perform(.clearFilter, nil)
                shown = records
            case 11:
                model.press("]")
                let index = Int.random(in: 0..<max(1, shown.count), using: &random)
                _ = model.update(.query(.found(generation: model.list.generation, index: shown.isEmpty ? nil : index)))
            case 12: model.press("1", "~", "{")
            default: model.press("f", "x", "enter", "n")
            }
            settle()
            guard model.overlays.isEmpty, model.detail.isOpen, !shown.isEmpty else { continue }
            #expect(model.detail.id == model.selectedID, "seed \(seed) step \(step)")
            let isListed = shown.contains { $0.id == model.detail.id }
            if isListed || !model.isDetailFocused {
                #expect(model.list.selectedRecord?.id == model.detail.id, "seed \(seed) step \(step)")
            }
            #expect(!model.isDetailFocused || !model.list.isFollowing, "seed \(seed) step \(step)")
        }
    }

    @Test func `opening stops following, and what the list does not have any more stays open while it is read`() {
        var model = list(5)
        model.press("enter")
        #expect(!model.list.isFollowing)
        ModelFixture.answer(&model, ModelFixture.plain(9))
        #expect(model.detail.id == ExchangeID(5) && model.list.selectedRecord?.id == ExchangeID(5))
        _ = model.perform(.filter, "status:404")
        ModelFixture.answer(&model, Array(ModelFixture.plain(2)))
        let generation = model.list.generation
        _ = model.update(.query(.position(generation: generation, id: ExchangeID(5), .nowhere(nearest: 0))))
        #expect(model.detail.id == ExchangeID(5) && model.selectedID == ExchangeID(5))
        // No row of the list seems to be it.
        let drawn = ConsoleView.draw(model)
        let rows = Layout(model).list
        #expect((1..<rows.height).allSatisfy { drawn[10, rows.y + $0].style.background == .standard })
        #expect(model.press("esc").words.last?.hasPrefix("detail 2 ") == true)
        #expect(model.selectedID == ExchangeID(2))
    }

    @Test func `the next and the previous exchange open as this one is shown`() {
        var model = list(5)
        model.press("g", "enter")
        answer(&model, Self.response(0..<50))
        // Headers unfolded, the body raw, a search.
        model.press("j", "z", "v")
        _ = model.perform(.findInDetail, "line 7")
        #expect(model.press("space").words == ["detail 2 overview #\(model.detail.generation)"])
        #expect(model.detail.options.bodyForm == .raw && !model.detail.options.isPageChosen)
        answer(&model, Self.response(0..<50))
        #expect(model.detail.text.reading.folds.isEmpty && model.detail.text.found?.all.count == 1)
        #expect(screen(model).contains("Field-2: value"))
        model.press("backspace")
        #expect(model.detail.id == ExchangeID(1))
        #expect(model.press("backspace").isEmpty && model.told == "This is the first exchange of the list.")
        // A page that was chosen stays chosen.
        model.press("2", "space")
        #expect(model.detail.options.page == .request && model.detail.options.isPageChosen)
    }

    // MARK: - Layouts

    @Test func `at 80×24 an open response shows some of the list and twelve rows of its body`() {
        var model = list(5)
        model.press("enter")
        #expect(model.detail.options.isShort)
        answer(&model, Self.response(100..<150))
        let text = screen(model)
        #expect((100..<112).allSatisfy { text.contains("line \($0)") })
        #expect(text.contains("/v1/items/5") && text.contains("/v1/items/4") && text.contains("METHOD"))
        #expect(!text.contains("Field-0"))
    }

    @Test
    func `one key turns from the list to both, to the exchange alone, and back; enter opens in the last of these`() {
        var model = list(5)
        func parts() -> [Bool] { [!Layout(model).list.isEmpty, !Layout(model).detail.isEmpty] }
        #expect(parts() == [true, false])
        #expect(model.press("-").words == ["detail 5 overview #1"])
        #expect(parts() == [true, true] && model.context == .list)
        model.press("-")
        #expect(parts() == [false, true] && model.context == .detail)
        model.press("-")
        #expect(parts() == [true, false] && model.context == .list)
        model.press("enter")
        #expect(parts() == [false, true])
        model.press("esc")
        #expect(parts() == [true, false])
        _ = model.perform(.layout, "split")
        #expect(parts() == [true, true])
        // Once round, the keys are where they were, unless another exchange was selected.
        model.press("enter")
        #expect(model.context == .detail)
        model.press("-", "-", "-")
        #expect(parts() == [true, true] && model.context == .detail)
        model.press("-", "-", "k", "-")
        #expect(parts() == [true, true] && model.context == .list)
        // Where there is no room for both, that is left out.
        var small = list(5, Size(width: 40, height: 10))
        small.press("-")
        #expect(small.layout == .detail && small.context == .detail)
        small.press("-")
        #expect(!small.detail.isOpen)
    }

    @Test func `the pages keep their names, short ones where there is no room for the whole`() {
        var model = list(5, Size(width: 118, height: 30))
        model.press("enter")
        model.detail.pages = DetailPage.allCases
        func tabs(_ width: Int) -> String { DetailView.tabs(model, width: width).map(\.text).joined() }
        #expect(tabs(80) == "[1 overview] 2 request  3 response  4 messages  5 difference ")
        #expect(tabs(57) == "[1 overview] 2 req  3 resp  4 msgs  5 diff ")
        #expect(tabs(41) == "[1 over] 2 req  3 resp  4 msgs  5 diff ")
        #expect(tabs(20) == "[1] 2  3  4  5 ")
        #expect(Layout(model).detail.width == 58 && screen(model).contains("3 resp"))
    }

    @Test func `the line with the pages' names is dragged where the exchange is below the list`() {
        var model = list(30)
        model.press("enter")
        let line = Layout(model).detail.y
        _ = model.update(.input(.mouse(MouseEvent(.press, x: 70, y: line))))
        _ = model.update(.input(.mouse(MouseEvent(.drag, x: 70, y: 12))))
        _ = model.update(.input(.mouse(MouseEvent(.release, x: 70, y: 12))))
        #expect(abs(Layout(model).detail.y - 12) <= 1)
        // On a name, a press turns to its page.
        _ = model.update(.input(.mouse(MouseEvent(.press, x: 15, y: Layout(model).detail.y))))
        #expect(model.detail.options.page == .request && !model.isDraggingSplit)
    }

    // MARK: - The reader's place

    @Test func `a body that is laid out otherwise is shown at the same place`() {
        var model = list(5)
        model.press("enter")
        answer(&model, Self.response(100..<300))
        _ = model.perform(.findInDetail, "line 250")
        model.press("v")
        var raw = Self.response(0..<1)
        let text = (100..<300).map { "line \($0)" }.joined(separator: " ")
        let body = raw.bodyLines.startIndex
        var lines = Array(raw.lines.prefix(body + 1))
        lines.append(DetailLine([Span(text)]))
        lines[body].fold = Fold(end: body + 2, summary: "")
        raw = DetailDocument(lines: lines)
        (raw.page, raw.bodyForm) = (.response, .raw)
        answer(&model, raw)
        #expect(screen(model).contains("line 250"))
        model.press("v", "v")
        answer(&model, Self.response(100..<300))
        #expect(screen(model).contains("line 250"))
        // Above the body, the line stays.
        model.press("g", "j", "v")
        answer(&model, raw)
        #expect(model.detail.text.reading.cursor == ReadingPlace(line: 1))
    }

    @Test func `an open stream follows its newest message, folded, until the reader moves`() {
        let records = [ModelFixture.record(1) { $0.state = .inFlight }]
        var model = ModelFixture.listing(records, size)
        model.press("enter")
        #expect(model.detail.options.showsNewest)
        answer(&model, Self.messages(0..<30))
        #expect(screen(model).contains("message 30 here") && screen(model).contains("following"))
        answer(&model, Self.messages(20..<220))
        #expect(screen(model).contains("message 220 here") && !screen(model).contains("content of"))
        // An open message and the place stay, while more come.
        model.press("k", "k", "z")
        #expect(!model.detail.options.showsNewest && model.detail.options.firstMessage == 20)
        let place = model.detail.text.reading.cursor
        answer(&model, Self.messages(20..<220, hasMore: true))
        #expect(model.detail.text.reading.cursor == place && screen(model).contains("content of 218"))
        #expect(!screen(model).contains("content of 219"))
        // At the end of what the page has, the next messages are read; at its beginning, those before.
        model.press("j", "j", "j")
        #expect(model.press("j").words.count == 1 && model.detail.options.firstMessage == 219)
        answer(&model, Self.messages(219..<230))
        #expect(screen(model).contains(">▸message 220 here"))
        model.press("g")
        #expect(model.detail.options.firstMessage == 0)
        answer(&model, Self.messages(0..<200, hasMore: true))
        #expect(screen(model).contains("message 1 here"))
        #expect(model.press("G").count == 1 && model.detail.options.showsNewest)
        answer(&model, Self.messages(30..<230))
        #expect(screen(model).contains(">▸message 230 here"))
        model.press("k", "F")
        #expect(model.detail.text.reading.follows && model.told.hasPrefix("Following the newest"))
        answer(&model, Self.messages(31..<231, isUnfinished: false))
        #expect(screen(model).contains(">▸message 231 here"))
        model.press("k", "F")
        #expect(!model.detail.text.reading.follows && model.told.hasPrefix("This exchange has ended"))
    }

    @Test func `a body that grows moves nobody, but who is at its end stays there`() {
        let records = [ModelFixture.record(1) { $0.state = .inFlight }]
        var model = ModelFixture.listing(records, size)
        model.press("enter")
        func grown(_ count: Int) -> DetailDocument {
            var document = Self.response(0..<count)
            document.isUnfinished = true
            return document
        }
        answer(&model, grown(40))
        model.press("pgdn")
        let before = model.detail.text.reading
        answer(&model, grown(60))
        #expect(model.detail.text.reading == before)
        model.press("G")
        answer(&model, grown(80))
        #expect(screen(model).contains("line 79"))
    }

    @Test func `all is folded but what the cursor is in, and unfolded`() {
        var model = list(5)
        model.press("enter")
        answer(&model, Self.response(100..<150))
        model.press("}")
        #expect(model.detail.text.reading.folds.isEmpty && screen(model).contains("Field-2"))
        _ = model.perform(.findInDetail, "line 120")
        model.press("{")
        #expect(model.detail.text.reading.folds == [1] && screen(model).contains("line 120"))
        model.press("g", "{")
        #expect(model.detail.text.reading.folds == [1, 5])
    }

    @Test func `in the list, what is open is folded, searched and laid out, or why not is said`() {
        var model = list(5)
        for key in ["v", "s", "z", "n", "f", "~", "{", "}"] {
            model.press(key)
            #expect(model.told == "Nothing is open; enter opens the selected exchange.", "\(key)")
        }
        model.press("enter")
        answer(&model, Self.response(100..<150))
        model.press("esc")
        #expect(model.context == .list)
        model.press("}")
        #expect(model.detail.text.reading.folds.isEmpty)
        #expect(model.press("v").words.first?.hasPrefix("detail 5 response") == true)
    }

    @Test func `the number of the page that is open leaves its headers folded`() {
        var model = list(5)
        model.press("enter")
        answer(&model, Self.response(100..<150))
        let folds = model.detail.text.reading.folds
        model.press("3")
        answer(&model, Self.response(100..<150))
        #expect(!folds.isEmpty && model.detail.text.reading.folds == folds)
    }

    // MARK: - Finding

    @Test func `a wrong expression stays to be mended, with its place`() {
        var model = list(5)
        model.press("enter")
        answer(&model, Self.response(100..<150))
        model.press("f")
        model.type("/12(3/")
        model.press("enter")
        guard case .prompt(let prompt)? = model.overlays.last else {
            Issue.record("the prompt is gone")
            return
        }
        #expect(prompt.line.text == "/12(3/")
        #expect(prompt.problem.hasPrefix("Character 6 of the expression: "), "\(prompt.problem)")
        model.press("ctrl-u")
        model.type("/12[37]/")
        model.press("enter")
        #expect(model.told == "Match 1 of 2 (n/N)")
        model.press("n", "n")
        #expect(model.told == "Match 1 of 2 (n/N)")
        model.press("N")
        #expect(model.told == "Match 2 of 2 (n/N)")
        #expect(screen(model).contains("»   line 127".replacing("   ", with: " ")))
        // Nothing to search for takes the marks away.
        _ = model.perform(.findInDetail, "")
        #expect(model.detail.text.found == nil)
    }

    @Test func `a hit of the search in bodies opens at the match`() {
        var model = list(5)
        _ = model.perform(.searchBodies, "line 140")
        ModelFixture.answer(&model, ModelFixture.plain(5))
        let effects = model.press("enter")
        guard case .detail(_, let options, _)? = effects.last else {
            Issue.record("nothing opens")
            return
        }
        #expect(options.bodyText == "line 140")
        answer(&model, Self.response(100..<150))
        #expect(screen(model).contains("» line 140") && model.detail.text.reading.match != nil)
        #expect(model.detail.options.bodyText == nil)
        // What was open already shows its hit too.
        _ = model.perform(.searchBodies, "line 120")
        ModelFixture.answer(&model, ModelFixture.plain(5))
        #expect(model.detail.options.bodyText == "line 120")
        answer(&model, Self.response(100..<150))
        #expect(screen(model).contains("» line 120") && !model.detail.isSearchedAnew)
        // With another text in mind, an exchange opens at its beginning.
        _ = model.perform(.findInDetail, "100")
        model.press("space")
        #expect(model.detail.options.bodyText == nil)
    }

    // MARK: - Notices, and what is sent from here

    @Test func `a notice that is longer than the line takes the footer's too, and says where the rest is`() {
        var model = list(3)
        let words = (10..<60).map { "word\($0)" }.joined(separator: " ")
        _ = model.update(.said(words, .error))
        let rows = screen(model).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(rows[22].contains("word10") && rows[23].contains("word21"))
        #expect(rows[23].contains("… @ says all") && !rows[23].contains("help"))
        let short = (10..<24).map { "word\($0)" }.joined(separator: " ")
        _ = model.update(.said(short, .info))
        let whole = screen(model)
        #expect(whole.contains("word23") && !whole.contains("says all"))
        model.press("@")
        #expect(screen(model).contains("word59"))
    }

    @Test func `what was sent from here is selected where the list does not follow, and marked`() throws {
        var model = list(5)
        model.press("up", "up")
        #expect(model.selectedID == ExchangeID(3))
        #expect(model.answer { $0.take(sent: ExchangeID(6), of: ExchangeID(3)) }.words == ["locate 6 #0"])
        // The list does not have it yet.
        _ = model.update(.query(.position(generation: 0, id: ExchangeID(6), .nowhere(nearest: 0))))
        #expect(model.selectedID == ExchangeID(3) && model.notices.isEmpty)
        var sent = SentConnections()
        sent.begin("127.0.0.1:5000", at: ModelFixture.now - 60_000_000)
        model.answer { $0.sending.connections = sent }
        var records = ModelFixture.plain(6)
        records[5].clientAddress = "127.0.0.1:5000"
        let status = ListStatus(generation: 0, total: 6, sessionTotal: 6)
        #expect(model.update(.query(.list(status))).words.contains("locate 6 #0"))
        _ = model.update(.query(.rows(generation: 0, first: 0, records.reversed())))
        _ = model.update(.query(.position(generation: 0, id: ExchangeID(6), .row(0))))
        #expect(model.selectedID == ExchangeID(6))
        #expect(screen(model).contains("↻6 GET"))
        model.press("enter")
        #expect(model.detail.options.isSentFromHere)
        // Who has gone on to another one stays there.
        model.press("esc", "esc", "up", "up")
        #expect(model.answer { $0.take(sent: ExchangeID(7), of: ExchangeID(6)) }.isEmpty)
    }

    @Test func `a connection's exchanges are those of its time`() {
        var sent = SentConnections()
        sent.begin("127.0.0.1:5000", at: 1_000)
        sent.end("127.0.0.1:5000", at: 2_000)
        func contains(_ address: String?, _ moment: Int64) -> Bool {
            sent.contains(
                ModelFixture.record(1) {
                    $0.clientAddress = address
                    $0.startedAt = moment
                }
            )
        }
        #expect(contains("127.0.0.1:5000", 1_500))
        #expect(!contains("127.0.0.1:5000", 2_500) && !contains("127.0.0.1:5001", 1_500) && !contains(nil, 1_500))
    }
}
