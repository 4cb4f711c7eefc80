import Synchronization

final class SharedRepeatCounter: Sendable {
    private let tally: Mutex<RepeatCounter>

    private static let interval = Duration.milliseconds(100)

    init(total: Int) { tally = Mutex(RepeatCounter(total: total)) }

    var progress: RepeatProgress { tally.withLock { $0.progress } }

    @Sendable
    func add(_ outcome: SendOutcome) { tally.withLock { $0.add(outcome) } }

    /// Reports changed progress until the task is cancelled.
    func report(_ progress: @Sendable (RepeatProgress) -> Void) async {
        var last = self.progress
        while (try? await Task.sleep(for: SharedRepeatCounter.interval)) != nil {
            let now = self.progress
            if now != last { progress(now) }
            last = now
        }
    }
}

struct RepeatCounter {
    private var counted: RepeatProgress
    private var times = RepeatTimes()

    init(total: Int) { counted = RepeatProgress(total: total) }

    var progress: RepeatProgress {
        var progress = counted
        if let summary = times.summary {
            (progress.p50, progress.p95, progress.max) = (summary.p50, summary.p95, summary.most)
        }
        return progress
    }

    mutating func add(_ outcome: SendOutcome) {
        counted.done += 1
        if let status = outcome.status { counted.statuses[status, default: 0] += 1 }
        guard outcome.failure == nil else {
            counted.failures += 1
            counted.firstFailure = counted.firstFailure ?? outcome.failure
            return
        }
        times.add(outcome.duration)
    }
}
