import HTTPModel
package import Jobs
package import Recording
package import Sharing

/// What is another in the answers to requests that were sent again than in the recorded ones.
package struct RepeatComparison: Sendable {
    package struct Place: Sendable, Hashable {
        /// For example `status`, `response $.items[].name`.
        package var name: String
        package var part: ExchangeDifference.Part
        package var count: Int
        /// The values of the first answer that has it, and the numbers of the recorded exchange and the new one.
        package var old: String?
        package var new: String?
        package var exchanges: [Int64]
    }

    /// Of the answers to one request, or to several.
    package struct Counts: Sendable, Hashable {
        package var compared = 0
        package var different = 0
        /// In how many answers each part differs.
        package var parts: [ExchangeDifference.Part: Int] = [:]
        package var leftOut: [ComparisonRules.Reason: Int] = [:]
        /// Answers to requests of which no whole answer was recorded.
        package var withoutRecorded = 0
        /// Answers that were not recorded, or not compared since it was stopped.
        package var notCompared = 0
        package private(set) var places: [Place] = []
        /// Whether there are places that were not kept.
        package private(set) var hasMore = false

        package var same: Int { compared - different }

        private static let mostPlaces = 60

        fileprivate mutating func add(_ difference: ExchangeDifference, _ numbers: [Int64]) {
            compared += 1
            for (reason, count) in difference.leftOut { leftOut[reason, default: 0] += count }
            guard !difference.isSame else { return }
            different += 1
            for part in Set(difference.changes.map(\.part)) { parts[part, default: 0] += 1 }
            var seen: Set<String> = []
            for change in difference.changes {
                let name = ComparisonRules.withoutIndices(change.place)
                guard seen.insert(name).inserted else { continue }
                add(
                    Place(
                        name: name,
                        part: change.part,
                        count: 1,
                        old: change.old,
                        new: change.new,
                        exchanges: numbers
                    )
                )
            }
        }

        private mutating func add(_ place: Place) {
            if let index = places.firstIndex(where: { $0.name == place.name }) {
                places[index].count += place.count
            } else if places.count < Self.mostPlaces {
                places.append(place)
            } else {
                hasMore = true
            }
        }

        package mutating func add(_ other: Counts) {
            compared += other.compared
            different += other.different
            withoutRecorded += other.withoutRecorded
            notCompared += other.notCompared
            hasMore = hasMore || other.hasMore
            parts.merge(other.parts, uniquingKeysWith: +)
            leftOut.merge(other.leftOut, uniquingKeysWith: +)
            for place in other.places { add(place) }
        }
    }

    /// By the place of the repeated exchange in the selection.
    package private(set) var counts: [Int: Counts] = [:]

    package var all: Counts { counts.sorted { $0.key < $1.key }.reduce(into: Counts()) { $0.add($1.value) } }

    /// For how long answers are still compared once the work was stopped.
    private static let restAfterStop = Duration.seconds(5)

    /// Compares the answers that were found with the recorded ones, without the requests, as a part of some work. Throws
    /// `SessionError`.
    ///
    /// - Parameter made: the session with the new answers; `nil` where there is none.
    package init(
        _ results: RepeatResults,
        of selection: RepeatSelection,
        from recorded: SessionReader,
        _ made: SessionReader?,
        rules: ComparisonRules,
        responses version: MessageVersion = .sent,
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
        for one in answered {
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
            counts.add(
                try ExchangeDifference(side, new, rules: rules, ofResponses: true, responses: version),
                [side.exchange.record.id.number, id.number]
            )
        }
    }
}
