package import HTTPModel

/// The connections of a sender, by which its exchanges are recognised.
package struct SentConnections: Sendable, Hashable {
    /// By address, `host:port`, in microseconds since 1970; an open connection has no end yet.
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

    /// Another client may have the same address at another time.
    package func contains(_ record: ExchangeRecord) -> Bool {
        guard let address = record.clientAddress else { return false }
        return times[address]?.contains { $0.contains(record.startedAt) } ?? false
    }
}
