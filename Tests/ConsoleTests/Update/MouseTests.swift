import Foundation
import HTTPModel
import Support
import Terminal
import Testing
import Tools

@testable import Console
@testable import Runner

/// What the mouse does to what is under it.
struct MouseTests {
    private let size = Size(width: 100, height: 30)

    private func list() -> ConsoleModel { ModelFixture.listing(ModelFixture.plain(20), size) }

    /// Clicks on the first place of a text on the screen.
    @discardableResult
    private func click(_ text: String, _ model: inout ConsoleModel, row: Int? = nil) throws -> [Effect] {
        let screen = ConsoleView.draw(model)
        let y = try #require((0..<size.height).first { (row == nil || row == $0) && screen.row($0).contains(text) })
        let line = screen.row(y)
        let place = try #require(line.range(of: text)).lowerBound
        let x = line.distance(from: line.startIndex, to: place)
        return model.update(.input(.mouse(MouseEvent(.press, x: x, y: y))))
    }

    @Test func `a click on a view's name shows the view`() throws {
        var model = list()
        try click("Structure", &model)
        #expect(model.view == .structure)
        try click("Sequence", &model)
        #expect(model.view == .sequence)
    }

    @Test func `a click on a column's title sorts by it, and once more turns the order`() throws {
        var model = list()
        try click("SIZE", &model)
        #expect(model.list.query.sort == SortOrder(column: .size))
        ModelFixture.answer(&model, ModelFixture.plain(20))
        try click("SIZE", &model)
        #expect(model.list.query.sort == SortOrder(column: .size, isDescending: true))
    }

    @Test func `a click on a row of the palette or of a choice takes it`() throws {
        var model = list()
        model.press(":")
        model.type("help")
        try click("Help for this screen", &model)
        guard case .report(let report)? = model.overlays.last else {
            Issue.record("no help")
            return
        }
        #expect(report.title == "Help")
        model.press("esc", "J")
        try click("slow", &model)
        #expect(model.jump == .slow && model.overlays.isEmpty)
    }

    @Test func `a click on an answer of a question gives it, and beside it does nothing`() throws {
        var model = list()
        let quit = ConfirmState.Choice("y", "quit anyway") { _ in [.terminal(.quit)] }
        let choices = [quit, .init("n", "stay")]
        _ = model.confirm("Sure?", choices)
        try click("Sure?", &model)
        #expect(model.overlays.count == 1)
        #expect(try click("quit anyway", &model).words == ["quit"])
        _ = model.confirm("Sure?", choices)
        try click("stay", &model)
        #expect(model.overlays.isEmpty)
    }

    @Test func `a click in a panel selects a rule, and once more edits it`() throws {
        var model = list()
        let source = Screens.all.first { $0.name == "panel" }?.make(size, Look())
        model = try #require(source)
        try click("advertisements", &model)
        guard case .panel(let panel)? = model.overlays.last else {
            Issue.record("no panel")
            return
        }
        #expect(panel.selected == 1)
        try click("advertisements", &model)
        guard case .editor? = model.overlays.last else {
            Issue.record("no editor")
            return
        }
    }

    @Test func `a click in the queue of held messages selects one`() throws {
        var model = try #require(Screens.all.first { $0.name == "holds" }?.make(size, Look()))
        let first = try #require(model.proxy.holds.first)
        let rect = OverlayView.holdRows(model.proxy.holds.count, size)
        _ = model.update(.input(.mouse(MouseEvent(.press, x: rect.x + 1, y: rect.y))))
        guard case .holds(let selected)? = model.overlays.last else {
            Issue.record("no queue")
            return
        }
        #expect(selected == first.id)
    }

    @Test func `a click in the tree shows the leaf beside it, and the wheel scrolls what is under it`() throws {
        var model = list()
        model.press("tab")
        let site = StructureNode(site: "https://api.example.com")
        let names = ["a", "b"].enumerated().map { index, name in
            StructureChild(
                name: name,
                node: StructureNode(site: site.site, segments: [name]),
                isLeaf: true,
                newest: ExchangeID(Int64(index + 1)),
                count: 1
            )
        }
        let level = StructureLevel(node: StructureNode(), generation: 0, children: names)
        _ = model.update(.query(.structure(level)))
        model.press("enter")
        #expect(model.detail.id == ExchangeID(1))
        #expect(try click(" b ", &model).words.first?.hasPrefix("detail 2 ") == true)
    }
}
