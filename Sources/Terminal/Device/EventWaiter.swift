import Foundation

package enum EventWaiter {
    /// Waits until one of the descriptors can be read, and returns those that can; empty at the timeout. One that has
    /// ended or failed counts as readable, so that reading finds it out. Without a timeout it waits without a limit.
    /// Signals do not end the wait by themselves.
    package static func wait(for descriptors: [Int32], timeoutMilliseconds: Int32?) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let deadline = timeoutMilliseconds.map { ContinuousClock.now + .milliseconds(Int64(max($0, 0))) }
        while true {
            let left = deadline.map { milliseconds(until: $0) } ?? -1
            let count = poll(&entries, nfds_t(entries.count), left)
            if count > 0 { return Set(entries.filter { $0.revents != 0 }.map(\.fd)) }
            if count == 0 || errno != EINTR { return [] }
        }
    }

    /// Rounded up, so that a wait does not end early.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = (deadline - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
