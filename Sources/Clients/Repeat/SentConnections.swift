package import HTTPModel

/// The connections of a sender, by which its exchanges are recognised.
package struct SentConnections: Sendable, Hashable {
    /// When connections were open, by address (`host:port`), in microseconds since 1970; `Int64.max` if still open.
    private var times: [String: [ClosedRange<Int64>]] = [:]
    /// Increases with each connection that begins or ends.
    package private(set) var version = 0

    package init() {}

    package mutating func begin(_ address: String, at moment: Int64) {
        times[address, default: []].append(moment...Int64.max)
        version += 1
    }

    package mutating func end(_ address: String, at moment: Int64) {
        guard let last = times[address]?.popLast() else { return }
        times[address]?.append(last.lowerBound...max(last.lowerBound, moment))
        version += 1
    }

    /// Another client may have used the same address at another time, so the time is compared, too.
    package func contains(_ record: ExchangeRecord) -> Bool {
        guard let address = record.clientAddress else { return false }
        return times[address]?.contains { $0.contains(record.startedAt) } ?? false
    }
}
