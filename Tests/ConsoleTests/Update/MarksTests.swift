import HTTPModel
import Support
import Terminal
import Testing

@testable import Console

/// Marks, focused and ignored hosts.
struct MarksTests {
    private func list() -> ConsoleModel { ModelFixture.listing(ModelFixture.plain(9), Size(width: 100, height: 24)) }

    @Test func `all that are shown are marked, and unmarked the second time`() {
        var model = list()
        #expect(model.press("*").words == ["numbers all 100000"])
        _ = model.update(.query(.numbers(generation: 0, [1, 2, 3], hasMore: false)))
        #expect(model.marks.count == 3 && model.marked.contains(ExchangeID(2)))
        #expect(ConsoleView.draw(model).text.contains("marked 3"))
        _ = model.update(.query(.numbers(generation: 0, [1, 2, 3], hasMore: false)))
        #expect(model.marks.isEmpty && model.told == "3 unmarked; 0 marked.")
        _ = model.update(.query(.numbers(generation: 9, [1], hasMore: false)))
        #expect(model.marks.isEmpty)
    }

    @Test func `more than a hundred thousand are not marked, which is told`() {
        var model = list()
        let numbers = (1...100_000).map { Int64($0) }
        _ = model.update(.query(.numbers(generation: 0, numbers, hasMore: true)))
        #expect(model.marks.count == 100_000)
        #expect(model.told == "Only the newest are marked, 100000 in all: 100000 is the limit.")
        _ = model.perform(.mark, "100001")
        #expect(model.marks.count == 100_000 && model.notices.last?.kind == .error)
        model.press("ctrl-u")
        #expect(model.marks.isEmpty && model.told == "100000 exchanges are unmarked.")
    }

    @Test func `only the marked are shown, whatever is marked meanwhile, and then all again`() {
        var model = list()
        #expect(model.press("%").isEmpty && model.told == "Nothing is marked; space marks.")
        model.marks = [ExchangeID(7), ExchangeID(3)]
        model.press("%")
        #expect(model.list.query.only == [3, 7])
        #expect(ConsoleView.draw(model).text.contains("filter: marked"))
        // The new list has the selected exchange.
        let selected = model.list.selectedID ?? ExchangeID(1)
        _ = model.update(.query(.position(generation: model.list.generation, id: selected, .row(0))))
        _ = model.perform(.mark, "3")
        #expect(model.list.query.only == [7])
        model.press("ctrl-u")
        #expect(model.list.query.only == nil)
        model.marks = [ExchangeID(7)]
        model.press("%", "\\")
        #expect(model.list.query.only == nil && model.marks == [ExchangeID(7)])
    }

    @Test func `how many marks are hidden stands in the status line`() {
        var model = list()
        model.marks = [ExchangeID(1), ExchangeID(2)]
        _ = model.perform(.filter, "status:404")
        let generation = model.list.generation
        let filling = ListStatus(generation: generation, total: 0, sessionTotal: 9, progress: 0.5)
        _ = model.update(.query(.list(filling)))
        let effects = model.update(.query(.list(ListStatus(generation: generation, total: 1, sessionTotal: 9))))
        #expect(effects.words.contains("count 2 hidden"))
        _ = model.update(.query(.hidden(generation: generation, 2)))
        #expect(ConsoleView.draw(model).text.contains("marked 2 (2 hidden)"))
    }

    @Test func `several hosts are focused, and each is taken back by itself`() {
        var model = list()
        model.press("i")
        #expect(model.list.query.focusedHosts == ["api.example.com"])
        _ = model.perform(.focusHost, "localhost:3000")
        #expect(model.list.query.focusedHosts == ["api.example.com", "localhost:3000"])
        #expect(ConsoleView.draw(model).text.contains("focus: api.example.com, localhost:3000"))
        _ = model.perform(.focusHost, "api.example.com")
        #expect(model.list.query.focusedHosts == ["localhost:3000"])
        model.press("\\")
        #expect(model.list.query.focusedHosts.isEmpty)
        _ = model.perform(.focusHost, "localhost:3000, API.example.com")
        #expect(model.list.query.focusedHosts == ["api.example.com", "localhost:3000"])
    }

    @Test func `where the focus leaves nothing, the page says so, and no filter is named that is none`() {
        var model = list()
        model.press("i")
        let status = ListStatus(generation: model.list.generation, total: 0, sessionTotal: 9)
        _ = model.update(.query(.list(status)))
        var text = ConsoleView.draw(model).text
        #expect(text.contains("None of 9 exchanges match."))
        #expect(text.contains("Focus: only api.example.com is shown. \\ removes the focus."))
        #expect(!text.contains("edits the filter"))
        model = list()
        _ = model.perform(.filter, "status:404")
        _ = model.update(.query(.list(ListStatus(generation: model.list.generation, total: 0, sessionTotal: 9))))
        text = ConsoleView.draw(model).text
        #expect(text.contains("edits the filter") && !text.contains("Focus:"))
        #expect(model.perform(.focusHost, ",").isEmpty && model.told.hasPrefix("focus takes names of hosts"))
    }

    @Test func `hosts of marked exchanges are focused together`() {
        var model = list()
        model.list.rows[0]?.url.host = "other.example.com"
        let hosts = Set(model.list.rows.values.map(\.url.authority))
        #expect(hosts.count == 2)
        model.marks = model.list.rows.values.map(\.id)
        model.press("i")
        #expect(model.list.query.focusedHosts == hosts)
        model = list()
        model.marks = model.list.rows.values.map(\.id) + [ExchangeID(9_999)]
        model.press("i")
        #expect(model.list.query.focusedHosts.isEmpty && model.told.hasPrefix("1 of the marked exchanges"))
    }

    @Test func `an ignored host stays ignored when the filter is taken away, and is shown again by name`() {
        var model = list()
        #expect(model.perform(.unignore, nil).isEmpty && model.told.hasPrefix("No host is ignored"))
        model.press("I")
        _ = model.perform(.ignoreHost, "localhost:3000")
        #expect(model.list.query.ignoredHosts == ["api.example.com", "localhost:3000"])
        model.press("\\")
        #expect(model.list.query.ignoredHosts.count == 2)
        #expect(ConsoleView.draw(model).text.contains("ignored: api.example.com, localhost:3000"))
        _ = model.perform(.unignore, "nobody")
        #expect(model.told.hasPrefix("nobody is not ignored; ignored: api.example.com"))
        _ = model.perform(.unignore, nil)
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        #expect(picker.items.map(\.value) == ["api.example.com", "localhost:3000", "all"])
        model.press("enter")
        #expect(model.list.query.ignoredHosts == ["localhost:3000"])
        _ = model.perform(.unignore, "all")
        #expect(model.list.query.ignoredHosts.isEmpty)
    }

    @Test func `an export says what it will have, and has what was said`() {
        var model = list()
        model.press("up", "up")
        model.press("E")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        let titles = picker.items.map(\.title)
        #expect(titles.contains("HAR: the selected exchange, 7") && titles.contains("HAR: all 9 shown"))
        func exported(_ words: String) -> ExportRequest? {
            guard case .export(let request)? = model.perform(.export, words).first else { return nil }
            return request
        }
        model.press("esc")
        #expect(exported("har selected a.har")?.ids == [ExchangeID(7)])
        #expect(exported("har shown a.har")?.ids == nil)
        #expect(exported("har a.har")?.ids == nil && exported("har a.har")?.path == "a.har")
        #expect(exported("har a.har")?.keepsSecrets == false && exported("har shown a.har")?.keepsSecrets == false)
        let kept = exported("har shown secrets a.har")
        #expect(kept?.keepsSecrets == true && kept?.path == "a.har")
        #expect(exported("curl secrets a.sh")?.keepsSecrets == true)
        // A file may have such a name.
        #expect(exported("har secrets")?.path == "secrets" && exported("har secrets")?.keepsSecrets == false)
        #expect(exported("har marked a.har") == nil && model.told.hasPrefix("Nothing is marked"))
        model.marks = [ExchangeID(2)]
        #expect(exported("har a.har")?.ids == [ExchangeID(2)])
        #expect(exported("har selected a.har")?.ids == [ExchangeID(7)])
    }
}

struct PlaceFilterTests {
    private func record(_ url: String) -> ExchangeRecord { ModelFixture.record(1, "GET", url) }

    @Test func `a place is its scheme, host, port and path, with what is below or without`() throws {
        let url = try #require(RequestURL("http://localhost:3000/users"))
        let below = Filter.place(url, withBelow: true)
        let own = Filter.place(url, withBelow: false)
        let cases: [(String, Bool, Bool)] = [
            ("http://localhost:3000/users", true, true), ("http://localhost:3000/users?a=1", true, true),
            ("http://localhost:3000/users/5", true, false), ("http://localhost:3000/users/", true, false),
            ("http://localhost:3000/users50", false, false), ("http://localhost:3001/users", false, false),
            ("https://localhost:3000/users", false, false), ("http://localhost:3000/Users", false, false),
        ]
        for (text, isBelow, isOwn) in cases {
            #expect(below.decides(record(text)) == isBelow, "\(text)")
            #expect(own.decides(record(text)) == isOwn, "\(text)")
        }
    }

    @Test func `a host means its every port, and with a port that one`() {
        let name = Filter.authorities(["localhost"])
        let port = Filter.authorities(["LOCALHOST:3000", "[::1]:8080"])
        #expect(name.decides(record("http://localhost:3000/")) == true)
        #expect(port.decides(record("http://localhost:3000/")) == true)
        #expect(port.decides(record("http://localhost:3001/")) == false)
        #expect(port.decides(record("http://[::1]:8080/")) == true)
        #expect(Filter.authorities(["::1"]).decides(record("http://[::1]:8080/")) == true)
        #expect(Filter.except(["localhost:3000"]).decides(record("http://localhost:3001/")) == true)
        #expect(Filter.except(["localhost:3000"]).decides(record("http://localhost:3000/")) == false)
        #expect(Filter.except([]).matchesEverything && Filter.authorities([]).matchesEverything)
    }
}
