package import HTTPModel
package import Jobs
package import Recording
import Runner
import Synchronization

package struct RepeatResults: Sendable {
    package struct Sent: Sendable, Hashable {
        package var source: Int
        package var outcome: SendOutcome
        package var exchange: ExchangeID?
    }

    /// In the order in which the requests ended.
    package internal(set) var sent: [Sent]
    package let total: Int
    /// From the first request to the last answer.
    package let seconds: Double

    package init(sent: [Sent], total: Int, seconds: Double) {
        (self.sent, self.total, self.seconds) = (sent, total, seconds)
    }

    package var isWhole: Bool { sent.count == total }
    package var failures: Int { sent.count { $0.outcome.failure != nil } }

    /// Sends the requests of a selection in their recorded order, as the plan says; a signal ends it early.
    package static func send(
        _ selection: RepeatSelection,
        asSent: Bool,
        from reader: SessionReader,
        by sender: RequestSender,
        _ plan: RepeatPlan,
        work: LongWork
    ) async -> RepeatResults {
        let count = selection.records.count
        let total = count * plan.times
        let outcomes = RepeatOutcomes()
        let requests = KnownRequests { index in
            let id = selection.records[index].id
            guard let exchange = try reader.exchange(id) else {
                throw ControlError("Exchange \(id) is no longer in the session.")
            }
            return try OutgoingRequest(exchange, asSent: asSent, from: reader)
        }
        work.begin("sending", .things("request"))
        let start = ContinuousClock.now
        await withTaskGroup { group in
            group.addTask {
                await sender.send(
                    total,
                    plan,
                    request: { try requests.request($0 % count) },
                    onOutcome: { index, outcome in
                        var outcome = outcome
                        let failure = outcome.failureCode.map { "Sluice had no answer: \($0.summary)." }
                        outcome.failure = outcome.failure ?? failure
                        outcomes.sent.withLock { $0.append(Sent(source: index % count, outcome: outcome)) }
                        try? work.add(1, of: total)
                    }
                )
            }
            group.addTask {
                while work.interruption == nil, (try? await Task.sleep(for: .milliseconds(50))) != nil {}
            }
            _ = await group.next()
            group.cancelAll()
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        return RepeatResults(sent: outcomes.sent.withLock { $0 }, total: total, seconds: seconds)
    }

    /// In microseconds.
    private static let longestBusy: Int64 = 2_000_000

    /// Finds the exchanges after number `last` by their client addresses and times, because other clients may use the
    /// same addresses at other times. A failed exchange is a failure, whatever the client got. Throws `SessionError`.
    package mutating func find(in reader: SessionReader, after last: Int64) throws {
        var made: [String: [(id: ExchangeID, startedAt: Int64, isOver: Bool, failure: String?)]] = [:]
        try reader.forEachRecord(from: ExchangeID(last + 1)) { record in
            guard let address = record.clientAddress, [.http, .upgraded, .webSocket].contains(record.kind) else {
                return true
            }
            let found = (record.id, record.startedAt, record.state != .inFlight, record.failure?.message)
            made[address, default: []].append(found)
            return true
        }
        var places: [String: [Int]] = [:]
        for (index, one) in sent.enumerated() {
            if let address = one.outcome.address { places[address, default: []].append(index) }
        }
        for (address, indices) in places {
            let records = (made[address] ?? []).sorted { ($0.startedAt, $0.id.number) < ($1.startedAt, $1.id.number) }
            let indices = indices.sorted { sent[$0].outcome.startedAt < sent[$1].outcome.startedAt }
            // Sender and proxy have the same clock, but a busy proxy may have read it earlier.
            let isPaired =
                records.count == indices.count
                && zip(records, indices).allSatisfy { record, index in
                    abs(record.startedAt - sent[index].outcome.startedAt) < Self.longestBusy
                }
            let slack = isPaired ? Self.longestBusy : 20_000
            var next = records.startIndex
            for index in indices {
                let outcome = sent[index].outcome
                let (from, to) = (outcome.startedAt - slack, outcome.startedAt + max(0, outcome.duration) + slack)
                while next < records.endIndex, records[next].startedAt < from { next += 1 }
                guard next < records.endIndex, records[next].startedAt <= to else { continue }
                let record = records[next]
                next += 1
                // An exchange that is still being recorded is found at the next call.
                guard record.isOver else { continue }
                sent[index].exchange = record.id
                // The record has a longer text than the answer's field.
                if outcome.failure == nil || outcome.failureCode != nil, let failure = record.failure {
                    sent[index].outcome.failure = failure
                }
            }
        }
    }
}

private final class RepeatOutcomes: Sendable {
    let sent = Mutex<[RepeatResults.Sent]>([])
}

/// Keeps the requests that were read last.
private final class KnownRequests: Sendable {
    private static let most = 256
    private let known = Mutex<[Int: OutgoingRequest]>([:])
    private let read: @Sendable (Int) throws -> OutgoingRequest

    init(_ read: @escaping @Sendable (Int) throws -> OutgoingRequest) { self.read = read }

    func request(_ index: Int) throws -> OutgoingRequest {
        if let request = known.withLock({ $0[index] }) { return request }
        let request = try read(index)
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[index] = request
        }
        return request
    }
}
