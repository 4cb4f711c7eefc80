import Foundation

/// The processor time that `body` takes on its thread: how long it takes by the clock depends on what else the machine
/// does.
package func processorTime<Result>(of body: () throws -> Result) rethrows -> (result: Result, time: Duration) {
    let begin = processorTime()
    let result = try body()
    return (result, processorTime() - begin)
}

/// The processor time of this thread so far.
private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
