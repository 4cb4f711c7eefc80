import HTTPModel
import Recording

/// The exchanges that have ended since they were last asked for.
struct LinearNews {
    /// The most sentences at once; further exchanges are only counted.
    static let most = 20
    private static let mostOpen = 1_000

    private var last: Int64
    private var open: [Int64] = []

    init(after last: Int64) { self.last = last }

    mutating func ended(_ reader: SessionReader) throws -> [ExchangeRecord] {
        let upper = try reader.bounds()?.upperBound ?? 0
        if upper > last {
            open += Array((last + 1)...min(upper, last + 5_000))
            last = min(upper, last + 5_000)
        }
        guard !open.isEmpty else { return [] }
        let records = try reader.records(open)
        var still: [Int64] = []
        var ended: [ExchangeRecord] = []
        for (number, record) in zip(open, records) {
            guard let record, record.state != .inFlight else {
                still.append(number)
                continue
            }
            // An import says in one sentence how many came.
            if record.extras.origin == nil { ended.append(record) }
        }
        open = still.suffix(LinearNews.mostOpen)
        return ended
    }
}
