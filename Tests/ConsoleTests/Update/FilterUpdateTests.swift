import HTTPModel
import Support
import Terminal
import Testing

@testable import Console

struct FilterUpdateTests {
    private func list() -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(10), Size(width: 100, height: 24))
    }

    @Test func `the filter works while it is typed`() {
        var model = list()
        model.press("/")
        #expect(model.context == .line)
        #expect(model.type("api").words == ["query api #3"])
        #expect(model.list.generation == 3)
        #expect(model.press("enter").isEmpty)
        #expect(model.filter.applied == "api")
        #expect(!model.filter.isEditing)
    }

    @Test(arguments: [
        ("404", "status:404"), ("post", "method:POST"), ("failed", "is:failed"), ("4044", nil), ("api", nil),
    ])
    func `a word alone that excludes everything is told from the term that was meant`(_ word: String, _ term: String?) {
        var model = list()
        _ = model.perform(.filter, word)
        let status = ListStatus(generation: model.list.generation, total: 0, sessionTotal: 10, excludedBy: word)
        _ = model.update(.query(.list(status)))
        let text = ConsoleView.draw(model).text
        #expect(text.contains("did you mean \(term ?? "")") == (term != nil), "\(text)")
    }

    @Test func `what is ignored is not cleared, and said`() {
        var model = list()
        _ = model.perform(.ignoreHost, "cdn.example.com")
        #expect(model.perform(.clearFilter, nil).isEmpty)
        #expect(model.told.hasSuffix("to clear. :unignore shows the ignored hosts again."))
        _ = model.perform(.unignore, "all")
        #expect(model.perform(.clearFilter, nil).isEmpty && model.told.hasSuffix("to clear."))
    }

    @Test func `esc brings back what was in force`() {
        var model = list()
        _ = model.perform(.filter, "status:200")
        model.press("/")
        model.type(" x")
        #expect(model.press("esc").words == ["query status:200 #3"])
        #expect(model.filter.applied == "status:200")
    }

    @Test func `esc goes back to the exchange that was selected, though nothing fitted on the way`() {
        var model = list()
        model.press("k", "k")
        let chosen = model.list.selectedID
        #expect(chosen == ExchangeID(8) && !model.list.isFollowing)
        model.press("/")
        for letter in ["z", "q"] {
            #expect(model.type(letter).words.contains { $0.hasPrefix("locate 8 ") })
            ModelFixture.answer(&model, [])
            _ = model.update(
                .query(.position(generation: model.list.generation, id: ExchangeID(8), .nowhere(nearest: nil)))
            )
            #expect(model.selectedID == nil)
        }
        #expect(model.press("esc").words.contains { $0.hasPrefix("locate 8 ") })
        ModelFixture.answer(&model, ModelFixture.plain(10))
        #expect(model.list.selectedID == chosen && !model.list.isFollowing)
    }

    @Test func `a mistake is told at its column, and cannot be kept`() {
        var model = list()
        model.press("/")
        model.type("host:api statsu:404")
        #expect(model.filter.error?.column == 10)
        let generation = model.list.generation
        #expect(model.press("enter").isEmpty)
        #expect(model.filter.isEditing)
        #expect(model.list.generation == generation)
        for _ in 0..<"statsu:404".count { model.press("backspace") }
        #expect(model.filter.error == nil)
        model.press("enter")
        #expect(!model.filter.isEditing)
    }

    @Test func `a word that becomes a wrong term leaves the list as the terms before it have it`() {
        var model = list()
        model.press("/")
        model.type("host:api stauts")
        #expect(model.list.query.filter.description == "host:api stauts")
        // What was a word to look for is a key that there is not.
        model.type(":4")
        #expect(model.filter.error != nil)
        #expect(model.list.query.filter.description == "host:api")
        model.press("ctrl-u")
        model.type("stauts:4")
        #expect(model.list.query.filter.matchesEverything)
        model.press("esc")
        _ = model.perform(.filter, "status:200")
        model.press("/", "ctrl-u")
        // Nothing that can be read comes before the mistake.
        model.type("(host:a or stauts:4")
        #expect(model.list.query.filter.description == "status:200")
        model.press("esc")
        #expect(model.list.query.filter.description == "status:200")
    }

    @Test func `a search that was given up is told once the list is filled`() {
        var model = list()
        _ = model.perform(.filter, "path:/(a+)+$/")
        let generation = model.list.generation
        func status(_ count: Int, progress: Double?) -> ListStatus {
            ListStatus(
                generation: generation,
                total: 0,
                sessionTotal: 10,
                progress: progress,
                unfinished: "the search stopped in \(count) exchanges"
            )
        }
        _ = model.update(.query(.list(status(1, progress: 0.5))))
        #expect(model.notices.isEmpty)
        _ = model.update(.query(.list(status(2, progress: nil))))
        #expect(model.told == "The search stopped in 2 exchanges.")
        #expect(ConsoleView.draw(model).text.contains("The search stopped in 2 exchanges."))
        // More of them are no news.
        let count = model.noticeCount
        _ = model.update(.query(.list(status(3, progress: nil))))
        #expect(model.noticeCount == count)
    }

    @Test func `what was in force before is found again`() {
        var model = list()
        for text in ["one", "two", "one"] {
            model.press("/", "ctrl-u")
            model.type(text)
            model.press("enter")
        }
        #expect(model.filter.history == ["two", "one"])
        model.press("/", "up", "up", "up")
        #expect(model.filter.line.text == "two")
        model.press("down")
        #expect(model.filter.line.text == "one")
        model.press("down", "down")
        #expect(model.filter.line.text == "")
    }

    @Test func `one key takes filter, search and focus away, not the order`() {
        var model = list()
        _ = model.perform(.filter, "status:200")
        _ = model.perform(.searchBodies, "token")
        _ = model.perform(.focusHost, "api.example.com")
        _ = model.perform(.sort, "size")
        // A command that needs rows has none while the question is open.
        ModelFixture.answer(&model, ModelFixture.plain(3))
        _ = model.perform(.sort, "size")
        model.press("\\")
        #expect(model.filter.applied.isEmpty)
        #expect(model.list.query.bodyText == nil)
        #expect(model.list.query.focusedHosts.isEmpty)
        #expect(model.list.query.sort?.column == .size)
    }

    @Test func `the selected exchange is looked for in the new list`() {
        var model = list()
        model.press("up", "up")
        #expect(model.perform(.filter, "status:200").words.last == "locate 8 #1")
        _ = model.update(.query(.list(ListStatus(generation: 1, total: 10, sessionTotal: 10))))
        _ = model.update(.query(.position(generation: 1, id: ExchangeID(8), .row(2))))
        #expect(model.list.selected == 2)
        #expect(model.list.selectedID == ExchangeID(8))
    }

    @Test func `where the kept exchange is is asked again once the list is filled, and told only where one went to it`()
    {
        var model = list()
        model.press("up", "up")
        _ = model.perform(.filter, "status:200")
        func fill() -> [String] {
            _ = model.update(.query(.list(ListStatus(generation: 1, total: 0, sessionTotal: 10, progress: 0.5))))
            _ = model.update(.query(.position(generation: 1, id: ExchangeID(8), .unknown)))
            return model.update(.query(.list(ListStatus(generation: 1, total: 9, sessionTotal: 10)))).words
        }
        #expect(fill().last == "locate 8 #1")
        _ = model.update(.query(.position(generation: 1, id: ExchangeID(8), .nowhere(nearest: nil))))
        #expect(model.notices.allSatisfy { $0.kind != .error })
        _ = model.perform(.goTo, "8")
        #expect(fill().last == "locate 8 #1")
        _ = model.update(.query(.position(generation: 1, id: ExchangeID(8), .nowhere(nearest: nil))))
        #expect(model.told == "Exchange 8 is not in the list.")
    }

    @Test func `a filter that is given whole is refused whole`() {
        var model = list()
        #expect(model.perform(.filter, "statsu:404").isEmpty)
        #expect(model.told.hasPrefix("Filter: "))
        #expect(model.filter.applied.isEmpty)
    }

    @Test func `highlights take filters that need no bodies`() {
        var model = list()
        _ = model.perform(.highlight, "status:404")
        #expect(model.highlights.map(\.number) == [1])
        _ = model.perform(.highlight, "body:x")
        #expect(model.highlights.count == 1)
        _ = model.perform(.highlight, "")
        #expect(model.highlights.isEmpty)
    }
}
