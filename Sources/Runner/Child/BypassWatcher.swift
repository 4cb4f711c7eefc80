import Files
import Foundation
import Jobs
import NIOCore
import Synchronization

/// Watches a running command for connections that bypass the proxy, on a thread of its own (Linux).
///
/// It samples if there is a new socket (checked every millisecond, because short commands have short connections), or
/// after 50 ms. It uses at most a quarter of a second of processor time at once, a fiftieth of a core over time.
final class BypassWatcher: Sendable {
    struct Findings: Sendable {
        var connections: [BypassedConnection] = []
        var programs: Set<String> = []
    }

    private static let shortestPause: UInt64 = 1_000_000
    private static let usualPause: UInt64 = 50_000_000
    private static let share: Int64 = 50

    let found = Mutex(Findings())
    private let stopping = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)

    init(_ scan: BypassScan) {
        guard ProcessFiles.exist else {
            stopped.signal()
            return
        }
        Thread.detachNewThread { self.watch(scan) }
    }

    func stop() async -> Findings {
        stopping.signal()
        await OwnThread.run { self.stopped.wait() }
        return found.withLock { $0 }
    }

    private func watch(_ scan: BypassScan) {
        var scan = scan
        var allowance = ScanAllowance(share: Self.share)
        var isLast = false
        var nextSample: UInt64 = 0
        while true {
            let begin = ScanAllowance.processorTime
            let now = DispatchTime.now().uptimeNanoseconds
            if isLast || now >= nextSample || scan.hasNewSocket() {
                let connections = scan.sample()
                found.withLock { $0.connections += connections }
                nextSample = now + Self.usualPause
            }
            if isLast { break }
            let wait = allowance.pause(after: ScanAllowance.processorTime &- begin, now: now)
            let pause = DispatchTimeInterval.nanoseconds(Int(clamping: max(Self.shortestPause, wait)))
            isLast = stopping.wait(timeout: .now() + pause) == .success
        }
        found.withLock { $0.programs = scan.programs }
        stopped.signal()
    }
}
