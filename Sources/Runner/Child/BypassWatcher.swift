import Foundation
import NIOCore
import Synchronization

/// Watches a running command for connections past the proxy, on a thread of its own.
///
/// It samples every 5 ms until it has used 100 ms of processor time, since the connections of short commands are short;
/// then every 50 ms, or more rarely where a sample takes long, so that it needs at most 0.7 % of a core. Elsewhere than
/// on Linux nothing is found.
final class BypassWatcher: Sendable {
    private static let allowance = 0.1
    private static let shortestPause = 0.005
    private static let usualPause = 0.05
    /// The least pause, as a multiple of the time that a sample took.
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

    /// Takes a last sample and stops; returns all that was found.
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
            let longPause = max(Self.usualPause, (used - before) * Self.pauseRatio)
            let pause = used < Self.allowance ? Self.shortestPause : longPause
            isLast = stopping.wait(timeout: .now() + pause) == .success
        }
        stopped.signal()
    }

    /// The processor time that this thread has used so far.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
