package import NIOCore
import Synchronization

/// Lets other threads schedule on an event loop until it is shut: NIO complains on standard error about later tasks.
package final class LoopEntrance: Sendable {
    let eventLoop: any EventLoop
    private let isOpen = Mutex(true)

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Schedules a task; returns `false` once it is shut.
    @discardableResult
    package func execute(_ task: @escaping @Sendable () -> Void) -> Bool {
        isOpen.withLock { isOpen in
            if isOpen { eventLoop.execute(task) }
            return isOpen
        }
    }

    package func perform(_ task: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let isTaken = execute {
                task()
                continuation.resume()
            }
            if !isTaken { continuation.resume() }
        }
    }

    /// Accepts no more tasks; earlier ones run before the loop ends.
    package func shut() { isOpen.withLock { $0 = false } }
}
