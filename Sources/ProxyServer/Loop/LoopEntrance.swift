package import NIOCore
import Synchronization

/// The way onto an event loop for other threads, which is shut before the loop ends.
///
/// What is scheduled on a loop that was shut down is lost, and NIO complains about it on standard error.
package final class LoopEntrance: Sendable {
    private let eventLoop: any EventLoop
    private let isOpen = Mutex(true)

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Does something on the loop; does nothing and returns `false` once the way is shut.
    @discardableResult
    package func execute(_ task: @escaping @Sendable () -> Void) -> Bool {
        isOpen.withLock { isOpen in
            if isOpen { eventLoop.execute(task) }
            return isOpen
        }
    }

    /// Does something on the loop and waits until it is done, unless the way is shut.
    package func perform(_ task: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let isTaken = execute {
                task()
                continuation.resume()
            }
            if !isTaken { continuation.resume() }
        }
    }

    /// Lets nothing more in; what came in before is done before the loop ends.
    package func shut() { isOpen.withLock { $0 = false } }
}
