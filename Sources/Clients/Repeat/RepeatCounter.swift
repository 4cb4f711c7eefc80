import Synchronization

final class RepeatCounter: Sendable {
    private let state: Mutex<(counted: RepeatProgress, times: RepeatTimes)>

    private static let interval = Duration.milliseconds(100)

    init(total: Int) { state = Mutex((RepeatProgress(total: total), RepeatTimes())) }

    var progress: RepeatProgress {
        state.withLock { state in
            var progress = state.counted
            if let summary = state.times.summary {
                (progress.p50, progress.p95, progress.max) = (summary.p50, summary.p95, summary.most)
            }
            return progress
        }
    }

    func add(_ outcome: SendOutcome) {
        state.withLock { state in
            state.counted.done += 1
            if let status = outcome.status { state.counted.statuses[status, default: 0] += 1 }
            guard outcome.failure == nil else {
                state.counted.failures += 1
                state.counted.firstFailure = state.counted.firstFailure ?? outcome.failure
                return
            }
            state.times.add(outcome.duration)
        }
    }

    /// Reports changed progress until the task is cancelled.
    func report(_ progress: @Sendable (RepeatProgress) -> Void) async {
        var last = self.progress
        while (try? await Task.sleep(for: RepeatCounter.interval)) != nil {
            let now = self.progress
            if now != last { progress(now) }
            last = now
        }
    }
}
