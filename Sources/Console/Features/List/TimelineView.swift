import Description
import Recording
import Terminal
import Text

enum TimelineView {
    struct Places {
        var legend = Rect(x: 0, y: 0, width: 0, height: 0)
        /// The columns of the chart, right of its scale.
        var chart = Rect(x: 0, y: 0, width: 0, height: 0)
        var axis = Rect(x: 0, y: 0, width: 0, height: 0)
        var titles = Rect(x: 0, y: 0, width: 0, height: 0)
        /// The rows for all exchanges and for the selected ones.
        var sums = Rect(x: 0, y: 0, width: 0, height: 0)
        var hosts = Rect(x: 0, y: 0, width: 0, height: 0)

        init(_ model: ConsoleModel) {
            var rest = Layout(model).list
            (legend, rest) = rest.splitTop(min(1, rest.height))
            // The table gets what the chart leaves: at least its titles, the sums and three hosts.
            let height = min(max(2, rest.height / 2), max(2, rest.height - 7), 16)
            guard rest.height >= 4 else { return }
            var upper: Rect
            (upper, rest) = rest.splitTop(height)
            (upper, axis) = upper.splitBottom(1)
            chart = upper.splitLeft(min(TimelineView.scaleWidth, upper.width / 3)).rest
            (titles, rest) = rest.splitTop(min(1, rest.height))
            (sums, hosts) = rest.splitTop(min(2, rest.height))
        }
    }

    private static let scaleWidth = 6

    static func chartWidth(_ model: ConsoleModel) -> Int { Places(model).chart.width }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let places = Places(model)
        let buckets = model.timelineBuckets(width: places.chart.width)
        guard !buckets.isEmpty else {
            let words = model.list.query.period == nil ? "Counting …" : "No exchange started then."
            screen.write(words, x: rect.x, y: rect.y, style: theme.faint, limit: rect.width)
            return
        }
        drawLegend(model, buckets, in: places.legend, on: &screen)
        drawChart(model, buckets, places, on: &screen)
        drawTable(model, buckets, places, on: &screen)
    }

    // MARK: - Chart

    /// The sign of each class: a shade or a letter, so that no colour is needed.
    private static func sign(_ result: ResultClass, _ look: Look) -> Character {
        switch result {
        case .success: look.isUnicode ? "█" : "#"
        case .redirect: look.isUnicode ? "▒" : "="
        case .clientError: "4"
        case .serverError: "5"
        case .failed: "!"
        case .open: look.isUnicode ? "·" : "."
        }
    }

    private static func style(_ result: ResultClass, _ theme: Theme) -> Style {
        switch result {
        case .success: theme.style(.success)
        case .redirect: theme.style(.redirect)
        case .clientError: theme.style(.clientError)
        case .serverError: theme.style(.serverError)
        case .failed: theme.style(.failure)
        case .open: theme.faint
        }
    }

    private static func drawLegend(
        _ model: ConsoleModel,
        _ buckets: [Timeline.Bucket],
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let theme = model.look.theme
        let bucket = buckets[model.selectedBucket(buckets)]
        var x = rect.x
        for result in ResultClass.allCases {
            // The sign 4 is the beginning of its word.
            let sign = String(sign(result, model.look))
            let (first, rest) = result.words.hasPrefix(sign) ? (result.words, "") : (sign, " \(result.words)")
            x += screen.write(first, x: x, y: rect.y, style: style(result, theme), limit: max(0, rect.maxX - x))
            let count = bucket.counts[result] > 0 ? ": \(bucket.counts[result])" : ""
            x += screen.write("\(rest)\(count)   ", x: x, y: rect.y, limit: max(0, rect.maxX - x))
        }
        let right = words(bucket.span)
        let width = TextWidth.columns(right)
        if x + width <= rect.maxX {
            screen.write(right, x: rect.maxX - width, y: rect.y, style: theme.style(.label))
        }
    }

    private static func drawChart(
        _ model: ConsoleModel,
        _ buckets: [Timeline.Bucket],
        _ places: Places,
        on screen: inout CellBuffer
    ) {
        let theme = model.look.theme
        let (chart, axis) = (places.chart, places.axis)
        guard chart.height > 0, chart.width > 0 else { return }
        let most = max(1, buckets.map(\.counts.total).max() ?? 1)
        let scale = chart.x - axis.x - 1
        screen.write(
            TextWidth.paddedLeft(short(most), to: scale),
            x: axis.x,
            y: chart.y,
            style: theme.faint,
            limit: scale
        )
        let selected = model.selectedBucket(buckets)
        // Few buckets are drawn wider.
        let width = max(1, chart.width / buckets.count)
        for (index, bucket) in buckets.enumerated() {
            let cells = cells(bucket.counts, most: most, height: chart.height)
            for column in 0..<width where chart.x + index * width + column < chart.maxX {
                let x = chart.x + index * width + column
                // A gap between wide columns tells them apart.
                if width > 2, column == width - 1 { continue }
                for (row, result) in cells.enumerated() {
                    screen[x, chart.maxY - 1 - row] = Cell(sign(result, model.look), style: style(result, theme))
                }
            }
        }
        let hasKeys = model.context != .detail && model.timeline.part == .chart
        let cursor = chart.x + selected * width
        screen.fill(axis, style: .plain)
        let start = String(Timestamp.clock(buckets[0].span.lowerBound).prefix(8))
        let length = buckets[0].span.upperBound - buckets[0].span.lowerBound
        let last = (buckets.last ?? buckets[0]).span.upperBound
        let end = "\(Timestamp.clock(last).prefix(8)) \(Timestamp.zone(at: last))"
        let middle = "each \(Measures.duration(length))"
        // What the cursor would stand in is left out: the table says when that is.
        func write(_ text: String, at x: Int) {
            guard x >= axis.x, x + text.count <= axis.maxX, !(x - 1...x + text.count).contains(cursor) else { return }
            screen.write(text, x: x, y: axis.y, style: theme.faint)
        }
        write(start, at: chart.x)
        let right = min(chart.maxX, chart.x + buckets.count * width)
        let endX = max(chart.x + 22, right - TextWidth.columns(end))
        write(end, at: endX)
        let room = endX - (chart.x + 10)
        if room > middle.count + 2 {
            write(middle, at: chart.x + 10 + (room - middle.count) / 2)
        }
        let mark: Character = model.look.isUnicode ? "▲" : "^"
        let style = hasKeys ? theme.key : theme.faint
        for column in 0..<max(1, width > 2 ? width - 1 : width) where cursor + column < chart.maxX {
            screen[cursor + column, axis.y] = Cell(mark, style: style)
        }
    }

    /// The classes in a column of the chart from below, each with a cell as long as there is room, the worst first.
    static func cells(_ counts: Timeline.Counts, most: Int, height: Int) -> [ResultClass] {
        let total = counts.total
        guard total > 0, height > 0 else { return [] }
        var left = max(1, (total * height + most / 2) / most)
        var shares: [ResultClass: Int] = [:]
        let worstFirst: [ResultClass] = [.failed, .serverError, .clientError, .redirect, .open, .success]
        let present = worstFirst.filter { counts[$0] > 0 }
        for (index, result) in present.enumerated() where left > 0 {
            let others = present.count - index - 1
            let share = max(1, (counts[result] * max(1, (total * height + most / 2) / most) + total / 2) / total)
            let given = index == present.count - 1 ? left : min(share, max(1, left - others))
            shares[result] = given
            left -= given
        }
        let upwards: [ResultClass] = [.success, .open, .redirect, .clientError, .serverError, .failed]
        return upwards.flatMap { Array(repeating: $0, count: shares[$0] ?? 0) }
    }

    private static func short(_ count: Int) -> String {
        count < 10_000 ? String(count) : count < 10_000_000 ? "\(count / 1_000)k" : "\(count / 1_000_000)M"
    }

    /// A span of time, for example `12:03:10 to 12:03:15 UTC`.
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

    // MARK: - Table

    static func columns(_ width: Int) -> [(column: TimelineState.Column, width: Int)] {
        let all: [(TimelineState.Column, Int)] = [
            (.count, 9), (.errors, 8), (.bytes, 9), (.p50, 9), (.p95, 9), (.slowest, 15),
        ]
        let kept: Set<TimelineState.Column> =
            width >= 78
            ? Set(TimelineState.Column.allCases)
            : width >= 60 ? [.count, .errors, .bytes, .p50, .p95] : width >= 40 ? [.count, .errors, .p95] : [.count]
        return all.filter { kept.contains($0.0) }.map { ($0.0, $0.1) }
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

    private static func drawTable(
        _ model: ConsoleModel,
        _ buckets: [Timeline.Bucket],
        _ places: Places,
        on screen: inout CellBuffer
    ) {
        guard let answer = model.timeline.answer, !places.titles.isEmpty else { return }
        let theme = model.look.theme
        let columns = columns(places.titles.width)
        let name = max(0, places.titles.width - columns.reduce(0) { $0 + $1.width })
        func title(_ column: TimelineState.Column) -> String {
            let arrow =
                model.look.isUnicode
                ? (model.timeline.isDescending ? "▼" : "▲") : model.timeline.isDescending ? "v" : "^"
            return column.rawValue.uppercased() + (model.timeline.sort == column ? arrow : "")
        }
        let heading = theme.style(.label).with(.bold)
        screen.write(title(.host), x: places.titles.x, y: places.titles.y, style: heading, limit: name)
        var x = places.titles.x + name
        for (column, width) in columns {
            screen.write(TextWidth.paddedLeft(title(column), to: width), x: x, y: places.titles.y, style: heading)
            x += width
        }
        func draw(_ row: StatisticsRow, _ label: String, in line: Rect, _ base: Style) {
            screen.fill(line, style: base)
            screen.write(label, x: line.x, y: line.y, style: base, limit: max(0, name - 1))
            var x = line.x + name
            for (column, width) in columns {
                let style = column == .errors && row.errors > 0 ? theme.style(.failure).on(base.background) : base
                let text = TextWidth.paddedLeft(TextWidth.cut(text(column, row), to: width - 1), to: width)
                screen.write(text, x: x, y: line.y, style: style, limit: max(0, line.maxX - x))
                x += width
            }
        }
        if places.sums.height > 0 {
            let hosts = answer.hosts.count
            draw(
                answer.all,
                "all, \(LinearSentence.count(hosts, "host"))",
                in: places.sums.row(0),
                Style.plain.with(.bold)
            )
        }
        if places.sums.height > 1 {
            let line = places.sums.row(1)
            let scope = model.statisticsScope
            if let counted = model.timeline.counted {
                // What was counted before stays while another selection is counted. It is fainter if that is one's own, and
                // not the newest time, which moves with the traffic.
                let isOld = counted.scope != scope && (model.timeline.moment != nil || !model.marks.isEmpty)
                draw(counted.row, words(counted.scope), in: line, isOld ? theme.faint : .plain)
            } else if let scope {
                let text = "\(words(scope)), counting"
                screen.write(text, x: line.x, y: line.y, style: theme.faint, limit: line.width)
            }
        }
        let hasKeys = model.context != .detail && model.timeline.part == .hosts
        for line in 0..<places.hosts.height {
            let index = model.timeline.top + line
            guard model.timeline.hosts.indices.contains(index) else { break }
            let isSelected = index == model.timeline.host && model.timeline.part == .hosts
            let base = isSelected ? (hasKeys ? theme.selection : theme.dimSelection) : Style.plain
            let row = model.timeline.hosts[index]
            let rect = places.hosts.row(line)
            let mark = isSelected && (!model.look.isUnicode || theme == .plain) ? ">" : ""
            draw(row, mark + row.name, in: rect, base)
        }
    }
}
