import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Description

/// Request and response beside each other, finding while typing, differences, and what the pages offer to do.
struct DetailPageTests {
    private static let wide = Size(width: 170, height: 30)

    private static func document(_ page: DetailPage, _ lines: [String]) -> DetailDocument {
        var document = DetailDocument(lines: lines)
        (document.page, document.bodyForm) = (page, page == .difference ? nil : .pretty)
        return document
    }

    private static func list(_ size: Size = wide) -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(3), size)
    }

    private static func numbered(_ page: DetailPage, _ count: Int = 60) -> DetailDocument {
        document(page, (0..<count).map { "\(page.rawValue) line \($0)" })
    }

    /// Answers as the builder does: with the other page if there is room for it.
    private static func answer(
        _ model: inout ConsoleModel,
        _ page: DetailPage = .response,
        _ pages: [DetailPage] = [.overview, .request, .response]
    ) {
        guard let id = model.detail.id else { return }
        let other = model.detail.options.besideWidth == nil ? nil : page.counterpart.map { numbered($0) }
        let generation = model.detail.generation
        model.answer { $0.show(numbered(page), beside: other, pages, of: id, generation) }
    }

    private static func opened(_ size: Size = wide) -> ConsoleModel {
        var model = list(size)
        _ = model.perform(.layout, "detail")
        answer(&model)
        return model
    }

    private static func rows(_ model: ConsoleModel) -> [String] {
        let screen = ConsoleView.draw(model)
        return (0..<model.size.height).map { screen.row($0) }
    }

    // MARK: - Side by side

    @Test func `request and response are beside each other where there is room, the request at the left`() {
        for (width, isBeside) in [(80, false), (159, false), (160, true), (200, true)] {
            let model = Self.opened(Size(width: width, height: 30))
            let row = Self.rows(model).first { $0.contains("response line 0") } ?? ""
            #expect(row.contains("request line 0") == isBeside, "\(width)")
            guard isBeside else { continue }
            let parts = row.split(separator: "│")
            #expect(parts.count == 2 && parts[0].contains("request line 0") && parts[1].contains("response line 0"))
            #expect(model.detail.options.besideWidth == (width - 1) / 2 - 2)
        }
        // The list takes too much of a screen of that width.
        var model = Self.list(Size(width: 200, height: 30))
        model.press("enter")
        #expect(model.detail.options.besideWidth == nil)
    }

    @Test func `keys, the number of a page and the mouse go from one half to the other, and each keeps its place`() {
        var model = Self.opened()
        model.press("G")
        #expect(Self.rows(model).contains { $0.contains("> response line 59") })
        #expect(model.press("tab").isEmpty && model.detail.page == .request && model.view == .sequence)
        #expect(Self.rows(model).contains { $0.contains("> request line 0") && $0.contains("response line") })
        model.press("down", "tab")
        #expect(Self.rows(model).contains { $0.contains("> response line 59") })
        model.press("left")
        #expect(Self.rows(model).contains { $0.contains("> request line 1") })
        model.press("3")
        #expect(model.detail.page == .response && model.detail.text.reading.cursor.line == 59)
        let y = Layout(model).detail.y + 3
        _ = model.update(.input(.mouse(MouseEvent(.press, x: 10, y: y))))
        #expect(model.detail.page == .request && model.detail.text.reading.cursor.line == 2)
        _ = model.update(.input(.mouse(MouseEvent(.wheelUp, x: 120, y: y))))
        #expect(model.detail.page == .response && model.detail.text.reading.top.line < 40)
        // A page of its own takes both halves; tab changes the view there.
        _ = model.press("1")
        Self.answer(&model, .overview)
        #expect(model.detail.beside == nil)
        model.press("tab")
        #expect(model.view == .structure)
    }

    @Test func `an answer that was asked for before the keys went to the other half does not take them back`() {
        var model = Self.opened()
        model.press("down", "tab")
        Self.answer(&model, .response)
        #expect(model.detail.page == .request && model.detail.beside?.shown?.page == .response)
        #expect(model.detail.beside?.reading.cursor.line == 1)
        // The next exchange opens with the keys where they are.
        model.press("backspace")
        Self.answer(&model, .request)
        #expect(model.detail.page == .request && model.detail.beside?.reading.cursor.line == 0)
        // One without a response has the whole width.
        model.press("space")
        let id = model.detail.id ?? ExchangeID(1)
        model.answer { $0.show(Self.numbered(.request), [.overview, .request], of: id, $0.detail.generation) }
        #expect(!Self.rows(model).contains { $0.contains("│") })
    }

    @Test func `a text is found in both halves, and the keys go to the one that has it`() {
        var model = Self.opened()
        _ = model.perform(.findInDetail, "request line 4")
        #expect(model.detail.page == .request && model.told == "Match 1 of 11 (n/N)")
        _ = model.perform(.findInDetail, "line 7")
        #expect(model.detail.page == .request)
        #expect(Self.rows(model).contains { $0.contains("» request line 7") && $0.contains("» response line 7") })
    }

    @Test func `a page that is chosen for an exchange is shown; the next one may show its messages instead`() {
        var model = Self.opened(Size(width: 100, height: 30))
        model.press("3")
        #expect(model.detail.options.page == .response && !model.detail.options.prefersMessages)
        Self.answer(&model)
        model.press("backspace")
        #expect(model.detail.options.page == .response && model.detail.options.prefersMessages)
        model.press("3")
        #expect(!model.detail.options.prefersMessages)
    }

    // MARK: - Finding while typing

    @Test func `what is typed is marked at once and scrolled to, and escape goes back`() {
        var model = Self.opened(Size(width: 80, height: 24))
        model.press("down", "f")
        model.type("line 4")
        let typed = Self.rows(model)
        #expect(typed.contains { $0.contains("» response line 4") } && typed.contains { $0.contains("Match 1 of 11") })
        model.type("7")
        #expect(Self.rows(model).contains { $0.contains("» response line 47") })
        model.type("x")
        #expect(Self.rows(model).contains { $0.contains("No match") } && model.detail.text.reading.cursor.line == 1)
        model.press("esc")
        #expect(model.detail.text.reading.cursor.line == 1)
        #expect(model.detail.text.found == nil && model.detail.pattern == nil)
        // What was searched for before is marked again.
        _ = model.perform(.findInDetail, "line 3")
        let before = model.detail.text.reading
        model.press("/", "ctrl-u")
        model.type("line 55")
        #expect(model.detail.text.reading != before)
        model.press("esc")
        #expect(model.detail.text.reading == before && model.detail.text.found?.all.count == 11)
        model.press("/", "ctrl-u")
        model.type("line 55")
        model.press("enter")
        #expect(model.told == "Match 1 of 1 (n/N)" && model.detail.text.reading.cursor.line == 55)
    }

    @Test func `the same in a report`() {
        var model = Self.list(Size(width: 80, height: 24))
        let lines = (0..<60).map { "line \($0)" }
        model.answer { $0.report("A report", DetailDocument(lines: lines)) }
        model.press("/")
        model.type("line 59")
        #expect(Self.rows(model).contains { $0.contains("» line 59") })
        model.press("esc")
        guard case .report(let report)? = model.overlays.last else {
            Issue.record("the report is gone")
            return
        }
        #expect(report.text.found == nil && report.text.reading.cursor.line == 0)
    }

    // MARK: - Differences

    @Test func `n goes from difference to difference of a comparison and says which it is`() {
        func line(_ sign: String, _ role: Role, _ text: String) -> DetailLine {
            DetailLine([Span(sign + " ", role), Span(text)])
        }
        var lines = (0..<30).map { DetailLine([Span("same \($0)", .faint)]) }
        lines += [line("~", .changed, "first"), line("~", .changed, "second"), line("~", .faint, "date")]
        lines += (0..<30).map { DetailLine([Span("same \($0)", .faint)]) }
        lines += [line("-", .removed, "third"), line("-", .removed, "its end"), line("+", .added, "new")]
        lines += [DetailLine([Span("same", .faint)]), line("+", .added, "last")]
        var document = DetailDocument(lines: lines)
        document.page = .difference
        var model = Self.list(Size(width: 80, height: 24))
        model.answer { $0.report("1 and 2 compared", document, topic: "repeat-and-compare") }
        #expect(Self.rows(model).contains { $0.contains("n N difference") })
        for (key, number, text) in [
            ("n", 1, "first"), ("n", 2, "second"), ("n", 3, "third"), ("n", 4, "last"), ("n", 1, "first"),
            ("N", 4, "last"), ("N", 3, "third"),
        ] {
            model.press(key)
            #expect(model.told == "Difference \(number) of 4 (n/N)")
            #expect(Self.rows(model).contains { $0.contains(text) && $0.contains(">") }, "\(text)")
        }
        // A text that is searched for comes first.
        _ = model.perform(.findInDetail, "same 7")
        #expect(model.told == "Match 1 of 2 (n/N)")
        var other = Self.list()
        other.answer { $0.report("Help", DetailDocument(lines: ["a"])) }
        other.press("n")
        #expect(other.told.hasPrefix("No search yet"))
    }

    // MARK: - A server that was not verified

    private static let unverified = ModelFixture.record(1, status: 502) {
        $0.state = .failed
        let option = ExchangeFailure.skippingVerification(of: "other.example")
        $0.failure = ExchangeFailure(.tls, "The certificate is self-signed. Go on with \(option).")
    }

    @Test func `a key on an exchange whose server was not verified goes on without verifying it`() {
        var model = ModelFixture.listing([Self.unverified], Size(width: 100, height: 30))
        #expect(FooterView.hints(model).first.map { "\($0.key) \($0.word)" } == "ctrl-t trust anyway")
        #expect(model.palette.matches.first?.value == "insecure-host")
        #expect(model.press("ctrl-t").words == ["verify or not other.example"])
        model.press("enter")
        #expect(model.detail.options.wayToSkip == "ctrl-t")
        #expect(model.press("ctrl-t").words == ["verify or not other.example"])
        #expect(model.perform(.insecureHost, "third.example").words == ["verify or not third.example"])
        // The next one succeeds; there the key verifies again.
        var next = ModelFixture.listing([ModelFixture.record(2)], Size(width: 100, height: 30))
        #expect(next.press("ctrl-t").words == ["verify or not api.example.com"])
        #expect(FooterView.hints(next).first?.word != "trust anyway")
        var plain = ModelFixture.listing([ModelFixture.record(3, "GET", "http://a.example/")], Self.wide)
        #expect(plain.press("ctrl-t").isEmpty && plain.told.contains("plain HTTP"))
        let recording = ConsoleModel.Source.recorded(name: "old.sluice")
        var old = ModelFixture.listing([Self.unverified], Self.wide, source: recording)
        #expect(old.press("ctrl-t").isEmpty && FooterView.hints(old).first?.word != "trust anyway")
        old.press("enter")
        #expect(old.detail.options.wayToSkip == nil)
    }

    // MARK: - Messages of Sluice; files of rules

    @Test func `the page of notices has their times, and not the keys that mean nothing`() {
        var model = Self.list(Size(width: 100, height: 24))
        _ = model.update(.said("The file was written.", .info))
        model.press("D", "enter")
        Self.answer(&model)
        model.press("esc", "a", "z", "@")
        let rows = Self.rows(model)
        let time = Timestamp.timeOfDay(ModelFixture.now)
        #expect(rows.contains { $0.contains("\(time)  The file was written.") })
        #expect(!rows.contains { $0.contains("does nothing") })
    }

    @Test func `a key in the panel opens the file that a rule answers from`() {
        var model = Self.list()
        let text = """
            version: 1
            map-local:
              - { from: "https://a.example/x", to: fixtures/x.json }
              - { from: "https://a.example/y/*", to: fixtures/ }
            """
        model.answer { $0.takeOver([ProfileSource(file: "/home/ann/rules.yaml", text: text)], nil) }
        _ = model.perform(.panel, "map-local")
        #expect(Self.rows(model).contains { $0.contains("f edit file") })
        guard case .terminal(.editFile("/home/ann/fixtures/x.json"))? = model.press("f").last else {
            Issue.record("no editor opens")
            return
        }
        #expect(model.press("down", "f").isEmpty && model.told == "This rule does not name a single file.")
        model.press("esc")
        _ = model.perform(.panel, "block")
        #expect(!Self.rows(model).contains { $0.contains("f edit file") })
    }
}
