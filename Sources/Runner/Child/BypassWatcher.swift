import Foundation
import NIOCore
import Synchronization

/// Watches a running command for connections past the proxy, on a thread of its own.
///
/// It looks every 50 ms, or more rarely where looking takes long, so that it needs at most 0.7 % of a core. Before
/// that it has 100 ms of processor time to spend on looking every 5 ms: the connections of short commands are short.
/// Only Linux tells; elsewhere nothing is found.
final class BypassWatcher: Sendable {
    private static let allowance = 0.1
    private static let shortestPause = 0.005
    private static let usualPause = 0.05
    /// How many times as long as it looked the watcher pauses.
    private static let pauseRatio = 150.0

    private let found = Mutex<[BypassedConnection]>([])
    private let stopping = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)

    init(_ scan: BypassScan, onFound: @escaping @Sendable (BypassedConnection) -> Void = { _ in }) {
        guard ProcessFiles.exist else {
            stopped.signal()
            return
        }
        Thread.detachNewThread { self.watch(scan, onFound) }
    }

    /// Looks once more and stops; returns all that was found.
    func stop() async -> [BypassedConnection] {
        stopping.signal()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.stopped.wait()
                continuation.resume()
            }
        }
        return found.withLock { $0 }
    }

    private func watch(_ scan: BypassScan, _ onFound: (BypassedConnection) -> Void) {
        var scan = scan
        var isLast = false
        let start = Self.processorSeconds
        var used = 0.0
        while true {
            for connection in scan.sample() {
                found.withLock { $0.append(connection) }
                onFound(connection)
            }
            if isLast { break }
            let before = used
            used = Self.processorSeconds - start
            let pause =
                used < Self.allowance ? Self.shortestPause : max(Self.usualPause, (used - before) * Self.pauseRatio)
            isLast = stopping.wait(timeout: .now() + pause) == .success
        }
        stopped.signal()
    }

    /// What this thread has used of a core so far.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
