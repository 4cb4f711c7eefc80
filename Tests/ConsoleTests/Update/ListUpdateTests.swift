import HTTPModel
import Testing

@testable import Console
@testable import Description
@testable import Terminal

struct ListUpdateTests {
    private let size = Size(width: 100, height: 24)

    private func list(_ count: Int) -> ConsoleModel { ModelFixture.listing(ModelFixture.plain(count), size) }

    private func grow(_ model: inout ConsoleModel, to count: Int) {
        ModelFixture.answer(&model, ModelFixture.plain(count))
    }

    @Test func `the newest exchange stays selected until the user moves`() {
        var model = list(30)
        #expect(model.list.selectedID == ExchangeID(30))
        grow(&model, to: 40)
        #expect(model.list.selectedID == ExchangeID(40))
        model.press("up", "up")
        #expect(model.list.selectedID == ExchangeID(38))
        #expect(!model.list.isFollowing)
        let row = model.list.selected - model.list.bottom
        grow(&model, to: 100)
        #expect(model.list.selectedID == ExchangeID(38))
        #expect(model.list.selectedRecord?.id == ExchangeID(38))
        #expect(model.list.selected - model.list.bottom == row)
    }

    @Test func `the end of the list follows again, its beginning does not`() {
        var model = list(50)
        model.press("g")
        #expect(model.list.selectedID == ExchangeID(1))
        #expect(!model.list.isFollowing)
        model.press("G")
        #expect(model.list.isFollowing)
        model.press("F")
        #expect(!model.list.isFollowing)
    }

    @Test func `pages move by what is on the screen, and end at the ends`() {
        var model = list(100)
        let rows = Layout(model).listRows
        model.press("pgup")
        #expect(model.list.selected == rows - 1)
        for _ in 0..<20 { model.press("pgup") }
        #expect(model.list.selectedID == ExchangeID(1))
        for _ in 0..<20 { model.press("pgdn") }
        #expect(model.list.selectedID == ExchangeID(100))
    }

    @Test func `rows that are not known are asked for`() {
        var model = ModelFixture.started(size)
        let status = ListStatus(generation: 0, total: 10_000, sessionTotal: 10_000)
        #expect(model.update(.query(.list(status))).words == ["load 0..<\(Layout(model).listRows) #0"])
        let rows = Layout(model).listRows
        #expect(model.press("home").words == ["load \(10_000 - 2 * rows)..<10000 #0"])
    }

    @Test func `before a list just asked for is there, nothing is opened that it may not have`() {
        var model = list(5)
        model.press("up")
        let before = model.list.selectedID
        _ = model.perform(.filter, "status:404")
        #expect(model.press("enter").isEmpty && model.detail.text.document == nil && !model.detail.isOpen)
        // What was opened too early is opened as soon as it is known.
        let generation = model.list.generation
        _ = model.update(.query(.list(ListStatus(generation: generation, total: 1, sessionTotal: 5))))
        _ = model.update(.query(.rows(generation: generation, first: 0, Array(ModelFixture.plain(1)))))
        #expect(!model.detail.isOpen)
        let place = QueryEvent.position(generation: generation, id: before ?? ExchangeID(4), .nowhere(nearest: 0))
        _ = model.update(.query(place))
        #expect(model.detail.isOpen && model.detail.id == ExchangeID(1))
    }

    @Test func `a list that is filled and not read yet opens what is then selected, on the page that was typed`() {
        var model = list(5)
        model.press("up")
        let before = model.list.selectedID
        _ = model.perform(.filter, "status:404")
        let generation = model.list.generation
        _ = model.update(.query(.list(ListStatus(generation: generation, total: 1, sessionTotal: 5))))
        #expect(model.press("enter").isEmpty && model.press("2").isEmpty && !model.detail.isOpen)
        _ = model.update(.query(.rows(generation: generation, first: 0, Array(ModelFixture.plain(1)))))
        let place = QueryEvent.position(generation: generation, id: before ?? ExchangeID(4), .nowhere(nearest: 0))
        let effects = model.update(.query(place))
        #expect(effects.words.contains { $0.hasPrefix("detail 1 ") })
        #expect(model.context == .detail && model.detail.id == ExchangeID(1) && model.detail.awaitedPage == 2)
        // The next list forgets it.
        model.press("esc", "esc", "2")
        #expect(model.detail.isOpen && model.context == .list)
    }

    @Test func `answers to an older question change nothing`() {
        var model = list(5)
        _ = model.perform(.filter, "status:404")
        let generation = model.list.generation
        let old = generation - 1
        _ = model.update(.query(.list(ListStatus(generation: old, total: 99, sessionTotal: 99))))
        _ = model.update(.query(.rows(generation: old, first: 0, ModelFixture.plain(3))))
        _ = model.update(.query(.position(generation: old, id: ExchangeID(1), .row(3))))
        _ = model.update(.query(.found(generation: old, index: 2)))
        let level = StructureLevel(node: StructureNode(), generation: old, children: [])
        _ = model.update(.query(.structure(level)))
        #expect(model.list.total == 0)
        #expect(model.list.rows.isEmpty)
        #expect(model.list.selected == 0)
        #expect(model.structure.levels.isEmpty)
    }

    @Test func `an older page does not take the place of a newer one`() {
        var model = list(3)
        model.press("enter")
        let first = model.detail.generation
        model.press(">")
        let newer = DetailDocument(lines: [DetailLine([Span("newer")])])
        let id = ExchangeID(3)
        model.answer { $0.show(newer, [.overview, .request], of: id, $0.detail.generation) }
        model.answer { $0.show(ModelFixture.document, [.overview], of: id, first) }
        #expect(model.detail.text.document?.lines.first?.plain == "newer")
        #expect(model.detail.pages == [.overview, .request])
    }

    @Test func `the detail follows the list while the list has the keys`() {
        var model = list(5)
        #expect(model.press("enter").words == ["detail 5 overview #1"])
        model.press("esc")
        #expect(model.detail.isOpen)
        #expect(model.press("up").words == ["detail 4 overview #2"])
        model.press("esc")
        #expect(!model.detail.isOpen)
        #expect(model.press("up").words == [])
    }

    @Test func `an exchange is gone to by its number`() {
        var model = list(20)
        model.press("#")
        model.type("7")
        #expect(model.press("enter").words == ["locate 7 #0"])
        _ = model.update(.query(.position(generation: 0, id: ExchangeID(7), .row(13))))
        #expect(model.list.selected == 13)
        _ = model.perform(.goTo, "77")
        _ = model.update(.query(.position(generation: 0, id: ExchangeID(77), .nowhere(nearest: 0))))
        #expect(model.told == "Exchange 77 is not in the list.")
        #expect(model.list.selected == 13)
        #expect(model.perform(.goTo, "seven").isEmpty)
        #expect(model.told == "'seven' is not an exchange number.")
    }

    @Test func `the mouse selects a row, opens it at once more, and scrolls`() {
        var model = list(100)
        let layout = Layout(model)
        let click = Message.input(.mouse(MouseEvent(.press, x: 5, y: layout.list.y + 1)))
        _ = model.update(click)
        #expect(model.list.selected == layout.listRows - 1)
        #expect(!model.detail.isOpen)
        #expect(model.update(click).words.last == "detail \(100 - layout.listRows + 1) overview #1")
        model.press("esc", "esc")
        let bottom = model.list.bottom
        _ = model.update(.input(.mouse(MouseEvent(.wheelUp, x: 5, y: 5))))
        #expect(model.list.bottom == bottom + 3)
    }

    @Test func `the wheel at the end of the list lets it follow`() {
        var model = list(100)
        _ = model.update(.input(.mouse(MouseEvent(.wheelDown, x: 5, y: 5))))
        #expect(model.list.isFollowing)
    }

    @Test func `the line between list and detail is dragged`() {
        var model = ModelFixture.listing(ModelFixture.plain(20), Size(width: 160, height: 40))
        model.press("enter")
        let divider = Layout(model).divider
        _ = model.update(.input(.mouse(MouseEvent(.press, x: divider.x, y: divider.y + 3))))
        _ = model.update(.input(.mouse(MouseEvent(.drag, x: 40, y: 7))))
        _ = model.update(.input(.mouse(MouseEvent(.release, x: 40, y: 7))))
        #expect(abs(Layout(model).divider.x - 40) <= 1)
        _ = model.update(.input(.mouse(MouseEvent(.drag, x: 100, y: 7))))
        #expect(abs(Layout(model).divider.x - 40) <= 1)
    }

    @Test func `what is selected stays on the screen when the screen shrinks`() {
        var model = list(100)
        for _ in 0..<15 { model.press("up") }
        _ = model.update(.resized(Size(width: 80, height: 8)))
        let rows = Layout(model).listRows
        #expect((model.list.bottom..<model.list.bottom + rows).contains(model.list.selected))
    }

    @Test func `the list is sorted by a column, and the other way round at the second time`() {
        var model = list(5)
        _ = model.perform(.sort, "size")
        #expect(model.list.query.sort == SortOrder(column: .size))
        grow(&model, to: 5)
        _ = model.perform(.sort, "size")
        #expect(model.list.query.sort == SortOrder(column: .size, isDescending: true))
        grow(&model, to: 5)
        #expect(model.perform(.sort, "colour").isEmpty)
        #expect(model.told.hasPrefix("There is no column 'colour'; there are "))
    }

    @Test func `columns are chosen by their names`() {
        var model = list(5)
        _ = model.perform(.columns, "id status, path")
        #expect(model.list.columns == [.id, .status, .path])
        _ = model.perform(.columns, "id colour")
        #expect(model.list.columns == [.id, .status, .path])
        #expect(model.told.hasPrefix("There is no column 'colour'; there are "))
    }

    @Test func `columns can be places, whose values are read for the rows on the screen`() throws {
        var model = list(3)
        let place = try Place("res.json.error.Code")
        let asked = model.perform(.columns, "id res.json.error.Code").words
        #expect(model.list.columns == [.id, .place(place)])
        #expect(asked == ["values of 3 at res.json.error.Code"])
        let id = try #require(model.list.rows[0]?.id)
        _ = model.update(.query(.values(generation: model.list.generation, [id: [place: "42"]])))
        #expect(model.list.values[id] == [place: "42"])
        _ = model.update(.query(.values(generation: model.list.generation, [id: [place: "43"]])))
        #expect(model.list.values[id] == [place: "43"])
        #expect(model.readValues().words == ["values of 2 at res.json.error.Code"])
        #expect(Column(rawValue: Column.place(place).rawValue) == .place(place))
        _ = model.perform(.columns, "id res.jsn.a")
        #expect(model.list.columns == [.id, .place(place)])
        #expect(model.told.contains("res has no 'jsn'; did you mean 'json'?"), "\(model.told)")
    }

    @Test func `rows are read again for a moment after their end, while their client may be found`() {
        func reads(after microseconds: Int64, _ change: @escaping (inout ExchangeRecord) -> Void) -> Bool {
            let record = ModelFixture.record(1) {
                $0.startedAt = ModelFixture.now
                $0.clientAddress = "127.0.0.1:5000"
                change(&$0)
            }
            var model = ModelFixture.listing([record], Size(width: 80, height: 24))
            return model.update(.tick(ModelFixture.now + microseconds)).words.contains { $0.hasPrefix("load") }
        }
        #expect(reads(after: 300_000) { _ in })
        #expect(!reads(after: 3_000_000) { _ in })
        #expect(!reads(after: 300_000) { $0.extras.process = ClientProcess(id: 7, name: "curl") })
        #expect(!reads(after: 300_000) { $0.clientAddress = "192.0.2.1:5000" })
    }

    @Test func `two are compared: the marked one and the selected one`() {
        var model = list(5)
        #expect(model.press("=").isEmpty)
        #expect(model.told == "Mark the exchange to compare with first: space marks it.")
        model.press("up", "space")
        #expect(model.marks == [ExchangeID(4)])
        model.press("G", "up", "up")
        #expect(model.press("=").words == ["compare 4 3"])
        #expect(model.perform(.compare, "#1").words == ["compare 1 3"])
        model.isLinear = true
        #expect(model.perform(.compare, "2").words == ["compare 4 2"])
        #expect(model.perform(.compare, "1 #2").words == ["compare 1 2"])
        #expect(model.perform(.compare, "2 2").isEmpty && model.told.hasPrefix("2 cannot be compared with itself"))
        #expect(model.perform(.compare, "1 2 3").isEmpty && model.told.hasPrefix("compare takes one number or two"))
        #expect(model.perform(.compare, "1 x").isEmpty && model.told == "'x' is not an exchange number.")
        model.isLinear = false
        model.press("G", "up", "space")
        #expect(model.marks.isEmpty)
    }

    @Test func `a jump goes to the next of the chosen kind`() {
        var model = list(30)
        _ = model.perform(.jumpKind, "large")
        #expect(model.press("[").words == ["find before 0"])
        #expect(model.jobs.map(\.id) == [.find])
        _ = model.update(.query(.found(generation: 0, index: 12)))
        #expect(model.jobs.isEmpty)
        #expect(model.list.selectedID == ExchangeID(18))
        #expect(!model.list.isFollowing)
        model.press("]")
        _ = model.update(.query(.found(generation: 0, index: nil)))
        #expect(model.told == "No other exchange of this kind (large) in that direction.")
        #expect(model.list.selectedID == ExchangeID(18))
    }

    @Test func `what a jump is looking for is opened, where that was asked before it was found`() {
        var model = list(30)
        #expect(model.press("[").words == ["find before 0"])
        #expect(model.press("enter").isEmpty && !model.detail.isOpen)
        let effects = model.update(.query(.found(generation: 0, index: 12)))
        #expect(effects.words.contains { $0.hasPrefix("detail 18 ") })
        #expect(model.detail.isOpen && model.detail.id == ExchangeID(18))
    }

    @Test func `the row that a jump found is opened once it is known`() {
        var model = list(30)
        model.list.rows[12] = nil
        model.press("[", "enter")
        let found = model.update(.query(.found(generation: 0, index: 12)))
        #expect(!found.words.contains { $0.hasPrefix("detail") })
        let row = ModelFixture.record(18)
        let effects = model.update(.query(.rows(generation: 0, first: 12, [row])))
        #expect(effects.words.contains { $0.hasPrefix("detail 18 ") })
    }

    @Test func `a move after a jump opens nothing`() {
        var model = list(30)
        model.press("[", "enter", "up")
        _ = model.update(.query(.found(generation: 0, index: 12)))
        #expect(!model.detail.isOpen)
    }

    @Test func `a recording that grows can be followed, and rows that move stay on the screen`() {
        let records = ModelFixture.plain(20)
        var model = ModelFixture.listing(records, size, source: .recorded(name: "day.sluice"))
        #expect(!model.isLive && model.whyNot(.follow) != nil)
        _ = model.update(.query(.list(ListStatus(generation: 0, total: 22, sessionTotal: 22))))
        #expect(model.isLive && model.whyNot(.follow) == nil)
        // The two new rows are not known yet; those that were known have moved up, and are not blank.
        #expect(model.list.rows[2]?.id == ExchangeID(20) && model.list.rows[0] == nil)
    }

    @Test func `the terminal's background chooses the theme, unless the user has`() {
        var model = list(3)
        let light = TerminalBackground(red: 250, green: 250, blue: 240)
        #expect(model.update(.input(.background(light))).words == ["redraw"])
        #expect(model.look.theme == .light)
        _ = model.perform(.theme, "dark")
        #expect(model.update(.input(.background(light))).isEmpty)
        #expect(model.look.theme == .dark)
        var plain = ModelFixture.listing(ModelFixture.plain(1), size, look: Look(theme: .plain))
        #expect(plain.update(.input(.background(light))).isEmpty)
        #expect(plain.look.theme == .plain)
    }

    @Test func `what takes long is stopped by one key`() {
        var model = list(3)
        #expect(model.press("ctrl-g").isEmpty)
        model.press("[")
        #expect(model.press("ctrl-g").words == ["cancel jobs"])
        #expect(model.jobs.isEmpty)
    }
}
