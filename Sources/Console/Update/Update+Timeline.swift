import HTTPModel
import Recording
import Sharing
import Terminal
import Text

/// The timeline, and the table of what hosts amount to.
extension ConsoleModel {
    /// Counts anew what the timeline shows.
    mutating func loadStatistics() -> [Effect] {
        timeline.isAsking = true
        timeline.askedAt = now
        timeline.askedTotal = list.sessionTotal
        return [.statistics(statisticsScope, generation: list.generation)]
    }

    /// Counts again what is shown, at most twice a second and where something may have changed.
    mutating func refreshStatistics() -> [Effect] {
        guard view == .timeline, now - timeline.askedAt >= TimelineState.pause else { return [] }
        let isOutdated = timeline.answer?.generation != list.generation || timeline.answer?.scope != statisticsScope
        let isStale = isOutdated && !timeline.isAsking
        let hasOpen = (list.rows.values.contains { $0.state == .inFlight }) && isLive
        guard isStale || timeline.askedTotal != list.sessionTotal || hasOpen else { return [] }
        return loadStatistics()
    }

    mutating func take(_ answer: StatisticsAnswer) -> [Effect] {
        guard answer.generation == list.generation else { return [] }
        timeline.isAsking = answer.progress != nil
        timeline.take(answer)
        // Only now it is known which bucket is selected.
        let isUnknown = answer.scope == nil && statisticsScope != nil
        guard isUnknown, answer.progress == nil, view == .timeline, !isLinear else { return [] }
        return loadStatistics()
    }

    /// Moves in the table of hosts.
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

    /// Moves from bucket to bucket.
    mutating func moveInChart(_ columns: Int) -> [Effect] {
        let buckets = timelineBuckets(width: TimelineView.chartWidth(self))
        guard !buckets.isEmpty else { return [] }
        let index = selectedBucket(buckets)
        select(bucket: timeline.part == .chart ? min(max(0, index + columns), buckets.count - 1) : index, of: buckets)
        return loadStatistics()
    }

    mutating func select(bucket index: Int, of buckets: [Timeline.Bucket]) {
        timeline.part = .chart
        timeline.moment = buckets[index].span.lowerBound
        // A chart that goes on to the newest would move away from the bucket.
        if index < buckets.count - 1 { list.isFollowing = false }
    }

    /// Shows the exchanges of the selected bucket, or only the selected host's.
    mutating func openInTimeline() -> [Effect] {
        if timeline.part == .hosts { return selectedStatisticsHost == nil ? [] : focusHost(nil) }
        let buckets = timelineBuckets(width: TimelineView.chartWidth(self))
        guard !buckets.isEmpty else { return [] }
        let bucket = buckets[selectedBucket(buckets)]
        guard bucket.counts.total > 0 else {
            return refuse("No exchange began then; left and right select other times.")
        }
        view = .sequence
        list.isFollowing = false
        list.selectedID = nil
        tell("\(TimelineView.words(bucket.span)); \(way(to: .clearFilter)) shows all again.")
        return ask { $0.period = bucket.span }
    }

    /// Selects the bucket or host that was clicked; a second click opens it.
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

    /// Sorts the table by a column; the same one again reverses the order.
    mutating func sortTimeline(_ words: [Substring]) -> [Effect] {
        guard let column = words.first.flatMap({ TimelineState.Column(rawValue: String($0)) }) else {
            let names = TimelineState.Column.allCases.map(\.rawValue).joined(separator: ", ")
            return refuse("The table by host is sorted by \(names).")
        }
        let reverses = timeline.sort == column ? !timeline.isDescending : column != .host
        timeline.isDescending = words.contains("desc") || !words.contains("asc") && reverses
        timeline.sort = column
        timeline.arrange()
        (timeline.host, timeline.top) = (0, 0)
        return []
    }

    // MARK: - As text

    /// Prints the table for what a filter leaves, or for the selection.
    mutating func showStatistics(_ expression: String?) -> [Effect] {
        var filter = list.query.wholeFilter
        if let expression {
            do {
                filter = filter.and(try Filter(expression))
            } catch {
                return refuse("Filter: \(error)")
            }
        }
        let more = expression.map { ", \($0)" } ?? ""
        let width = isLinear ? StatisticsDocument.widest : reportWidth
        if expression == nil, !marks.isEmpty {
            let title = "Statistics of \(marks.count) marked"
            return [.statisticsReport(filter: .everything, numbers: marks.map(\.number), title: title, width: width)]
        }
        if expression == nil, case .branch(let node)? = selection, let place = node.filter {
            let title = "Statistics of \(node.words)"
            return [.statisticsReport(filter: filter.and(place), numbers: nil, title: title, width: width)]
        }
        let title = "Statistics of the list\(more)"
        return [.statisticsReport(filter: filter, numbers: nil, title: title, width: width)]
    }

    /// The buckets as sentences, those without exchanges left out.
    var timelineLines: [String] {
        let buckets = timelineBuckets(width: 40)
        guard let first = buckets.first else { return ["There is no exchange here."] }
        let length = Measures.duration(first.span.upperBound - first.span.lowerBound)
        let lines = buckets.filter { $0.counts.total > 0 }.map { bucket in
            let parts = ResultClass.allCases.filter { bucket.counts[$0] > 0 }.map {
                "\(bucket.counts[$0]) \($0.words)"
            }
            let count = LinearSentence.count(bucket.counts.total, "exchange")
            return "\(Timestamp.clock(bucket.span.lowerBound)), \(count): \(parts.joined(separator: ", "))"
        }
        return ["Times are in \(Timestamp.zone(at: first.span.lowerBound)); each line is \(length)."] + lines
    }
}

extension StructureNode {
    /// The exchanges at and below it; `nil` for the root.
    var filter: Filter? {
        guard let site = siteURL else { return nil }
        func quoted(_ text: String) -> String {
            "\"" + text.replacing(["\\": "\\\\", "\"": "\\\""]) + "\""
        }
        let path = quoted(segments.map { "/" + $0 }.joined())
        let place = segments.isEmpty ? "" : " path:\(path),\(path)\"/\"*"
        return try? Filter("scheme:\(quoted(site.scheme)) host:\(quoted(site.host)) port:\(site.port)\(place)")
    }

    fileprivate var words: String { (site ?? "") + segments.map { "/" + $0 }.joined() }
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
