import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Sharing

/// The room that the list's columns have.
struct ListColumnsTests {
    private func model(_ width: Int, _ url: String = "http://localhost:21110/items") -> ConsoleModel {
        let records = (1...9).map { ModelFixture.record($0, "GET", url) }
        return ModelFixture.listing(records, Size(width: width, height: 24))
    }

    private static let many = "id scheme version process server start comment path"

    @Test func `columns are narrowed before one is left out`() {
        var model = model(80)
        _ = model.perform(.columns, Self.many)
        let arranged = SequenceView.arranged(model, width: 80)
        #expect(arranged.missing.isEmpty && arranged.drawn.map(\.column) == model.list.columns)
        #expect(arranged.drawn.reduce(-1) { $0 + $1.width + 1 } <= 80)
        let titles = ConsoleView.draw(model).row(Layout(model).list.y)
        for column in model.list.columns { #expect(titles.contains(column.title), "\(column): \(titles)") }
        #expect(ConsoleView.draw(model).text.contains("/items") && model.told.isEmpty)
        // With room, they are as wide as they can be.
        let wide = SequenceView.arranged(model, width: 160).drawn
        #expect(wide.first { $0.column == .server }?.width == 21)
    }

    @Test(arguments: [30, 40, 50, 60])
    func `what has no room is said, and the path is there`(_ width: Int) throws {
        var model = model(width)
        _ = model.perform(.columns, Self.many)
        let missing = SequenceView.arranged(model, width: width).missing
        #expect(!missing.isEmpty && !missing.contains(.path) && missing.last == .comment)
        let titles = ConsoleView.draw(model).row(Layout(model).list.y)
        #expect(titles.hasSuffix(" ›\(missing.count)"), "\(titles)")
        #expect(ConsoleView.draw(model).text.contains("/items"))
        #expect(model.told.hasPrefix("There is no room for ") && model.told.contains("comment"))
        for column in missing { #expect(model.told.contains(column.rawValue)) }
        model.press("O")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice is open")
            return
        }
        let marked = picker.items.filter { $0.detail.hasPrefix("NO ROOM") }.map(\.value)
        #expect(marked == missing.map(\.rawValue))
        // All have their title still, so that each can be shown and hidden.
        #expect(picker.items.filter { $0.title.hasPrefix("[x]") }.count == model.list.columns.count)
    }

    @Test func `the columns of a screen that nobody chose have no sign`() {
        for width in 20...200 { #expect(SequenceView.arranged(model(width), width: width).missing.isEmpty) }
    }

    @Test func `a host has the room that the paths leave over, and no more`() {
        let host = "a.long.localhost.example:21110"
        func row(_ path: String) -> String {
            let model = model(80, "http://\(host)\(path)")
            return ConsoleView.draw(model).row(Layout(model).list.y + 1)
        }
        #expect(SequenceView.columns(model(80), width: 80).first { $0.column == .host }?.width == 16)
        // As wide as a host can be without its scheme.
        #expect(row("/a").contains("…") && row("/a").contains(":21110"))
        let short = model(80, "http://localhost.example:21110/a")
        #expect(ConsoleView.draw(short).row(Layout(short).list.y + 1).contains("localhost.example:21110"))
        let long = model(80, "http://localhost.of.a.long.name:21110/a/path/that/needs/all/of/its/room")
        let cut = ConsoleView.draw(long).row(Layout(long).list.y + 1)
        #expect(!cut.contains("localhost.of.a.long.name") && cut.contains("…") && cut.contains(":21110"))
    }

    @Test(arguments: [60, 80, 120])
    func `a usual host is whole, however long paths and other hosts are`(_ width: Int) {
        var records = [
            ModelFixture.record(1, "GET", "https://shop.api.example.com/a/path/that/needs/all/of/its/room?and=more"),
            ModelFixture.record(2, "GET", "https://a-very-long-host-name.of-a-region.of-a-provider.example.com/"),
            ModelFixture.record(3, "CONNECT", "https://pinned.example.com/", status: 0) {
                $0.kind = .tunnel
                $0.url.scheme = "tunnel"
            },
        ]
        records[0].extras.annotation.colour = "red"
        let text = ConsoleView.draw(ModelFixture.listing(records, Size(width: width, height: 24))).text
        #expect(text.contains("shop.api.example.com ") && text.contains("pinned.example.com "), "\(text)")
    }

    @Test func `a gRPC call that failed has its own status, in the colour of an error`() throws {
        let record = ModelFixture.record(1, "POST") { $0.grpc = GRPCOutcome(status: 14) }
        let model = ModelFixture.listing([record, ModelFixture.record(2)], Size(width: 80, height: 24))
        let screen = ConsoleView.draw(model)
        let y = Layout(model).list.y + 1
        let row = screen.row(y)
        let place = try #require(row.firstRange(of: " rpc14 "), "\(row)").lowerBound
        let column = row.distance(from: row.startIndex, to: place) + 1
        #expect(screen[column, y].style.foreground == model.look.theme.style(.serverError).foreground)
    }

    @Test(arguments: [40, 60, 80, 200])
    func `of a host in other letters the list shows both forms, or that of the name system`(_ width: Int) {
        for host in ["аррӏе.com", "xn--80ak6aa92e.com"] {
            let url = "http://a.example:9000/a/path/that/needs/all/of/its/room/and/more"
            let record = ModelFixture.record(1, "GET", url) { $0.url.host = host }
            let model = ModelFixture.listing([record], Size(width: width, height: 24))
            let row = ConsoleView.draw(model).row(Layout(model).list.y + 1)
            let hasBoth = row.contains("аррӏе.com (xn--80ak6aa92e.com):9000")
            #expect(width < 200 || hasBoth, "\(row)")
            #expect(hasBoth || !row.contains("аррӏе") && row.contains("xn--"), "\(row)")
        }
    }

    @Test func `letters of a name and its title together find no column`() {
        var model = model(80)
        model.press("O")
        model.type("zz")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice is open")
            return
        }
        #expect(picker.matches.isEmpty)
        let before = model.list.columns
        model.press("enter")
        #expect(model.list.columns == before)
    }

    @Test func `a client that was not found is said in its column, once the exchange is over`() {
        func cell(_ change: @escaping (inout ExchangeRecord) -> Void) -> String {
            SequenceView.process(ModelFixture.record(1) { change(&$0) })
        }
        #expect(cell { $0.clientAddress = "127.0.0.1:5000" } == "(not found)")
        #expect(cell { $0.clientAddress = "192.0.2.1:5000" }.isEmpty)
        #expect(
            cell {
                $0.clientAddress = "127.0.0.1:5000"
                $0.state = .inFlight
            }.isEmpty
        )
        #expect(cell { $0.extras.process = ClientProcess(id: 7, name: "curl") } == "curl 7")
    }
}
