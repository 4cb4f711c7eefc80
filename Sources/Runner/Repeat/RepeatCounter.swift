import Synchronization

/// Shared by the senders of one plan: the number of requests that are still to be sent, and the results of the others.
final class SharedRepeatCounter: Sendable {
    private let tally: Mutex<RepeatCounter>

    /// Progress is reported ten times a second at most.
    private static let interval = Duration.milliseconds(100)

    init(total: Int) { tally = Mutex(RepeatCounter(total: total)) }

    var progress: RepeatProgress { tally.withLock { $0.progress } }

    @Sendable
    func begin() -> Bool { tally.withLock { $0.begin() } }

    @Sendable
    func add(_ outcome: SendOutcome) { tally.withLock { $0.add(outcome) } }

    /// Reports the progress whenever it has changed, until the task is cancelled.
    func report(_ progress: @Sendable (RepeatProgress) -> Void) async {
        var last = self.progress
        while (try? await Task.sleep(for: SharedRepeatCounter.interval)) != nil {
            let now = self.progress
            if now != last { progress(now) }
            last = now
        }
    }
}

/// Counts outcomes.
struct RepeatCounter {
    private(set) var progress: RepeatProgress
    private var begun = 0
    /// The times of the answers, the shortest first.
    private var durations: [Int64] = []

    init(total: Int) { progress = RepeatProgress(total: total) }

    /// Takes the next request of the plan; `false` where none is left.
    mutating func begin() -> Bool {
        guard begun < progress.total else { return false }
        begun += 1
        return true
    }

    mutating func add(_ outcome: SendOutcome) {
        progress.done += 1
        if let status = outcome.status { progress.statuses[status, default: 0] += 1 }
        guard outcome.failure == nil else {
            progress.failures += 1
            progress.firstFailure = progress.firstFailure ?? outcome.failure
            return
        }
        durations.insert(outcome.duration, at: place(of: outcome.duration))
        progress.p50 = percentile(50)
        progress.p95 = percentile(95)
        progress.max = durations.last ?? 0
    }

    /// The nearest rank: the least duration that this percentage does not exceed.
    private func percentile(_ percent: Int) -> Int64 {
        let rank = (durations.count * percent + 99) / 100
        return durations.isEmpty ? 0 : durations[Swift.max(rank, 1) - 1]
    }

    private func place(of duration: Int64) -> Int {
        var range = 0..<durations.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = durations[middle] <= duration ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
