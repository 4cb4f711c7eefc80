import Description
import HTTPModel
package import Jobs
package import Recording

/// The differences between the answers to requests that were sent again and the recorded ones.
package struct RepeatComparison: Sendable {
    package struct Counts: Sendable {
        package internal(set) var differences = DifferenceCounts()
        /// Answers to requests without a whole recorded answer.
        package internal(set) var withoutRecorded = 0
        /// Answers that were not recorded, or not compared because the work was stopped.
        package internal(set) var notCompared = 0

        mutating func add(_ other: Counts) {
            differences.add(other.differences)
            withoutRecorded += other.withoutRecorded
            notCompared += other.notCompared
        }
    }

    /// By the index of the repeated exchange in the selection.
    package private(set) var counts: [Int: Counts] = [:]

    package var all: Counts { counts.values.reduce(into: Counts()) { $0.add($1) } }

    /// How long answers are still compared after the work was stopped.
    private static let restAfterStop = Duration.seconds(5)

    /// Compares the responses only. `made` is the session with the new answers. Throws `SessionError`.
    package init(
        _ results: RepeatResults,
        of selection: RepeatSelection,
        from recorded: SessionReader,
        _ made: SessionReader?,
        _ settings: ComparisonSettings,
        work: LongWork
    ) throws {
        let sources = (ContentSource(recorded), made.map { ContentSource($0) })
        let answered = results.sent.filter { $0.outcome.failure == nil }.sorted {
            ($0.source, $0.exchange?.number ?? 0) < ($1.source, $1.exchange?.number ?? 0)
        }
        work.begin("comparing", .things("answer"))
        let wasStopped = work.interruption != nil
        let deadline = ContinuousClock.now + Self.restAfterStop
        var old: (source: Int, side: ExchangeDifference.Side?)?
        for (index, one) in answered.enumerated() {
            var counts = self.counts[one.source] ?? Counts()
            defer { self.counts[one.source] = counts }
            if old?.source != one.source {
                let record = selection.records[one.source]
                let hasAnswer =
                    record.status > 0 && !record.hasFailed && !record.flags.contains(.responseBodyIncomplete)
                    && record.state != .interrupted
                old = (one.source, hasAnswer ? try sources.0.read(record.id.number) : nil)
            }
            guard let side = old?.side else {
                counts.withoutRecorded += 1
                continue
            }
            try? work.add(1, of: answered.count)
            let isOver = work.interruption != nil && (!wasStopped || ContinuousClock.now >= deadline)
            guard !isOver, let id = one.exchange, let new = try sources.1?.read(id.number) else {
                counts.notCompared += 1
                continue
            }
            let difference = try settings.difference(side, new, ofResponses: true)
            counts.differences.add(difference, [side.exchange.record.id.number, id.number], at: index)
        }
    }
}
