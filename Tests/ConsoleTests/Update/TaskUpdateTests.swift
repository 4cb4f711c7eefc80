import HTTPModel
import Rules
import Support
import Terminal
import Testing

@testable import Console
@testable import Description

/// What the everyday tasks of `Tasks.md` rely on.
struct TaskUpdateTests {
    private let size = Size(width: 80, height: 24)

    private func console(_ records: [ExchangeRecord] = ModelFixture.plain(5)) -> ConsoleModel {
        ModelFixture.listing(records, size)
    }

    private func lines(_ records: [ExchangeRecord] = ModelFixture.plain(5)) -> ConsoleModel {
        var model = console(records)
        model.isLinear = true
        return model
    }

    @Test func `a page opened from the list leaves the selected row visible in the room that is left`() {
        var model = console(ModelFixture.plain(15))
        model.press("g", "down", "down", "3")
        let visible = model.list.bottom..<model.list.bottom + Layout(model).listRows
        #expect(model.detail.isOpen && visible.count < 10 && visible.contains(model.list.selected))
    }

    // MARK: - A page's number before the page is there

    private func answer(_ model: inout ConsoleModel, _ page: DetailPage, _ pages: [DetailPage]) -> [String] {
        var document = ModelFixture.document
        document.page = page
        let id = model.detail.id ?? ExchangeID(0)
        return model.answer { $0.show(document, pages, of: id, $0.detail.generation) }.words
    }

    @Test func `a page's number that is typed before the page is there is that of the exchange that comes`() {
        var model = console()
        model.press("enter")
        #expect(model.press("4").isEmpty && model.told == "")
        let pages: [DetailPage] = [.overview, .request, .response, .difference]
        #expect(answer(&model, .response, pages) == ["detail 5 difference #\(model.detail.generation)"])
        #expect(answer(&model, .difference, pages) == [])
        #expect(model.detail.page == .difference)
        // What stood there meanwhile may have had other pages.
        model.press("space", "backspace", "g")
        model.press("k", "enter")
        model.detail.pages = [.overview, .request, .response, .messages]
        _ = model.perform(.open, "2")
        #expect(model.press("4").words.first?.hasPrefix("detail 2 messages") == true)
        #expect(answer(&model, .response, pages).first?.hasPrefix("detail 2 difference") == true)
    }

    @Test func `a number that no page has is refused once that is known, and is not kept for another exchange`() {
        var model = console()
        model.press("enter", "5")
        #expect(model.told == "")
        #expect(answer(&model, .response, [.overview, .response]) == [])
        #expect(model.told == "No page '5' here (1 overview, 2 response)")
        #expect(model.detail.page == .response)
        model.press("esc", "g", "enter")
        model.press("5", "space")
        model.notices = []
        #expect(answer(&model, .response, [.overview, .request, .response]) == [])
        #expect(model.told == "")
    }

    // MARK: - Columns

    @Test func `a column's name that is typed is shown by enter, and hidden again`() {
        var model = console()
        model.press("O")
        model.type("scheme")
        #expect(ConsoleView.draw(model).text.contains("> [ ] scheme"))
        model.press("enter")
        #expect(model.overlays.isEmpty)
        #expect(model.list.columns == [.id, .method, .status, .host, .path, .size, .time, .scheme])
        model.press("O")
        model.type("scheme")
        model.press("space")
        // All are there again, with the cursor where it was.
        #expect(ConsoleView.draw(model).text.contains("> [ ] scheme"))
        #expect(ConsoleView.draw(model).text.contains("[x] method"))
        #expect(model.list.columns.last == .time)
        model.press("enter")
        #expect(model.overlays.isEmpty && model.list.columns.last == .time)
    }

    @Test func `columns are added and taken away by word, and the others stay`() {
        var model = console()
        _ = model.perform(.columns, "+scheme -size +id")
        #expect(model.list.columns == [.id, .method, .status, .host, .path, .time, .scheme])
        _ = model.perform(.columns, "+shceme")
        #expect(model.told == "There is no column 'shceme' (did you mean 'scheme'?).")
        _ = model.perform(.columns, "path")
        _ = model.perform(.columns, "-path")
        #expect(model.list.columns == [.path] && model.told == "The list needs at least one column.")
    }

    @Test func `on lines, columns are what sentences say besides`() {
        let record = ModelFixture.record(1, "GET", "https://a.example/") {
            $0.extras.process = ClientProcess(id: 77, name: "curl")
            $0.extras.annotation.comment = "look\nhere"
            $0.extras.annotation.colour = "red"
            $0.mediaType = "application/json"
            $0.clientVersion = .http2
            $0.upstreamVersion = .http11
        }
        var model = lines([record])
        _ = model.perform(.columns, "+scheme +type")
        #expect(model.told == "Each line also has: scheme, type.")
        _ = model.perform(.columns, "-scheme +version, +process +server +size +id")
        #expect(model.list.columns == [.type, .version, .process, .server, .size, .id])
        let words = LinearSentence.text(record, columns: model.list.columns)
        #expect(words.contains(", type json, HTTP/2, server HTTP/1.1, process curl 77, size "))
        #expect(words.hasSuffix(", comment look here, colour red"))
        #expect(!LinearSentence.text(record).contains("type json"))
        _ = model.perform(.columns, nil)
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("the columns are not listed")
            return
        }
        #expect(picker.items.first?.value == "type" && picker.items.first?.title == "shown")
        #expect(!picker.items.contains { $0.value == "path" })
    }

    // MARK: - Words

    @Test func `the choice of what to copy begins with the form of that name`() {
        var model = console()
        model.press("enter")
        let document = DetailDocument(lines: [DetailLine([Span("Accept: */*")])])
        let id = model.detail.id ?? ExchangeID(1)
        model.answer { $0.show(document, [.request], of: id, $0.detail.generation) }
        model.press("c")
        model.type("header")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("nothing is to be chosen")
            return
        }
        #expect(picker.matches.first?.value == "header" && picker.matches.first?.disabled == nil)
    }

    @Test func `what cannot be copied now comes behind what can, and says why`() {
        var model = console()
        model.press("c")
        model.type("header")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("nothing is to be chosen")
            return
        }
        #expect(picker.matches.prefix(2).map(\.value) == ["request-headers", "response-headers"])
        #expect(picker.matches.dropFirst(2).first?.value == "header")
        model.type(" line")
        #expect(model.press("enter").isEmpty)
        #expect(ConsoleView.draw(model).text.contains("No exchange is open; enter opens one."))
        model.press("backspace")
        guard case .picker(let again)? = model.overlays.last else { return }
        #expect(again.problem.isEmpty)
    }

    @Test func `one letter and tab complete the filter for URLs`() {
        var model = console()
        model.press("/", "u", "tab")
        #expect(model.filter.line.text == "url:" && model.filter.candidates.isEmpty)
    }

    @Test func `on lines, an earlier request is drafted, as a new one is`() {
        var model = lines()
        let editor = EditorState(purpose: .newRequest(nil), title: "New", area: TextArea("GET http://h/ HTTP/1.1\n\n"))
        model.remember(editor)
        #expect(model.perform(.requests, "1").words == [])
        _ = model.update(.written)
        #expect(model.draft?.area.text == editor.area.text)
        #expect(model.perform(.apply, nil).words == ["send new"])
    }

    @Test func `on lines, decrypt never passes a host through`() {
        var model = lines([ModelFixture.record(1, "GET", "https://a.example/")])
        #expect(model.perform(.decrypt, nil).words == ["decrypt a.example"])
        model = lines([ModelFixture.record(1, "GET", "http://a.example/")])
        #expect(model.perform(.decrypt, nil).isEmpty)
        #expect(model.told == "This exchange is plain HTTP: there is nothing to decrypt.")
    }

    @Test func `on lines, a file that a rule answers from and that is not there is asked about`() {
        var model = lines()
        let text = "from: \"http://h/\"\nto: a.txt\n"
        var editor = EditorState(
            purpose: .rule(Tool.all.first { $0.key == "map-local" } ?? Tool.all[0], replaces: nil),
            title: "Map local",
            area: TextArea(text)
        )
        editor.origin = .exchange(ExchangeID(3))
        model.draft = editor
        #expect(model.perform(.apply, nil).words == ["offer answer 3"])
        #expect(model.answer { $0.offerAnswer("a.txt", text) }.isEmpty)
        guard case .confirm(let question)? = model.overlays.last else {
            Issue.record("no question")
            return
        }
        #expect(question.question.hasPrefix("a.txt does not exist."))
        // Going on keeps the draft.
        _ = model.choose(nil)
        _ = model.update(.written)
        #expect(model.draft?.area.text == text)
    }

    @Test func `the count in the corner says of what`() {
        #expect(ConsoleView.draw(console()).text.contains(" 5 exchanges"))
        #expect(ConsoleView.draw(console(ModelFixture.plain(1))).text.contains(" 1 exchange\n"))
        let opened = ModelFixture.listing(ModelFixture.plain(3), size, source: .recorded(name: "a.sluice"))
        let status = ConsoleView.draw(opened).row(Layout(opened).status.y)
        #expect(status.contains(" 3 exchanges"))
    }
}
