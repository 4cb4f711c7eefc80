import HTTPModel
import Recording

/// The requests over time, and what they amount to by host.
package struct TimelineState: Sendable {
    /// What the keys move in.
    package enum Part: Sendable, Hashable {
        case chart, hosts
    }

    package enum Column: String, CaseIterable, Sendable, Hashable {
        case host, count, errors, bytes, p50, p95, slowest
    }

    /// How much of the end is shown while the newest exchange is followed, in microseconds.
    static let followed: Int64 = 300_000_000
    /// How often it is counted again at most, in microseconds.
    static let pause: Int64 = 500_000

    /// `nil` until something is counted.
    package var answer: StatisticsAnswer?
    /// The selection that was counted last, which stays until another one is counted.
    private(set) var counted: (generation: Int, scope: StatisticsScope, row: StatisticsRow)?
    package var part = Part.chart
    /// A moment within the selected bucket, in microseconds since 1970; `nil` for the last bucket.
    package var moment: Int64?
    /// The selected row of ``hosts``.
    package var host = 0
    package var top = 0
    package var sort = Column.count
    package var isDescending = true
    /// In the order of ``sort``.
    package private(set) var hosts: [StatisticsRow] = []
    /// Whether an answer is still to come.
    var isAsking = false
    /// In microseconds since 1970.
    var askedAt: Int64 = 0
    /// How many exchanges the list had then.
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
        func isBefore(_ left: StatisticsRow, _ right: StatisticsRow) -> Bool {
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
            let (one, other) = (key(left), key(right))
            if one != other { return isDescending ? one > other : one < other }
            return sort == .host && isDescending ? left.name > right.name : left.name < right.name
        }
        hosts = (answer?.hosts ?? []).sorted(by: isBefore)
    }
}

extension ConsoleModel {
    /// Whether commands are about the timeline.
    var isTimelineInUse: Bool { view == .timeline && !isLinear && !(isDetailFocused && detail.isOpen) }

    /// The buckets of the chart, as many as its width has room for.
    func timelineBuckets(width: Int) -> [Timeline.Bucket] {
        guard let answer = timeline.answer, answer.generation == list.generation else { return [] }
        let isFollowed = isLive && list.isFollowing && list.query.period == nil && !isLinear
        return answer.timeline.buckets(max(1, width), latest: isFollowed ? TimelineState.followed : nil)
    }

    /// The place of the selected one among some buckets.
    func selectedBucket(_ buckets: [Timeline.Bucket]) -> Int {
        guard let moment = timeline.moment else { return max(0, buckets.count - 1) }
        return buckets.firstIndex { $0.span.contains(moment) }
            ?? (moment < buckets.first?.span.lowerBound ?? 0 ? 0 : max(0, buckets.count - 1))
    }

    /// What the second row of the table is about: the marked exchanges, else the selected bucket.
    var statisticsScope: StatisticsScope? {
        if !marks.isEmpty { return .exchanges(marks.map(\.number)) }
        let buckets = timelineBuckets(width: TimelineView.chartWidth(self))
        return buckets.isEmpty ? nil : .period(buckets[selectedBucket(buckets)].span)
    }

    var selectedStatisticsHost: String? {
        guard timeline.part == .hosts, timeline.hosts.indices.contains(timeline.host) else { return nil }
        let name = timeline.hosts[timeline.host].name
        return name.hasPrefix("(") ? nil : name
    }
}
