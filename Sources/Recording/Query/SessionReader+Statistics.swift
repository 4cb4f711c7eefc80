import Dispatch
import Foundation
package import HTTPModel
import Synchronization

extension SessionReader {
    /// Adds exchanges in flight, ended exchanges, or both if `isInFlight` is `nil`. Throws `CancellationError` if the
    /// watch ends the query, else ``SessionError``.
    package func add(
        _ rows: ExchangeRows,
        matching filter: Filter,
        inFlight isInFlight: Bool? = nil,
        to statistics: inout SessionStatistics,
        rows shared: StatisticsRows? = nil,
        watch: StatementWatch? = nil
    ) throws {
        let state = isInFlight.map { "AND e.state \($0 ? "=" : "<>") \(ExchangeRecord.State.inFlight.rawValue)" } ?? ""
        let hasEndpoint = statistics.countsEndpoints
        let columns = SessionStatistics.Entry.columns(hasEndpoint: hasEndpoint)
        let statement = ExchangeStatement(columns, rows, filter, state)
        try run(statement, watch) {
            statistics.add(try SessionStatistics.Entry(&$0, hasEndpoint: hasEndpoint), rows: shared)
        }
    }

    /// Counts the matching exchanges up to the present last one, without locking the session between steps. `onBlock`
    /// is called after each step, on any thread, with the number of counted exchanges and the progress from 0 to 1; an
    /// error that it throws ends the count. If there are more hosts and endpoints than rows, the first that are read
    /// get a row; these may differ the next time. Throws ``SessionError``.
    ///
    /// - Parameter shortestPart: how many numbers justify an additional thread.
    package func statistics(
        matching filter: Filter,
        countsEndpoints: Bool = false,
        shortestPart: Int64 = 50_000,
        onBlock: @escaping @Sendable (_ counted: Int64, _ part: Double) throws -> Void = { _, _ in }
    ) throws -> SessionStatistics {
        guard let bounds = try bounds() else { return SessionStatistics(countsEndpoints: countsEndpoints) }
        let threads = filter.needs == .record ? min(8, ProcessInfo.processInfo.activeProcessorCount) : 1
        let parts = bounds.parts(threads, shortest: shortestPart)
        if parts.count > 1 {
            return try statistics(of: parts, matching: filter, countsEndpoints: countsEndpoints, onBlock)
        }
        return try statistics(in: bounds, matching: filter, countsEndpoints: countsEndpoints, onBlock)
    }

    private func statistics(
        in bounds: ClosedRange<Int64>,
        matching filter: Filter,
        countsEndpoints: Bool,
        rows: StatisticsRows? = nil,
        _ onBlock: (_ counted: Int64, _ part: Double) throws -> Void
    ) throws -> SessionStatistics {
        var statistics = SessionStatistics(countsEndpoints: countsEndpoints)
        try forEachBlock(of: bounds, for: filter) { block in
            try add(.range(block), matching: filter, to: &statistics, rows: rows)
            try onBlock(statistics.all.count, bounds.part(upTo: block.upperBound))
            return true
        }
        return statistics
    }

    /// Reads several ranges in parallel, each with its own reader.
    private func statistics(
        of ranges: [ClosedRange<Int64>],
        matching filter: Filter,
        countsEndpoints: Bool,
        _ onBlock: @escaping @Sendable (_ counted: Int64, _ part: Double) throws -> Void
    ) throws -> SessionStatistics {
        let progress = Mutex(ranges.map { _ in (counted: Int64(0), part: 0.0) })
        let outcomes = Mutex([Result<SessionStatistics, any Error>?](repeating: nil, count: ranges.count))
        let hasFailed = Atomic(false)
        let rows = StatisticsRows()
        DispatchQueue.concurrentPerform(iterations: ranges.count) { index in
            let outcome = Result {
                let (range, reader) = (ranges[index], index == 0 ? self : another() ?? self)
                return try reader.statistics(in: range, matching: filter, countsEndpoints: countsEndpoints, rows: rows)
                {
                    counted,
                    part in
                    if hasFailed.load(ordering: .relaxed) { throw CancellationError() }
                    let now = progress.withLock { progress in
                        progress[index] = (counted, part)
                        return (progress.reduce(0) { $0 + $1.counted }, progress.reduce(0) { $0 + $1.part })
                    }
                    try onBlock(now.0, now.1 / Double(ranges.count))
                }
            }
            if case .failure = outcome { hasFailed.store(true, ordering: .relaxed) }
            outcomes.withLock { $0[index] = outcome }
        }
        let found = outcomes.withLock { $0.compactMap(\.self) }
        // Reports the error that ended the other threads, not their cancellation.
        for case .failure(let error) in found where !(error is CancellationError) { throw error }
        return try found.reduce(into: SessionStatistics(countsEndpoints: countsEndpoints)) { $0.add(try $1.get()) }
    }
}

extension ClosedRange<Int64> {
    /// Splits the range into at most `most` equal parts.
    fileprivate func parts(_ most: Int, shortest: Int64) -> [ClosedRange<Int64>] {
        let length = upperBound - lowerBound
        let count = Swift.max(1, Swift.min(Int64(most), length / shortest))
        let step = length / count
        return (0..<count).map { index in
            let start = lowerBound + index * step + (index == 0 ? 0 : 1)
            return start...(index == count - 1 ? upperBound : lowerBound + (index + 1) * step)
        }
    }
}
