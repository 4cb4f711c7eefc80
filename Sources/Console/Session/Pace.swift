import Dispatch
import Synchronization

/// Lets something happen at most ten times a second.
final class Pace: Sendable {
    private let last = Atomic<UInt64>(0)

    /// Whether it may happen now; then it counts as done.
    var isDue: Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - last.load(ordering: .relaxed) >= 100_000_000 else { return false }
        last.store(now, ordering: .relaxed)
        return true
    }
}

final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }
    func cancel() { flag.store(true, ordering: .relaxed) }

    func check() throws {
        if isCancelled { throw CancellationError() }
    }
}
