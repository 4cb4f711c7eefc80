import Description
import Recording
import Terminal
import Text

struct TimelineView {
    struct Places {
        private(set) var legend = Rect(x: 0, y: 0, width: 0, height: 0)
        /// The area of the chart, right of its scale.
        private(set) var chart = Rect(x: 0, y: 0, width: 0, height: 0)
        private(set) var axis = Rect(x: 0, y: 0, width: 0, height: 0)
        private(set) var titles = Rect(x: 0, y: 0, width: 0, height: 0)
        /// The rows of sums: all exchanges, and the selected exchanges.
        private(set) var sums = Rect(x: 0, y: 0, width: 0, height: 0)
        private(set) var hosts = Rect(x: 0, y: 0, width: 0, height: 0)

        init(_ model: ConsoleModel) {
            var rest = Layout(model).list
            (legend, rest) = rest.splitTop(1)
            guard rest.height >= 4 else { return }
            // The chart leaves room for the table's titles, its two sums and three hosts, if the screen is high enough.
            let height = min(max(2, rest.height / 2), max(2, rest.height - 7), 16)
            var upper: Rect
            (upper, rest) = rest.splitTop(height)
            (upper, axis) = upper.splitBottom(1)
            chart = upper.splitLeft(min(6, upper.width / 3)).rest
            (titles, rest) = rest.splitTop(1)
            (sums, hosts) = rest.splitTop(2)
        }
    }

    private let model: ConsoleModel
    private let places: Places
    private let buckets: [Timeline.Bucket]
    private var theme: Theme { model.look.theme }
    private var isUnicode: Bool { model.look.isUnicode }

    static func chartWidth(_ model: ConsoleModel) -> Int { Places(model).chart.width }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let places = Places(model)
        let buckets = model.timelineBuckets(width: places.chart.width)
        guard !buckets.isEmpty else {
            let words = model.list.query.period == nil ? "Counting …" : "No exchange started then."
            screen.write(words, x: rect.x, y: rect.y, style: model.look.theme.faint, limit: rect.width)
            return
        }
        let view = TimelineView(model: model, places: places, buckets: buckets)
        view.drawLegend(on: &screen)
        view.drawChart(on: &screen)
        view.drawTable(on: &screen)
    }

    /// The character and style of a result class. The characters differ, so that no colour is needed.
    private func sign(_ result: ResultClass) -> (sign: Character, style: Style) {
        let (sign, role): (Character, Role) =
            switch result {
            case .success: (isUnicode ? "█" : "#", .success)
            case .redirect: (isUnicode ? "▒" : "=", .redirect)
            case .clientError: ("4", .clientError)
            case .serverError: ("5", .serverError)
            case .failed: ("!", .failure)
            case .open: (isUnicode ? "·" : ".", .faint)
            }
        return (sign, theme.style(role))
    }

    private func drawLegend(on screen: inout CellBuffer) {
        let rect = places.legend
        let bucket = buckets[model.selectedBucket(buckets)]
        var x = rect.x
        for result in ResultClass.allCases {
            let (sign, style) = sign(result)
            // The words of some classes begin with their character, such as 4: it is not written twice.
            let isBeginning = result.words.first == sign
            let first = isBeginning ? result.words : String(sign)
            x += screen.write(first, x: x, y: rect.y, style: style, limit: max(0, rect.maxX - x))
            let count = bucket.counts[result] > 0 ? ": \(bucket.counts[result])" : ""
            let rest = "\(isBeginning ? "" : " \(result.words)")\(count)   "
            x += screen.write(rest, x: x, y: rect.y, limit: max(0, rect.maxX - x))
        }
        let right = Self.words(bucket.span)
        let width = TextWidth.columns(right)
        guard x + width <= rect.maxX else { return }
        screen.write(right, x: rect.maxX - width, y: rect.y, style: theme.style(.label))
    }

    private func drawChart(on screen: inout CellBuffer) {
        let (chart, axis) = (places.chart, places.axis)
        guard chart.height > 0, chart.width > 0 else { return }
        let most = max(1, buckets.map(\.counts.total).max() ?? 1)
        let scale = chart.x - axis.x - 1
        let label = TextWidth.paddedLeft(Self.short(most), to: scale)
        screen.write(label, x: axis.x, y: chart.y, style: theme.faint, limit: scale)
        // If there are few buckets, each is several columns wide, with a gap between them.
        let width = max(1, chart.width / buckets.count)
        let filled = width > 2 ? width - 1 : width
        for (index, bucket) in buckets.enumerated() {
            let start = chart.x + index * width
            for (row, result) in Self.cells(bucket.counts, most: most, height: chart.height).enumerated() {
                let (sign, style) = sign(result)
                for x in start..<min(start + filled, max(start, chart.maxX)) {
                    screen[x, chart.maxY - 1 - row] = Cell(sign, style: style)
                }
            }
        }
        let cursor = chart.x + model.selectedBucket(buckets) * width
        drawTimes(to: min(chart.maxX, chart.x + buckets.count * width), around: cursor, on: &screen)
        let hasKeys = model.context != .detail && model.timeline.part == .chart
        let mark = Cell(isUnicode ? "▲" : "^", style: hasKeys ? theme.key : theme.faint)
        for x in cursor..<max(cursor, min(cursor + filled, chart.maxX)) { screen[x, axis.y] = mark }
    }

    /// Writes the start and end of the chart and the length of a bucket, except where the cursor is.
    private func drawTimes(to right: Int, around cursor: Int, on screen: inout CellBuffer) {
        let (chart, axis) = (places.chart, places.axis)
        screen.fill(axis, style: .plain)
        func write(_ text: String, at x: Int) {
            guard x >= axis.x, x + text.count <= axis.maxX, !(x - 1...x + text.count).contains(cursor) else { return }
            screen.write(text, x: x, y: axis.y, style: theme.faint)
        }
        let (first, last) = (buckets[0].span, buckets[buckets.count - 1].span.upperBound)
        write(String(Timestamp.clock(first.lowerBound).prefix(8)), at: chart.x)
        let end = "\(Timestamp.clock(last).prefix(8)) \(Timestamp.zone(at: last))"
        let endX = max(chart.x + 22, right - TextWidth.columns(end))
        write(end, at: endX)
        let middle = "each \(Measures.duration(first.upperBound - first.lowerBound))"
        let room = endX - (chart.x + 10)
        if room > middle.count + 2 { write(middle, at: chart.x + 10 + (room - middle.count) / 2) }
    }

    /// The classes of a chart column from below, the worst first. Each class gets a cell as long as there is room.
    static func cells(_ counts: Timeline.Counts, most: Int, height: Int) -> [ResultClass] {
        let total = counts.total
        guard total > 0, height > 0 else { return [] }
        let length = max(1, (total * height + most / 2) / most)
        var left = length
        var shares: [ResultClass: Int] = [:]
        let worstFirst: [ResultClass] = [.failed, .serverError, .clientError, .redirect, .open, .success]
        let present = worstFirst.filter { counts[$0] > 0 }
        for (index, result) in present.enumerated() where left > 0 {
            let others = present.count - index - 1
            let share = max(1, (counts[result] * length + total / 2) / total)
            let given = others == 0 ? left : min(share, max(1, left - others))
            shares[result] = given
            left -= given
        }
        return worstFirst.reversed().flatMap { Array(repeating: $0, count: shares[$0] ?? 0) }
    }

    private static func short(_ count: Int) -> String {
        count < 10_000 ? String(count) : count < 10_000_000 ? "\(count / 1_000)k" : "\(count / 1_000_000)M"
    }

    /// A time range, for example `12:03:10 to 12:03:15 UTC`.
    static func words(_ span: Range<Int64>) -> String {
        let isWhole = span.lowerBound % 1_000_000 == 0 && span.upperBound % 1_000_000 == 0
        let digits = isWhole ? 8 : 12
        let (start, end) = (Timestamp.clock(span.lowerBound), Timestamp.clock(span.upperBound))
        return "\(start.prefix(digits)) to \(end.prefix(digits)) \(Timestamp.zone(at: span.lowerBound))"
    }

    /// A selection in a few words, for example `12:03:10 +5.0 s`.
    private static func words(_ scope: StatisticsScope) -> String {
        switch scope {
        case .exchanges(let numbers): return "\(numbers.count) marked"
        case .period(let span):
            let time = Timestamp.clock(span.lowerBound).prefix(span.lowerBound % 1_000_000 == 0 ? 8 : 12)
            return "\(time) +\(Measures.duration(span.upperBound - span.lowerBound))"
        }
    }

    static func columns(_ width: Int) -> [(column: TimelineState.Column, width: Int)] {
        let all: [(column: TimelineState.Column, width: Int)] = [
            (.count, 9), (.errors, 8), (.bytes, 9), (.p50, 9), (.p95, 9), (.slowest, 15),
        ]
        let kept: Set<TimelineState.Column> =
            switch width {
            case 78...: Set(TimelineState.Column.allCases)
            case 60...: [.count, .errors, .bytes, .p50, .p95]
            case 40...: [.count, .errors, .p95]
            default: [.count]
            }
        return all.filter { kept.contains($0.column) }
    }

    static func text(_ column: TimelineState.Column, _ row: StatisticsRow) -> String {
        switch column {
        case .host: row.name
        case .count: String(row.count)
        case .errors: row.errors == 0 ? "" : String(row.errors)
        case .bytes: Measures.size(row.bytes)
        case .p50: row.median.map { Measures.duration($0) } ?? ""
        case .p95: row.p95.map { Measures.duration($0) } ?? ""
        case .slowest: row.slowest.map { "#\($0.id) \(Measures.duration($0.time))" } ?? ""
        }
    }

    private func drawTable(on screen: inout CellBuffer) {
        guard let answer = model.timeline.answer, !places.titles.isEmpty else { return }
        let columns = Self.columns(places.titles.width)
        let name = max(0, places.titles.width - columns.reduce(0) { $0 + $1.width })
        func title(_ column: TimelineState.Column) -> String {
            let arrows = isUnicode ? (up: "▲", down: "▼") : (up: "^", down: "v")
            let arrow = model.timeline.isDescending ? arrows.down : arrows.up
            return column.rawValue.uppercased() + (model.timeline.sort == column ? arrow : "")
        }
        func draw(_ label: String, _ row: StatisticsRow?, in line: Rect, _ base: Style) {
            screen.fill(line, style: base)
            screen.write(label, x: line.x, y: line.y, style: base, limit: max(0, name - 1))
            var x = line.x + name
            for (column, width) in columns {
                let hasErrors = column == .errors && (row?.errors ?? 0) > 0
                let style = hasErrors ? theme.style(.failure).on(base.background) : base
                let text = TextWidth.cut(row.map { Self.text(column, $0) } ?? title(column), to: width - 1)
                let padded = TextWidth.paddedLeft(text, to: width)
                screen.write(padded, x: x, y: line.y, style: style, limit: max(0, line.maxX - x))
                x += width
            }
        }
        draw(title(.host), nil, in: places.titles, theme.style(.label).with(.bold))
        if places.sums.height > 0 {
            let hosts = LinearSentence.count(answer.hosts.count, "host")
            draw("all, \(hosts)", answer.all, in: places.sums.row(0), Style.plain.with(.bold))
        }
        if places.sums.height > 1 {
            let line = places.sums.row(1)
            let scope = model.statisticsScope
            if let counted = model.timeline.counted {
                // The last counts stay while new ones are made, and are fainter if the user has changed the selection.
                let isOld = counted.scope != scope && (model.timeline.moment != nil || !model.marks.isEmpty)
                draw(Self.words(counted.scope), counted.row, in: line, isOld ? theme.faint : .plain)
            } else if let scope {
                let text = "\(Self.words(scope)), counting"
                screen.write(text, x: line.x, y: line.y, style: theme.faint, limit: line.width)
            }
        }
        for (line, row) in model.timeline.hosts.dropFirst(model.timeline.top).prefix(places.hosts.height).enumerated() {
            let isSelected = model.timeline.part == .hosts && model.timeline.top + line == model.timeline.host
            let selection = model.context != .detail ? theme.selection : theme.dimSelection
            let mark = isSelected && (!isUnicode || theme == .plain) ? ">" : ""
            draw(mark + row.name, row, in: places.hosts.row(line), isSelected ? selection : .plain)
        }
    }
}
