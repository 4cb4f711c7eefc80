import Description
import HTTPModel
import Recording
import Terminal
import Text

package struct TimelineState: Sendable {
    package enum Part: Sendable, Hashable {
        case chart, hosts
    }

    package enum Column: String, CaseIterable, Sendable, Hashable {
        case host, count, errors, bytes, p50, p95, slowest
    }

    /// The time span up to the newest exchange that the chart shows while the list follows, in microseconds.
    static let followed: Int64 = 300_000_000
    /// The minimum time between two counts, in microseconds.
    static let pause: Int64 = 500_000

    package var answer: StatisticsAnswer?
    /// The counts of the last counted selection, which are shown until a different selection is counted.
    private(set) var counted: (generation: Int, scope: StatisticsScope, row: StatisticsRow)?
    package var part = Part.chart
    /// A moment within the selected bucket, in microseconds since 1970; `nil` for the last bucket.
    package var moment: Int64?
    package var host = 0
    package var top = 0
    package var sort = Column.count
    package var isDescending = true
    package private(set) var hosts: [StatisticsRow] = []
    var isAsking = false
    /// In microseconds since 1970.
    var askedAt: Int64 = 0
    var askedTotal = -1

    mutating func take(_ answer: StatisticsAnswer) {
        let selected = hosts.indices.contains(host) ? hosts[host].name : nil
        if let scope = answer.scope, let row = answer.part { counted = (answer.generation, scope, row) }
        if counted?.generation != answer.generation { counted = nil }
        self.answer = answer
        arrange()
        host = (part == .hosts ? hosts.firstIndex { $0.name == selected } : nil) ?? min(host, max(0, hosts.count - 1))
    }

    mutating func arrange() {
        func key(_ row: StatisticsRow) -> Int64 {
            switch sort {
            case .host: 0
            case .count: row.count
            case .errors: row.errors
            case .bytes: row.bytes
            case .p50: row.median ?? -1
            case .p95: row.p95 ?? -1
            case .slowest: row.slowest?.time ?? -1
            }
        }
        hosts = (answer?.hosts ?? []).sorted { left, right in
            let (one, other) = (key(left), key(right))
            if one != other { return isDescending ? one > other : one < other }
            return sort == .host && isDescending ? left.name > right.name : left.name < right.name
        }
    }
}

extension ConsoleModel {
    var isTimelineInUse: Bool { view == .timeline && !isLinear && !(isDetailFocused && detail.isOpen) }

    func timelineBuckets(width: Int) -> [Timeline.Bucket] {
        guard let answer = timeline.answer, answer.generation == list.generation else { return [] }
        let isFollowed = isLive && list.isFollowing && list.query.period == nil && !isLinear
        return answer.timeline.buckets(max(1, width), latest: isFollowed ? TimelineState.followed : nil)
    }

    func selectedBucket(_ buckets: [Timeline.Bucket]) -> Int {
        guard let moment = timeline.moment else { return max(0, buckets.count - 1) }
        return buckets.firstIndex { $0.span.contains(moment) }
            ?? (moment < buckets.first?.span.lowerBound ?? 0 ? 0 : max(0, buckets.count - 1))
    }

    private var chartBuckets: [Timeline.Bucket] { timelineBuckets(width: TimelineView.chartWidth(self)) }

    /// The exchanges of the table's second row: the marked ones, or those in the selected bucket.
    var statisticsScope: StatisticsScope? {
        if !marks.isEmpty { return .exchanges(marks.map(\.number)) }
        let buckets = chartBuckets
        return buckets.isEmpty ? nil : .period(buckets[selectedBucket(buckets)].span)
    }

    var selectedStatisticsHost: String? {
        guard timeline.part == .hosts, timeline.hosts.indices.contains(timeline.host) else { return nil }
        let name = timeline.hosts[timeline.host].name
        return name.hasPrefix("(") ? nil : name
    }

    mutating func loadStatistics() -> [Effect] {
        (timeline.isAsking, timeline.askedAt, timeline.askedTotal) = (true, now, list.sessionTotal)
        return [.statistics(statisticsScope, generation: list.generation)]
    }

    /// Counts again what the view shows, at most twice a second, and only if it may have changed.
    mutating func refreshStatistics() -> [Effect] {
        guard view == .timeline, now - timeline.askedAt >= TimelineState.pause else { return [] }
        let isOutdated = timeline.answer?.generation != list.generation || timeline.answer?.scope != statisticsScope
        let hasOpen = list.rows.values.contains { $0.state == .inFlight } && isLive
        let isStale = isOutdated && !timeline.isAsking || timeline.askedTotal != list.sessionTotal || hasOpen
        return isStale ? loadStatistics() : []
    }

    mutating func take(_ answer: StatisticsAnswer) -> [Effect] {
        guard answer.generation == list.generation else { return [] }
        timeline.isAsking = answer.progress != nil
        timeline.take(answer)
        // The selected bucket is known only after the first answer.
        let isUnknown = answer.scope == nil && answer.progress == nil && statisticsScope != nil
        return isUnknown && view == .timeline && !isLinear ? loadStatistics() : []
    }

    mutating func moveInTimeline(_ lines: Int) -> [Effect] {
        if lines < 0, timeline.part == .chart || timeline.host == 0 {
            timeline.part = .chart
            return []
        }
        let last = max(0, timeline.hosts.count - 1)
        timeline.host = timeline.part == .hosts ? min(max(0, timeline.host + lines), last) : min(timeline.host, last)
        timeline.part = .hosts
        let rows = max(1, TimelineView.Places(self).hosts.height)
        timeline.top = min(max(timeline.top, timeline.host - rows + 1), timeline.host)
        return []
    }

    mutating func moveInChart(_ columns: Int) -> [Effect] {
        let buckets = chartBuckets
        guard !buckets.isEmpty else { return [] }
        let index = selectedBucket(buckets)
        select(bucket: timeline.part == .chart ? min(max(0, index + columns), buckets.count - 1) : index, of: buckets)
        return loadStatistics()
    }

    mutating func select(bucket index: Int, of buckets: [Timeline.Bucket]) {
        timeline.part = .chart
        timeline.moment = buckets[index].span.lowerBound
        // If the chart followed the newest exchange, it would move away from the selected bucket.
        if index < buckets.count - 1 { list.isFollowing = false }
    }

    mutating func openInTimeline() -> [Effect] {
        if timeline.part == .hosts { return selectedStatisticsHost == nil ? [] : focusHost(nil) }
        let buckets = chartBuckets
        guard !buckets.isEmpty else { return [] }
        let bucket = buckets[selectedBucket(buckets)]
        guard bucket.counts.total > 0 else {
            return refuse("No exchange started then; left and right select other times.")
        }
        view = .sequence
        (list.isFollowing, list.selectedID) = (false, nil)
        tell("\(TimelineView.words(bucket.span)); \(way(to: .clearFilter)) shows all again.")
        return ask { $0.period = bucket.span }
    }

    mutating func pressTimeline(_ mouse: MouseEvent) -> [Effect] {
        let places = TimelineView.Places(self)
        if places.hosts.contains(x: mouse.x, y: mouse.y) {
            let index = timeline.top + mouse.y - places.hosts.y
            guard timeline.hosts.indices.contains(index) else { return [] }
            let isAgain = timeline.part == .hosts && timeline.host == index
            (timeline.part, timeline.host) = (.hosts, index)
            return isAgain ? openInTimeline() : []
        }
        let buckets = timelineBuckets(width: places.chart.width)
        guard places.chart.contains(x: mouse.x, y: mouse.y), !buckets.isEmpty else { return [] }
        let index = (mouse.x - places.chart.x) / max(1, places.chart.width / buckets.count)
        guard buckets.indices.contains(index) else { return [] }
        let isAgain = timeline.part == .chart && selectedBucket(buckets) == index
        select(bucket: index, of: buckets)
        return isAgain ? openInTimeline() : loadStatistics()
    }

    mutating func sortTimeline(_ words: [Substring]) -> [Effect] {
        guard let column = words.first.flatMap({ TimelineState.Column(rawValue: String($0)) }) else {
            let names = TimelineState.Column.allCases.map(\.rawValue).joined(separator: ", ")
            return refuse("The host table can be sorted by \(names).")
        }
        let reverses = timeline.sort == column ? !timeline.isDescending : column != .host
        timeline.isDescending = words.contains("desc") || !words.contains("asc") && reverses
        timeline.sort = column
        timeline.arrange()
        (timeline.host, timeline.top) = (0, 0)
        return []
    }

    mutating func showStatistics(_ expression: String?) -> [Effect] {
        var (filter, numbers, what) = (list.query.wholeFilter, [Int64]?.none, "the list")
        if let expression {
            do {
                (filter, what) = (filter.and(try Filter(expression)), "the list, \(expression)")
            } catch {
                return refuse("Filter: \(error)")
            }
        } else if !marks.isEmpty {
            (filter, numbers, what) = (.everything, marks.map(\.number), "\(marks.count) marked")
        } else if case .branch(let node)? = selection, let place = node.filter {
            (filter, what) = (filter.and(place), node.words)
        }
        let width = isLinear ? StatisticsDocument.widest : reportWidth
        return [.statisticsReport(filter: filter, numbers: numbers, title: "Statistics of \(what)", width: width)]
    }

    var timelineLines: [String] {
        let buckets = timelineBuckets(width: 40)
        guard let first = buckets.first else { return ["No exchanges here."] }
        let length = Measures.duration(first.span.upperBound - first.span.lowerBound)
        let lines = buckets.filter { $0.counts.total > 0 }.map { bucket in
            let present = ResultClass.allCases.filter { bucket.counts[$0] > 0 }
            let parts = present.map { "\(bucket.counts[$0]) \($0.words)" }
            let count = LinearSentence.count(bucket.counts.total, "exchange")
            return "\(Timestamp.clock(bucket.span.lowerBound)), \(count): \(parts.joined(separator: ", "))"
        }
        return ["Times are in \(Timestamp.zone(at: first.span.lowerBound)); each line is \(length)."] + lines
    }
}

extension ResultClass {
    var words: String {
        switch self {
        case .success: "2xx"
        case .redirect: "3xx"
        case .clientError: "4xx"
        case .serverError: "5xx"
        case .failed: "failed"
        case .open: "open"
        }
    }
}

extension EffectRunner {
    func showStatistics(_ filter: Filter, _ numbers: [Int64]?, _ title: String, width: Int) {
        onReader(passes) { [self] reader in
            var statistics = SessionStatistics()
            if let numbers {
                try reader.add(.numbers(numbers), matching: filter, to: &statistics)
            } else {
                statistics = try reader.statistics(matching: filter)
            }
            report(title, StatisticsDocument.make(statistics, width: width), topic: "sessions")
        }
    }
}

enum StatisticsDocument {
    private static let columns: [TimelineState.Column] = [.count, .errors, .bytes, .p50, .p95, .slowest]
    private static let longestName = 40
    static let widest = 120

    static func make(_ statistics: SessionStatistics, width: Int) -> DetailDocument {
        let rows = statistics.rows.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        let all = StatisticsRow("all", statistics.all)
        let titles = ["HOST"] + columns.map { $0.rawValue.uppercased() }
        func cell(_ column: TimelineState.Column, _ row: StatisticsRow) -> String {
            let text = TimelineView.text(column, row)
            return text.isEmpty ? (column == .errors ? "0" : "-") : text
        }
        let table = [titles] + ([all] + rows).map { row in [VisibleText.of(row.name)] + columns.map { cell($0, row) } }
        let widths = titles.indices.map { column in table.map { $0[column].columns + 2 }.max() ?? 0 }
        // Names are shortened to make room for the numbers.
        let longest = min(longestName, max(12, width - widths.dropFirst().reduce(0, +)))
        let cut = table.map { [TextWidth.cutMiddle($0[0], to: longest)] + $0.dropFirst() }
        let text = TextTable.text(cut, rightAligned: Set(titles.indices.dropFirst())).split(separator: "\n")
        let lines = text.enumerated().map { DetailLine([Span(String($1), $0 == 0 ? .label : .text)]) }
        let note = "p50 and p95 are at most 3.2 % off; bytes are those of bodies, as received."
        return DetailDocument(lines: lines + [DetailLine([Span(note, .faint)])])
    }
}
