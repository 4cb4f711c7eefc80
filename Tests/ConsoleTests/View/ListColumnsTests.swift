import Description
import HTTPModel
import Support
import Testing
import Text

@testable import Console
@testable import Terminal

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
        let arranged = ListColumns(model, width: 80)
        #expect(arranged.missing.isEmpty && arranged.drawn.map(\.column) == model.list.columns)
        #expect(arranged.drawn.reduce(-1) { $0 + $1.width + 1 } <= 80)
        let titles = ConsoleView.draw(model).row(Layout(model).list.y)
        for column in model.list.columns { #expect(titles.contains(column.title), "\(column): \(titles)") }
        #expect(ConsoleView.draw(model).text.contains("/items") && model.told.isEmpty)
        // With room, they are as wide as they can be.
        let wide = ListColumns(model, width: 160).drawn
        #expect(wide.first { $0.column == .server }?.width == 21)
    }

    @Test(arguments: [30, 40, 50, 60])
    func `what has no room is said, and the path is there`(_ width: Int) throws {
        var model = model(width)
        _ = model.perform(.columns, Self.many)
        let missing = ListColumns(model, width: width).missing
        #expect(!missing.isEmpty && !missing.contains(.path) && missing.last == .comment)
        let titles = ConsoleView.draw(model).row(Layout(model).list.y)
        #expect(titles.hasSuffix(" ›\(missing.count)"), "\(titles)")
        #expect(ConsoleView.draw(model).text.contains("/items"))
        #expect(model.told.hasPrefix("No room for ") && model.told.contains("comment"))
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
        for width in 20...200 { #expect(ListColumns(model(width), width: width).missing.isEmpty) }
    }

    @Test func `a host has the room that the paths leave over, and no more`() {
        let host = "a.long.localhost.example:21110"
        func row(_ path: String) -> String {
            let model = model(80, "http://\(host)\(path)")
            return ConsoleView.draw(model).row(Layout(model).list.y + 1)
        }
        #expect(ListColumns(model(80), width: 80).drawn.first { $0.column == .host }?.width == 16)
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

    @Test(arguments: [120, 139, 140, 200])
    func `from 120 columns on the time of day is there`(_ width: Int) {
        let columns = ListColumns(model(width), width: width).drawn.map(\.column)
        #expect(columns.contains(.start) && columns.contains(.waterfall) == (width >= 140))
    }

    @Test func `the time of day is added at 80 columns, too`() {
        var model = model(80)
        _ = model.perform(.columns, "+start")
        #expect(ListColumns(model, width: 80).missing.isEmpty)
        #expect(ConsoleView.draw(model).row(Layout(model).list.y).contains("START UTC"))
    }

    @Test func `a path is readable in list and tree, and the exchange keeps its own`() {
        let url = "https://a.example/caf%C3%A9/%1B%5Bm?q=%E6%97%A5"
        var model = ModelFixture.listing([ModelFixture.record(1, "GET", url)], Size(width: 80, height: 24))
        #expect(ConsoleView.draw(model).text.contains(" /café/%1B[m?q=日 "))
        #expect(model.list.selectedRecord?.url.description == url)
        model.press("tab")
        let node = StructureNode(site: "https://a.example", segments: ["caf%C3%A9"])
        let child = StructureChild(name: "caf%C3%A9", node: node, isLeaf: true, newest: ExchangeID(1), count: 1)
        let level = StructureLevel(node: .root, generation: model.list.generation, children: [child])
        _ = model.update(.query(.structure(level)))
        #expect(ConsoleView.draw(model).text.contains(" café ") && model.structure.selectedRow?.child.node == node)
    }

    @Test func `the row of a GraphQL request has its operation, that of a gRPC call its status and what it came to`() {
        let records = [
            ModelFixture.record(1, "POST", "https://a.example/graphql"),
            ModelFixture.record(2, "POST", "https://a.example/pkg.Shop/Buy") { $0.grpc = GRPCOutcome(status: 14) },
            ModelFixture.record(3, "POST", "https://a.example/pkg.Shop/See") { $0.grpc = GRPCOutcome(status: 0) },
        ]
        var model = ModelFixture.listing(records, Size(width: 120, height: 24))
        _ = model.update(.query(.operations(generation: model.list.generation, [ExchangeID(1): "mutation AddItem"])))
        let rows = (1...3).map { ConsoleView.draw(model).row(Layout(model).list.y + $0) }
        #expect(rows[0].contains("/graphql  mutation AddItem "))
        #expect(rows[1].contains(" rpc14 ") && rows[1].contains("/pkg.Shop/Buy  UNAVAILABLE "))
        #expect(rows[2].contains(" rpc0 ") && rows[2].contains("/pkg.Shop/See    "))
    }

    @Test(arguments: [ColorDepth.ansi8, .ansi16, .palette256], [Theme.dark, .light])
    func `scheme, host, path and query have colours of their own`(_ depth: ColorDepth, _ theme: Theme) throws {
        let records = [1, 2].map { ModelFixture.record($0, "GET", "https://a.example/caf%C3%A9/日本?q=1") }
        let look = Look(theme: theme, depth: depth)
        let model = ModelFixture.listing(records, Size(width: 80, height: 24), look: look)
        let screen = ConsoleView.draw(model)
        let y = Layout(model).list.y + 1
        func colour(_ text: String) throws -> Color {
            let place = try #require(screen.row(y).firstRange(of: text)).lowerBound
            let x = TextWidth.columns(screen.row(y)[..<place])
            return screen[x, y].style.degraded(to: depth).foreground
        }
        let colours = try ["a.example", "/café", "?q", "=1"].map(colour)
        #expect(Set(colours.prefix(3)).count == 3 && colours[2] == colours[3], "\(colours)")
        #expect(try colour("本") == colours[1])
    }

    // MARK: - Waterfall

    private func bars(_ records: [ExchangeRecord], _ width: Int = 40) -> [String] {
        let axis = TimeAxis(records, isLive: true)
        return records.map { axis.bar($0, width: width) }
    }

    private func record(
        _ start: Int64,
        _ time: Int64?,
        _ change: (inout ExchangeRecord) -> Void = { _ in }
    ) -> ExchangeRecord {
        ModelFixture.record(1) {
            $0.startedAt = ModelFixture.now + start * 1_000
            $0.timings.total = time.map { $0 * 1_000 }
            if time == nil { $0.state = .inFlight }
            change(&$0)
        }
    }

    @Test func `the waterfall has half of what is beyond the usual columns`() {
        func waterfall(_ width: Int) -> Int? {
            ListColumns(model(width), width: width).drawn.first { $0.column == .waterfall }?.width
        }
        #expect(waterfall(140) == 20 && waterfall(200) == 50)
    }

    @Test func `one late exchange leaves the bars of the others as they are`() {
        let early = [record(0, 100), record(50, 200), record(200, 20)]
        let alone = bars(early)
        let lengths = alone.map { $0.count { $0 == "▬" } }
        #expect(lengths == [16, 32, 3])
        let late = bars(early + [record(3_600_000, 30)])
        for (before, after) in zip(lengths, late.map { $0.count { $0 == "▬" } }) { #expect(abs(before - after) <= 5) }
        #expect(late[3].hasSuffix("▬▬") && late[3].hasPrefix(String(repeating: " ", count: 34)))
    }

    @Test func `what is open, a tunnel or a stream takes no room from the others`() {
        let open = bars([record(0, nil), record(600_000, 100), record(600_100, 50)])
        #expect(open[0] == String(repeating: "▬", count: 40))
        #expect(open[1].count { $0 == "▬" } > 20)
        let tunnel = bars([record(0, 3_600_000) { $0.kind = .webSocket }, record(600_000, 100), record(600_100, 50)])
        #expect(tunnel[0].count == 40 && tunnel[1].count { $0 == "▬" } > 20)
    }

    @Test func `every bar is within its column, whatever the times are`() {
        let times: [(Int64, Int64?)] = [(0, 0), (0, 0), (-9_000_000_000, 1), (5, .max / 4_000), (7, nil), (9, -5)]
        for width in [1, 6, 20, 60] {
            for bar in bars(times.map { record($0.0, $0.1) }, width) {
                #expect(bar.count <= width && bar.last == "▬")
            }
        }
        #expect(bars([]).isEmpty && bars([record(0, 0)]) == ["▬"])
    }
}
