/// Times of answers in microseconds, for exact percentiles and a histogram.
package struct RepeatTimes: Sendable, Hashable {
    private var values: [Int64] = []
    private var sortedCount = 0
    private static let block = 1_024

    package init() {}

    package init(_ times: some Sequence<Int64>) {
        values = times.sorted()
        sortedCount = values.count
    }

    package var count: Int { values.count }

    package mutating func add(_ time: Int64) {
        values.append(time)
        if values.count - sortedCount > max(Self.block, sortedCount / 8) { sort() }
    }

    package mutating func add(_ other: RepeatTimes) {
        values += other.values
        sort()
    }

    private mutating func sort() {
        values.sort()
        sortedCount = values.count
    }

    package var sorted: [Int64] { sortedCount == values.count ? values : values.sorted() }

    package struct Summary: Sendable, Hashable {
        package var least: Int64
        package var p50: Int64
        package var p95: Int64
        package var p99: Int64
        package var most: Int64
    }

    package var summary: Summary? {
        let sorted = sorted
        guard let least = sorted.first, let most = sorted.last else { return nil }
        func percentile(_ percent: Int) -> Int64 {
            // The nearest rank.
            sorted[max((sorted.count * percent + 99) / 100, 1) - 1]
        }
        return Summary(least: least, p50: percentile(50), p95: percentile(95), p99: percentile(99), most: most)
    }

    package struct Bucket: Sendable, Hashable {
        package var from: Int64
        /// Exclusive; the last bucket may have longer times.
        package var to: Int64
        package var count: Int
    }

    /// At most `most` buckets of one round length; a few much longer times are all in the last bucket.
    package func buckets(_ most: Int = 12) -> [Bucket] {
        let sorted = sorted
        guard let summary, most > 1 else { return [] }
        let high = summary.most > 2 * summary.p99 ? summary.p99 : summary.most
        let step = Self.step(atLeast: max(1, (high - summary.least) / Int64(most - 1) + 1))
        let start = summary.least / step * step
        var buckets: [Bucket] = []
        var (from, index) = (start, 0)
        while index < sorted.count {
            let isLast = buckets.count == most - 1
            let to = isLast ? max(from + step, summary.most + 1) : from + step
            let first = index
            while index < sorted.count, sorted[index] < to { index += 1 }
            buckets.append(Bucket(from: from, to: to, count: index - first))
            from = to
        }
        return buckets
    }

    /// 1, 2 or 5 times a power of ten, from a tenth of a millisecond.
    private static func step(atLeast least: Int64) -> Int64 {
        var ten: Int64 = 100
        while ten < Int64.max / 100 {
            for step in [ten, 2 * ten, 5 * ten] where step >= least { return step }
            ten *= 10
        }
        return least
    }
}
