import Foundation

package enum EventWaiter {
    /// Waits until a descriptor is readable, and returns all readable descriptors; empty at the timeout. A descriptor
    /// that has ended or failed counts as readable, so that the next read reports this. Signals do not end the wait.
    package static func wait(for descriptors: [Int32], timeoutMilliseconds: Int32) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
        while true {
            // Rounded up, so that a wait does not end early.
            let left = max(0, ((deadline - .now) / .milliseconds(1)).rounded(.up))
            let count = poll(&entries, nfds_t(entries.count), Int32(left))
            if count > 0 { return Set(entries.filter { $0.revents != 0 }.map(\.fd)) }
            if count == 0 || errno != EINTR { return [] }
        }
    }
}
