import Description
import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Recording

struct TimelineTests {
    private static let start: Int64 = 1_790_000_000_000_000

    /// A recording of two hosts over a minute: one a second with b.example at each tenth, which failed.
    private static let records: [ExchangeRecord] = (0..<60).map { second in
        let isOther = second % 10 == 3
        let url = isOther ? "http://b.example/x" : "https://a.example/y"
        return ModelFixture.record(Int64(second + 1), "GET", url, status: isOther ? 500 : 200) {
            $0.startedAt = start + Int64(second) * 1_000_000
            $0.timings.total = Int64(second + 1) * 1_000
        }
    }

    private func model(
        _ size: Size = Size(width: 80, height: 24),
        _ look: Look = Look(),
        _ records: [ExchangeRecord] = records
    ) -> ConsoleModel {
        var model = ModelFixture.listing(records, size, source: .recorded(name: "x.sluice"), look: look)
        let effects = model.perform(.switchView, "timeline")
        #expect(effects.words == ["statistics"])
        Self.answer(&model, records)
        return model
    }

    private static func answer(_ model: inout ConsoleModel, _ records: [ExchangeRecord]) {
        var statistics = SessionStatistics()
        for record in records { statistics.add(.init(record)) }
        let answer = StatisticsAnswer(
            generation: model.list.generation,
            all: StatisticsRow("", statistics.all),
            hosts: statistics.rows,
            timeline: statistics.timeline
        )
        _ = model.update(.query(.statistics(answer)))
    }

    private static func answer(
        _ model: inout ConsoleModel,
        _ records: [ExchangeRecord],
        progress: Double?,
        scope: StatisticsScope? = nil
    ) -> [Effect] {
        var statistics = SessionStatistics()
        for record in records { statistics.add(.init(record)) }
        var answer = StatisticsAnswer(
            generation: model.list.generation,
            all: StatisticsRow("", statistics.all),
            hosts: statistics.rows,
            timeline: statistics.timeline
        )
        (answer.progress, answer.scope) = (progress, scope)
        answer.part = scope.map { _ in StatisticsRow("", statistics.all) }
        return model.update(.query(.statistics(answer)))
    }

    @Test func `the selected time is counted once all is counted, however many half counts came before`() throws {
        var model = model()
        #expect(model.perform(.filter, "a.example").words.contains("statistics"))
        #expect(Self.answer(&model, Array(Self.records.prefix(9)), progress: 0.5).isEmpty)
        #expect(Self.answer(&model, Self.records, progress: nil).words == ["statistics"])
        let scope = model.statisticsScope
        #expect(scope != nil && Self.answer(&model, Self.records, progress: nil, scope: scope).isEmpty)
        ModelFixture.answer(&model, Self.records)
        let counted = ConsoleView.draw(model).text
        #expect(!counted.contains("counting"))
        // While the next count runs, and while another time is counted, the last numbers stay.
        let row = try #require(counted.split(separator: "\n").first { $0.contains(" +") }, "\(counted)")
        #expect(Self.answer(&model, Self.records, progress: 0.5).isEmpty)
        #expect(ConsoleView.draw(model).text.contains(row), "\(counted)")
        // More traffic moves the selected time; it is counted again at the next tick, not at each answer.
        var more = Self.records
        more.append(ModelFixture.record(61) { $0.startedAt = Self.start + 600_000_000 })
        #expect(Self.answer(&model, more, progress: nil, scope: scope).isEmpty && model.statisticsScope != scope)
        #expect(!ConsoleView.draw(model).text.contains("counting"))
        #expect(model.update(.tick(model.now + TimelineState.pause)).words.contains("statistics"))
    }

    @Test(arguments: [60, 80, 84, 120])
    func `the table of :stats has a row for each host, with whole numbers`(_ width: Int) {
        var model = model(Size(width: width, height: 24))
        var statistics = SessionStatistics()
        for record in Self.records { statistics.add(.init(record)) }
        for number in Int64(1)...3 {
            let url = "https://a-very-long-host-name.of-a-region.of-a-provider.example.com/"
            statistics.add(.init(ModelFixture.record(100_000 + number, "GET", url)))
        }
        guard case .statisticsReport(_, _, _, let room)? = model.perform(.stats, nil).first else {
            Issue.record("no report is asked for")
            return
        }
        let document = StatisticsDocument.make(statistics, width: room)
        let rows = document.lines.dropLast().map(\.plain)
        #expect(rows.count == 5)
        for row in rows.dropFirst() { #expect(row.hasSuffix(" ms"), "\(row)") }
        for row in rows { #expect(width < 80 || row.count <= model.reportWidth, "\(row)") }
    }

    @Test(arguments: [true, false])
    func `each class has a sign of its own, with and without colours`(_ isUnicode: Bool) {
        let text = ConsoleView.draw(model(look: Look(theme: .plain, isUnicode: isUnicode))).text
        #expect(text.contains(isUnicode ? "█ 2xx" : "# 2xx") && !text.contains("4 4xx"))
        #expect(text.contains("4xx   5xx   ! failed"))
        let bars = text.split(separator: "\n").dropFirst(2).prefix(8)
        #expect(bars.contains { $0.contains("5") })
        #expect(text.contains("a.example"))
        #expect(text.contains("all, 2 hosts"))
        let view = text.split(separator: "\n").dropFirst().prefix(14).joined()
        if !isUnicode { #expect(!view.contains { !$0.isASCII }, "\(view)") }
    }

    private func model(look: Look) -> ConsoleModel { model(Size(width: 80, height: 24), look) }

    @Test func `a bucket's exchanges are shown in the sequence until the scope is taken away`() throws {
        var model = model()
        model.press("left", "left")
        let buckets = model.timelineBuckets(width: TimelineView.chartWidth(model))
        let bucket = buckets[model.selectedBucket(buckets)]
        #expect(model.selectedBucket(buckets) == buckets.count - 3)
        _ = model.press("enter")
        if bucket.counts.total == 0 {
            #expect(model.view == .timeline)
        } else {
            #expect(model.view == .sequence)
            #expect(model.list.query.period == bucket.span)
            #expect(ConsoleView.draw(model).text.contains("UTC"))
            let matches = Self.records.filter { model.list.query.wholeFilter.decides($0) == true }
            #expect(matches.count == bucket.counts.total)
        }
        ModelFixture.answer(&model, Self.records)
        model.press("\\")
        #expect(model.list.query.period == nil)
    }

    @Test func `a host of the table is focused, and the table is sorted`() {
        var model = model()
        model.press("up")
        #expect(model.timeline.part == .chart)
        model.press("down", "down")
        #expect(model.timeline.part == .hosts && model.timeline.host == 1)
        #expect(model.selectedHost == "b.example")
        _ = model.perform(.sort, "errors")
        #expect(model.timeline.hosts.map(\.name) == ["b.example", "a.example"])
        _ = model.perform(.sort, "host")
        #expect(model.timeline.hosts.map(\.name) == ["a.example", "b.example"])
        model.press("enter")
        #expect(model.list.query.focusedHosts == ["a.example"])
    }

    @Test func `commands for an exchange say that a time is none`() {
        var model = model()
        _ = model.perform(.copyCurl, nil)
        #expect(model.told.contains("No exchange is selected"))
        #expect(model.selectedID == nil)
    }

    @Test func `the worst class of a full column is always seen`() {
        var statistics = SessionStatistics()
        for number in Int64(1)...1_000 {
            statistics.add(
                .init(ModelFixture.record(number, status: number == 500 ? 503 : 200) { $0.startedAt = Self.start })
            )
        }
        let counts = statistics.timeline.buckets(1)[0].counts
        for height in 1...9 {
            let cells = TimelineView.cells(counts, most: 1_000, height: height)
            #expect(cells.count == height)
            #expect(cells.last == .serverError)
        }
    }

    @Test(arguments: [
        Size(width: 20, height: 8), Size(width: 40, height: 10), Size(width: 200, height: 60),
        Size(width: 12, height: 4),
    ])
    func `any size is drawn`(_ size: Size) {
        var model = model(size)
        model.press("left", "down", "G", "g", "right")
        _ = ConsoleView.draw(model)
    }

    @Test func `statistics are asked for what is marked, a filter or the list`() {
        var model = ModelFixture.listing(Self.records, Size(width: 80, height: 24))
        #expect(model.perform(.stats, "status:5xx").words == ["statistics of status:500..599"])
        #expect(model.perform(.stats, "staus:5").isEmpty)
        model.press("space")
        #expect(model.perform(.stats, nil).words == ["statistics of [60]"])
    }
}

struct ColumnChoiceTests {
    @Test func `columns are shown, hidden and moved where all are seen`() {
        var model = ModelFixture.listing(ModelFixture.plain(5), Size(width: 80, height: 24))
        model.press("O")
        let text = ConsoleView.draw(model).text
        #expect(text.contains("[x] method"))
        #expect(text.contains("[ ] process"))
        model.press("down", "space")
        #expect(model.list.columns == [.id, .status, .host, .path, .size, .time])
        model.press("home", "K")
        #expect(model.list.columns == [.id, .status, .host, .path, .size, .time])
        model.press("A")
        #expect(model.list.columns.isEmpty)
        model.press("down", "J", "esc")
        #expect(model.list.columns.prefix(3) == [.id, .method, .status] || model.list.columns.count == 7)
        #expect(model.overlays.isEmpty)
    }

    @Test func `what the new columns show`() {
        let record = ModelFixture.record(1, "GET", "https://a.example/") {
            $0.extras.process = ClientProcess(id: 77, name: "curl")
            $0.extras.annotation.comment = "look here"
            $0.serverAddress = "192.0.2.1:443"
            $0.clientVersion = .http2
            $0.upstreamVersion = .http11
        }
        var model = ModelFixture.listing([record], Size(width: 120, height: 24))
        _ = model.perform(.columns, "id scheme version process server start comment")
        let text = ConsoleView.draw(model).text
        for part in ["https", "2>1.1", "curl 77", "192.0.2.1:443", "START UTC", "look here"] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `TLS has a sign in a narrow column and the scheme in a wide one`() {
        let records = [
            ModelFixture.record(1, "GET", "http://a.example/", status: 301),
            ModelFixture.record(2, "GET", "https://a.example/"),
        ]
        let narrow = ConsoleView.draw(ModelFixture.listing(records, Size(width: 80, height: 24))).text
        #expect(narrow.contains("HOST (+ is TLS)"))
        #expect(narrow.contains(" +a.example") && narrow.contains("  a.example"))
        let wide = ConsoleView.draw(ModelFixture.listing(records, Size(width: 200, height: 24))).text
        #expect(wide.contains("https://a.example") && wide.contains("http://a.example"))
        #expect(LinearSentence.text(records[1]).hasSuffix(", TLS"))
        #expect(!LinearSentence.text(records[0]).contains("TLS"))
    }
}

struct FilterCompletionTests {
    private func model() -> ConsoleModel {
        ModelFixture.listing(
            [
                ModelFixture.record(1, "GET", "https://api.example.com/"),
                ModelFixture.record(2, "PUT", "https://apo.example.com/"),
                ModelFixture.record(3, "GET", "https://www.example.com/", status: 418),
            ],
            Size(width: 80, height: 24)
        )
    }

    private func completed(_ text: String) -> (text: String, candidates: [String]) {
        var model = model()
        model.press("/")
        model.type(text)
        model.press("tab")
        return (model.filter.line.text, model.filter.candidates)
    }

    @Test func `keys and values of the session are completed`() {
        #expect(completed("meth").text == "method:")
        #expect(completed("host:www").text == "host:www.example.com")
        let several = completed("host:a")
        #expect(several.text == "host:ap")
        #expect(several.candidates.sorted() == ["api.example.com", "apo.example.com"])
        #expect(completed("status:200,41").text == "status:200,418")
        #expect(completed("is:err").text == "is:error")
        #expect(completed("x (!method:PA").text == "x (!method:PATCH")
        #expect(completed("nothing").text == "nothing")
    }

    @Test func `a filter that is wrong has one explanation, in as many lines as it needs`() {
        var model = model()
        model.press("/")
        model.type("id:2 status:40x")
        let lines = ConsoleView.draw(model).text.split(separator: "\n").map(String.init)
        let error = lines.drop { !$0.hasPrefix("filter:") }.prefix(4).joined(separator: " ")
        #expect(error.contains("^"))
        #expect(error.contains("such as 200..299"))
    }

    @Test(arguments: [("grpc:ok", "grpc:0"), ("size:>1mb", "size:>=1000001"), ("host:a status:5xx", "status:500..599")])
    func `a term that excludes everything is said as it was typed`(_ typed: String, _ canonical: String) {
        let words = FilterWords.asTyped(canonical, in: typed)
        #expect(typed.contains(words) && words != canonical)
    }

    @Test func `what is sorted begins at its first row`() {
        var model = model()
        _ = model.perform(.sort, "time desc")
        let generation = model.list.generation
        _ = model.update(.query(.list(ListStatus(generation: generation, total: 0, sessionTotal: 3, progress: 0.5))))
        _ = model.update(.query(.list(ListStatus(generation: generation, total: 3, sessionTotal: 3))))
        #expect(model.list.selected == 2)
        model.isLinear = true
        #expect(model.perform(.list, "2").words == ["load 1..<3 #\(generation)"])
    }

    @Test func `errors mean the same in filter, jump and status line`() throws {
        var model = model()
        _ = model.perform(.jumpKind, "err")
        #expect(model.told.contains("400"))
        var summary = SessionSummary()
        summary.errors = 3
        _ = model.update(.query(.summary(summary)))
        #expect(StatusView.items(model).contains { $0.forms == ["errors 3"] })
        let errors = try Filter("is:error")
        #expect(Filter.errors == errors)
        _ = model.perform(.jumpKind, "slow")
        #expect(model.told.contains("1.0 s or more"))
    }
}
