import HTTPModel

/// The axis of the waterfall: from the first beginning to the last end of some exchanges, with the times shortened at
/// which none of them ran. So the bars beside a pause, or beside one late exchange, keep their length.
struct TimeAxis {
    /// A stretch of time in which exchanges ran, in microseconds, and how much of the axis is before it.
    private struct Stretch {
        var start: Double
        var end: Double
        var before: Double
    }

    /// A pause is at most this part of the time in which exchanges ran.
    private static let longestPause = 0.05

    private var stretches: [Stretch] = []
    private var length = 1.0
    private let isLive: Bool

    init(_ records: [ExchangeRecord], isLive: Bool) {
        self.isLive = isLive
        for record in records.sorted(by: { $0.startedAt < $1.startedAt }) {
            let start = Double(record.startedAt)
            // A tunnel, a stream and what is still open would leave no pause, and no room for others.
            let end = record.kind == .http && !isOpen(record) ? self.end(record) : start
            if let last = stretches.last, start <= last.end {
                stretches[stretches.count - 1].end = max(last.end, end)
            } else {
                stretches.append(Stretch(start: start, end: end, before: 0))
            }
        }
        let pause = Self.longestPause * max(1, stretches.reduce(0) { $0 + $1.end - $1.start })
        for index in stretches.indices.dropFirst() {
            let last = stretches[index - 1]
            let idle = stretches[index].start - last.end
            stretches[index].before = last.before + last.end - last.start + min(pause, idle)
        }
        if let last = stretches.last { length = max(1, last.before + last.end - last.start) }
    }

    /// The bar of one of the exchanges, at least one column wide; up to the end of the axis while it is open.
    func bar(_ record: ExchangeRecord, width: Int) -> String {
        let start = min(width - 1, column(Double(record.startedAt), width))
        let end = isOpen(record) ? width : column(end(record), width)
        let length = min(max(1, end - start), width - start)
        return String(repeating: " ", count: start) + String(repeating: "▬", count: length)
    }

    private func column(_ moment: Double, _ width: Int) -> Int {
        guard let stretch = stretches.last(where: { $0.start <= moment }) else { return 0 }
        let place = stretch.before + min(moment, stretch.end) - stretch.start
        return Int(place / length * Double(width))
    }

    private func end(_ record: ExchangeRecord) -> Double {
        Double(record.startedAt) + Double(max(0, record.timings.total ?? 0))
    }

    private func isOpen(_ record: ExchangeRecord) -> Bool { record.state == .inFlight && isLive }
}
