import HTTPModel
package import Recording
import Synchronization

/// A part of the list that is counted in addition to the whole list.
package enum StatisticsScope: Hashable, Sendable {
    case exchanges([Int64])
    /// The exchanges that began in this time range, in microseconds since 1970.
    case period(Range<Int64>)
}

package struct StatisticsRow: Hashable, Sendable {
    package var name: String
    package var count: Int64 = 0
    package var errors: Int64 = 0
    package var bytes: Int64 = 0
    /// In microseconds, with an error of at most 3.2 %; `nil` if no exchange has ended.
    package var median: Int64?
    package var p95: Int64?
    package var slowest: SessionStatistics.Totals.Slowest?

    package init(_ name: String, _ totals: SessionStatistics.Totals) {
        self.name = name
        (count, errors, bytes) = (totals.count, totals.errors, totals.bytes)
        median = totals.times.percentile(0.5)
        p95 = totals.times.percentile(0.95)
        slowest = totals.slowest
    }
}

extension SessionStatistics {
    var rows: [StatisticsRow] {
        let further = others.count > 0 ? [StatisticsRow("(further hosts)", others)] : []
        return hosts.map { StatisticsRow($0.key, $0.value) } + further
    }
}

package struct StatisticsAnswer: Hashable, Sendable {
    package var generation: Int
    package var all: StatisticsRow
    package var hosts: [StatisticsRow]
    package var timeline: Timeline
    package var part: StatisticsRow?
    package var scope: StatisticsScope?
    /// The progress of the count, from 0 to 1; `nil` once the count is done.
    package var progress: Double?
}

/// Counts the exchanges of the current list by host and over time; repeated counts read only new exchanges.
struct StatisticsCounter {
    private let reader: SessionReader
    private let list: SharedList
    private let deliver: @Sendable (QueryEvent) -> Void
    private var generation = -1
    private var settled = SessionStatistics()
    private var followed = FollowedNumbers()
    private let pace = Pace()

    init(reader: SessionReader, list: SharedList, deliver: @escaping @Sendable (QueryEvent) -> Void) {
        (self.reader, self.list, self.deliver) = (reader, list, deliver)
    }

    mutating func load(_ scope: StatisticsScope?, generation: Int, _ cancellation: Cancellation) {
        guard list.value.withLock({ $0.generation }) == generation else { return }
        if generation != self.generation { followed = FollowedNumbers() }
        self.generation = generation
        do {
            try count(scope, cancellation)
        } catch {
            followed = FollowedNumbers()
            if !(error is CancellationError) { deliver(.failed(queryWords(error))) }
        }
    }

    private mutating func count(_ scope: StatisticsScope?, _ cancellation: Cancellation) throws {
        let watch: StatementWatch = { _ in !cancellation.isCancelled }
        let (filter, matches) = list.value.withLock { ($0.filter, $0.filter.needs == .record ? [] : $0.matches) }
        var whole: SessionStatistics
        if filter.needs != .record {
            // The pass has stored the matches; searching all bodies again would take as long as the pass.
            whole = SessionStatistics()
            try reader.add(.numbers(matches), matching: .everything, to: &whole, watch: watch)
        } else {
            try follow(filter, cancellation, watch)
            whole = settled
            let inFlight = ExchangeRows.numbers(followed.inFlight)
            if !followed.inFlight.isEmpty {
                try reader.add(inFlight, matching: filter, inFlight: true, to: &whole, watch: watch)
            }
        }
        var answer = answer(whole)
        if let scope {
            var statistics = SessionStatistics()
            switch scope {
            case .exchanges(let numbers):
                try reader.add(.numbers(numbers), matching: .everything, to: &statistics, watch: watch)
            case .period(let span) where filter.needs == .record:
                try reader.add(.all, matching: filter.and(.begun(in: span)), to: &statistics, watch: watch)
            case .period(let span):
                try reader.add(.numbers(matches), matching: .begun(in: span), to: &statistics, watch: watch)
            }
            (answer.part, answer.scope) = (StatisticsRow("", statistics.all), scope)
        }
        deliver(.statistics(answer))
    }

    private mutating func follow(_ filter: Filter, _ cancellation: Cancellation, _ watch: StatementWatch?) throws {
        if followed.bounds == nil { settled = SessionStatistics() }
        var followed = followed
        try followed.addEnded(reader, for: filter, cancellation) { rows in
            try reader.add(rows, matching: filter, inFlight: false, to: &settled, watch: watch)
        } tell: { progress in
            guard pace.isDue else { return }
            var answer = answer(settled)
            answer.progress = progress
            deliver(.statistics(answer))
        }
        self.followed = followed
    }

    private func answer(_ counted: SessionStatistics) -> StatisticsAnswer {
        let (all, timeline) = (StatisticsRow("", counted.all), counted.timeline)
        return StatisticsAnswer(generation: generation, all: all, hosts: counted.rows, timeline: timeline)
    }
}
