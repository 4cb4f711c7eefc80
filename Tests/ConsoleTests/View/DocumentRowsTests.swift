import HTTPModel
import Support
import Terminal
import Testing
import Text

@testable import Console
@testable import Description

struct DocumentRowsTests {
    /// A document with lines of all kinds: long ones, wide characters, words that have no room in a row, folded blocks.
    private static func document(_ random: inout SplitMix) -> DetailDocument {
        let words = [
            "a", "word", "日本語", "e\u{301}", "👩‍👩‍👧‍👦", " ", "  ", "-", String(repeating: "x", count: 40), "\u{7}", "\t", "",
        ]
        var lines: [DetailLine] = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let most = Int.random(in: 0...10, using: &random) == 0 ? 200 : 12
            let spans = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let count = Int.random(in: 0...most, using: &random)
                let separator = Bool.random(using: &random) ? " " : ""
                return Span(
                    (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: separator)
                )
            }
            lines.append(DetailLine(spans, indent: Int.random(in: 0...8, using: &random)))
        }
        for line in lines.indices where Int.random(in: 0..<6, using: &random) == 0 && line + 1 < lines.count {
            let end = Int.random(in: line + 2...lines.count + 1, using: &random)
            lines[line].fold = Fold(end: min(end, lines.count), summary: "( \(end - line) lines )")
        }
        return DetailDocument(lines: lines)
    }

    private static func text(_ rows: DocumentRows, _ place: ReadingPlace) -> String {
        text(rows.rows(place.line)[place.row], rows.spans(place.line))
    }

    private static func text(_ part: Range<TextMark>, _ spans: [Span]) -> String {
        var text: [UInt8] = []
        for (number, span) in spans.enumerated() {
            for (offset, byte) in span.text.utf8.enumerated()
            where part.contains(TextMark(span: number, offset: offset)) {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// All rows there are, in order.
    private static func all(_ rows: DocumentRows) -> [ReadingPlace] {
        rows.visible.indices.flatMap { line in (0..<rows.count(line)).map { ReadingPlace(line: line, row: $0) } }
    }

    /// The rows on the screen.
    private static func shown(_ reading: ReadingState, _ rows: DocumentRows, _ height: Int) -> [ReadingPlace] {
        (0..<height).map { rows.moved(reading.top, by: $0) }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    @Test(arguments: 0..<60)
    func `every page follows the one before, down and up, and nothing is left out`(_ seed: UInt64) {
        var random = SplitMix(seed)
        let document = Self.document(&random)
        let height = Int.random(in: 1...20, using: &random)
        let rect = Rect(x: 0, y: 0, width: Int.random(in: 12...90, using: &random), height: height)
        var reading = ReadingState()
        for line in document.lines.indices where document.lines[line].fold != nil && Bool.random(using: &random) {
            reading.folds.insert(line)
        }
        let rows = DocumentView.rows(document, reading.folds, wraps: true, in: rect)
        let all = Self.all(rows)
        for direction in [1, -1] {
            var seen: [ReadingPlace] = []
            for _ in 0...all.count {
                let page = Self.shown(reading, rows, height)
                #expect(page.contains(reading.cursor))
                // What is there already was the end of the page before.
                let new = page.filter { !seen.contains($0) }
                seen = direction > 0 ? seen + new : new + seen
                let screen = Self.draw(document, reading, rect)
                for (row, place) in page.enumerated() {
                    let text = CellBuffer.text(Self.text(rows, place), width: rect.width)
                    #expect(
                        screen.row(row).dropFirst(DocumentView.margin).filter { $0 != " " }
                            == text.filter { $0 != " " },
                        "seed \(seed)"
                    )
                }
                let before = reading
                reading.scroll(direction * max(1, height - 1), in: rows, height: height, follows: true)
                if before == reading { break }
            }
            #expect(seen == all, "seed \(seed), direction \(direction)")
        }
        #expect(reading.cursor == ReadingPlace() && reading.top == ReadingPlace())
        for place in all {
            #expect(reading.cursor == place && Self.shown(reading, rows, height).contains(place))
            reading.move(1, in: rows, height: height)
        }
        reading.moveToEdge(first: true, in: rows, height: height)
        reading.moveToEdge(first: false, in: rows, height: height)
        #expect(reading.cursor == all.last && Self.shown(reading, rows, height).last == all.last)
    }

    private static func draw(
        _ document: DetailDocument,
        _ reading: ReadingState,
        _ rect: Rect,
        wraps: Bool = true
    ) -> CellBuffer {
        var screen = CellBuffer(Size(width: rect.width, height: rect.height))
        let text = OpenText(document: document, reading: reading)
        DocumentView(text, wraps: wraps, hasCursor: true, Look(theme: .plain), in: rect)?.draw(on: &screen)
        return screen
    }

    @Test(arguments: 0..<60)
    func `a line's rows are its text, and only a space at a row's end is in none`(_ seed: UInt64) {
        var random = SplitMix(seed &* 31 &+ 7)
        for line in Self.document(&random).lines {
            let width = Int.random(in: 2...60, using: &random)
            let indent = min(line.indent, width / 2)
            let rows = LineBreaks.rows(of: line.spans, indent: indent, width: width)
            let before = TextMark(span: 0, offset: 0)..<(rows.first?.lowerBound ?? TextMark(span: 9, offset: 0))
            #expect(Self.text(before, line.spans).isEmpty)
            for (row, next) in zip(rows, rows.dropFirst()) {
                let between = Self.text(row.upperBound..<next.lowerBound, line.spans)
                #expect(between.isEmpty || between == " ")
                let columns = Self.text(row, line.spans).columns
                #expect(columns <= width - indent || Self.text(row, line.spans).count == 1, "seed \(seed)")
                #expect(columns > 0)
            }
        }
    }

    @Test(arguments: 0..<30)
    func `finding goes from each match to the next and back, unfolds it and shows it`(_ seed: UInt64) throws {
        var random = SplitMix(seed &+ 900)
        let document = Self.document(&random)
        let height = Int.random(in: 1...9, using: &random)
        let places = FoundPlaces(try #require(SoughtText("WORD")), in: document).all
        var reading = ReadingState()
        reading.folds = Set(document.lines.indices.filter { document.lines[$0].fold != nil })
        let width = Int.random(in: 8...70, using: &random)
        for forward in [true, false] {
            var seen: [FoundPlace] = []
            for _ in places {
                let rows = DocumentRows(document, reading.folds, width: width)
                let gone = reading.goToMatch(forward: forward, among: places, in: rows, height: height)
                let index = try #require(gone)
                let now = DocumentRows(document, reading.folds, width: width)
                #expect(now.visible[reading.cursor.line] == places[index].line)
                #expect(now.extent(reading.cursor).contains(places[index].range.lowerBound))
                #expect(Self.shown(reading, now, height).contains(reading.cursor))
                seen.append(places[index])
            }
            #expect(Set(seen) == Set(places), "seed \(seed)")
        }
    }

    private static func found(_ text: String, in spans: [Span]) throws -> [String] {
        let sought = try #require(try SoughtText.reading(text))
        return try sought.ranges(in: spans).map { self.text($0, spans) }
    }

    @Test func `a text is found over spans, in any case`() throws {
        let spans = [Span("İx Stra"), Span(""), Span("SSE straße "), Span("STRASSE")]
        let sought = try #require(SoughtText("strasse"))
        #expect(
            try sought.ranges(in: spans) == [
                TextMark(span: 0, offset: 4)..<TextMark(span: 2, offset: 3),
                TextMark(span: 3, offset: 0)..<TextMark(span: 3, offset: 7),
            ]
        )
        #expect(try Self.found("X s", in: spans) == ["x S"])
        #expect(try Self.found("İX", in: spans) == ["İx"])
        #expect(SoughtText("") == nil)
    }

    @Test func `an expression between slashes is one, exact in case unless it says otherwise`() throws {
        let spans = [Span("id=12 "), Span("ID=3"), Span("45 /id/")]
        #expect(try Self.found(#"/id=\d+/"#, in: spans) == ["id=12"])
        #expect(try Self.found(#"/(?i)id=\d+/"#, in: spans) == ["id=12", "ID=345"])
        #expect(try Self.found("/x*/", in: spans) == [])
        // Text, as one slash is no pair, and as there is nothing between them.
        #expect(try Self.found("/id", in: spans) == ["/id"])
        #expect(try Self.found("//", in: [Span("a//b")]) == ["//"])
        let error = #expect(throws: ConsoleError.self) { try SoughtText.reading("/a(b/") }
        #expect(error?.description.hasPrefix("character 5 of the expression: ") == true, "\(error.debugDescription)")
    }

    @Test func `an expression that takes too much work is given up, and says where`() throws {
        let line = DetailLine([Span(String(repeating: "a", count: 60) + "!")])
        let document = DetailDocument(lines: [DetailLine([Span("aa")])] + Array(repeating: line, count: 50))
        let found = FoundPlaces(try #require(try SoughtText.reading("/(a|aa)+$/")), in: document)
        #expect(found.all.map(\.line) == [0])
        #expect((found.end ?? 99) < 50)
    }

    @Test func `rows are broken between words, and within words that are long`() {
        func rows(_ width: Int, _ texts: String...) -> [String] {
            let spans = texts.map { Span($0) }
            return LineBreaks.rows(of: spans, indent: 0, width: width).map { Self.text($0, spans) }
        }
        #expect(rows(10, "one two three four") == ["one two ", "three four"])
        #expect(rows(7, "one two three") == ["one two", "three"])
        #expect(rows(4, "abcdefgh") == ["abcd", "efgh"])
        #expect(rows(6, "abcd", "efgh") == ["abcd", "efgh"])
        #expect(rows(6, "ab ", String(repeating: "x", count: 30)).first == "ab xxx")
        #expect(rows(5, "日本語文字") == ["日本", "語文", "字"])
        #expect(rows(1, "日本") == ["日", "本"])
        #expect(rows(5, "") == [""])
        #expect(rows(3, "abc ", "def") == ["abc", "def"])
        let path = "/" + String(repeating: "x", count: 30)
        let spans = [Span("cp \(path) \(path)\(path) to")]
        let kept = LineBreaks.rows(of: spans, indent: 0, width: 32, keepsWords: true).map { Self.text($0, spans) }
        #expect(kept.prefix(2) == ["cp ", "\(path) "] && kept[2] == (path + path).prefix(32))
    }

    // MARK: - In the console

    /// A console of 80×24 with a document open.
    private static func open(_ document: DetailDocument) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.press("enter")
        let generation = model.detail.generation
        model.answer { $0.show(document, [.overview, .response], of: ExchangeID(3), generation) }
        return model
    }

    /// What is on the screen after each press of a key, until it changes nothing.
    private static func pages(_ model: inout ConsoleModel, _ key: String) -> [String] {
        var pages = [ConsoleView.draw(model).text]
        for _ in 0..<500 {
            model.press(key)
            let page = ConsoleView.draw(model).text
            if page == pages.last { break }
            pages.append(page)
        }
        return pages
    }

    @Test(arguments: ["pgdn", "j"])
    func `long lines can all be read at 80 columns`(_ key: String) {
        let lines = (100..<160).map { number in
            DetailLine([Span((0..<20).map { "\(number)-\($0 + 10)xxxx" }.joined(separator: " "))])
        }
        var model = Self.open(DetailDocument(lines: lines))
        let text = Self.pages(&model, key).joined()
        for number in 100..<160 {
            for part in 10..<30 { #expect(text.contains("\(number)-\(part)x"), "\(number)-\(part)") }
        }
        let up = Self.pages(&model, "pgup").joined()
        for number in 100..<160 { #expect(up.contains("\(number)-29x")) }
    }

    @Test func `a line of a megabyte is read to its end, and what is found in it is on the screen`() {
        let items = (0..<60_000).map { "{\"id\":\($0 + 100_000)}" }
        let line = DetailLine([Span("[" + items.joined(separator: ",") + "]")])
        var model = Self.open(DetailDocument(lines: [line]))
        model.press("G")
        #expect(ConsoleView.draw(model).text.contains("{\"id\":159999}]"))
        _ = model.perform(.findInDetail, "130000")
        #expect(model.told.hasPrefix("Match 1 of 1"))
        let row = ConsoleView.draw(model).text.split(separator: "\n").first { $0.hasPrefix("»") }
        #expect(row?.contains("130000") == true)
        model.press("g")
        #expect(ConsoleView.draw(model).text.contains("[{\"id\":100000}"))
    }

    @Test func `lines that are not wrapped are read sideways, and a match is brought into view`() {
        let items = (0..<200).map { "item\($0)" }.joined(separator: " ")
        var model = Self.open(DetailDocument(lines: [DetailLine([Span(items)]), DetailLine([Span("short")])]))
        model.press("~")
        #expect(!model.wraps && model.told.hasPrefix("Long lines are not wrapped"))
        var seen = ConsoleView.draw(model).text
        #expect(!seen.contains("item199"))
        for _ in 0..<60 {
            model.press("right")
            seen += ConsoleView.draw(model).text
        }
        for number in 0..<200 { #expect(seen.contains("item\(number) ") || number == 199) }
        #expect(seen.contains("item199"))
        #expect(model.detail.options.page == .overview)
        for _ in 0..<60 { model.press("left") }
        #expect(model.detail.text.reading.left == 0)
        _ = model.perform(.findInDetail, "item150")
        #expect(ConsoleView.draw(model).text.contains("item150"))
        model.press("~")
        #expect(model.wraps && model.detail.text.reading.left == 0)
    }

    @Test func `the wheel scrolls by rows, and a click puts the cursor into the row`() {
        let long = (0..<40).map { "part\($0)" }.joined(separator: " ")
        var model = Self.open(DetailDocument(lines: (0..<9).map { DetailLine([Span("\($0) " + long)]) }))
        let body = Layout(model).detail
        _ = model.update(.input(.mouse(MouseEvent(.wheelDown, x: 5, y: body.y + 2))))
        #expect(model.detail.text.reading.top == ReadingPlace(line: 0, row: 3))
        #expect(model.detail.text.reading.cursor == model.detail.text.reading.top)
        _ = model.update(.input(.mouse(MouseEvent(.press, x: 5, y: body.y + 2))))
        #expect(model.detail.text.reading.cursor == ReadingPlace(line: 1, row: 0))
        for _ in 0..<20 { _ = model.update(.input(.mouse(MouseEvent(.wheelUp, x: 5, y: body.y + 2)))) }
        #expect(model.detail.text.reading.top == ReadingPlace())
    }

    @Test(arguments: [Size(width: 80, height: 24), Size(width: 40, height: 10), Size(width: 30, height: 5)])
    func `a report is read page by page without a gap`(_ size: Size) {
        let lines = (100..<150).map { DetailLine([Span("\($0)- and some words more \($0)= to the end \($0)+")]) }
        for key in ["pgdn", "j"] {
            var model = ModelFixture.started(size)
            model.answer { $0.report("A report", DetailDocument(lines: lines)) }
            let text = Self.pages(&model, key).joined()
            for number in 100..<150 {
                for sign in ["-", "=", "+"] { #expect(text.contains("\(number)\(sign)"), "\(number)\(sign) \(size)") }
            }
        }
    }

    @Test func `what is cut in a line that is not broken has a sign`() {
        let line = DetailLine([Span(String(repeating: "x", count: 9)), Span("more")], wraps: false)
        let rect = Rect(x: 0, y: 0, width: 11, height: 1)
        #expect(Self.draw(DetailDocument(lines: [line]), ReadingState(), rect).row(0) == "> xxxxxxxx…")
    }

    @Test func `a line that goes on has a sign, and one that is not wrapped a sign at each edge where it goes on`() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz"
        let document = DetailDocument(lines: [
            DetailLine([Span(text)], fold: Fold(end: 2, summary: "")), DetailLine([]),
        ])
        let rect = Rect(x: 0, y: 0, width: 14, height: 3)
        let wrapped = Self.draw(document, ReadingState(), rect)
        #expect((0..<3).map { wrapped.row($0) } == [">▾0123456789ab", "↳ cdefghijklmn", "↳ opqrstuvwxyz"])
        func unwrapped(_ left: Int) -> String {
            var reading = ReadingState()
            reading.left = left
            return Self.draw(document, reading, rect, wraps: false).row(0)
        }
        #expect(unwrapped(0) == ">▾0123456789a›")
        #expect(unwrapped(10) == ">▾‹bcdefghijk›")
        #expect(unwrapped(24) == ">▾‹pqrstuvwxyz")
        var screen = CellBuffer(Size(width: 14, height: 3))
        let look = Look(theme: .plain, isUnicode: false)
        var reading = ReadingState()
        reading.left = 10
        let open = OpenText(document: document, reading: reading)
        DocumentView(open, wraps: false, hasCursor: true, look, in: rect)?.draw(on: &screen)
        #expect(screen.row(0) == ">-<bcdefghijk>")
    }

    @Test func `what is found is marked, and the match that was gone to otherwise, with colours and without`() throws {
        let spans = [Span("one t"), Span("wo one"), Span(" one")]
        let document = DetailDocument(lines: [DetailLine(spans)])
        let found = FoundPlaces(try #require(SoughtText("ONE")), in: document)
        let rect = Rect(x: 0, y: 0, width: 20, height: 1)
        for theme in Theme.allCases {
            var reading = ReadingState()
            reading.match = found.all[1]
            var screen = CellBuffer(Size(width: 20, height: 1))
            let text = OpenText(document: document, reading: reading, found: found)
            DocumentView(text, wraps: true, hasCursor: false, Look(theme: theme), in: rect)?.draw(on: &screen)
            let (other, current) = (theme.found(isCurrent: false), theme.found(isCurrent: true))
            #expect(other != current && other != .plain)
            let styles = (2..<18).map { screen[$0, 0].style }
            for (column, style) in styles.enumerated() {
                let expected = column < 3 || 12..<15 ~= column ? other : 8..<11 ~= column ? current : .plain
                #expect(style == expected, "\(theme) \(column)")
            }
        }
    }
}

extension CellBuffer {
    /// A text as it is drawn.
    fileprivate static func text(_ text: String, width: Int) -> String {
        var screen = CellBuffer(Size(width: width, height: 1))
        screen.write(text, x: 0, y: 0)
        return screen.row(0)
    }
}
