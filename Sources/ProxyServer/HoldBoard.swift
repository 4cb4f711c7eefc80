package import ExchangeCore
package import HTTPModel
package import NIOCore
import Synchronization

/// The messages that wait for a decision, over all event loops.
package final class HoldBoard: Sendable {
    package struct Held: Sendable {
        package let id: HoldID
        package let message: HeldMessage
        /// The URL as the client sent it, like the method.
        package let url: RequestURL
        package let method: String
        /// When it began to wait, on the event loops' clock.
        package let since: NIODeadline
        /// What becomes of it if nobody decides; counts from `since`.
        package let limit: HoldLimit?
        let deliver: @Sendable (HoldResolution) -> Void
    }

    private let held = Mutex<[HoldID: Held]>([:])

    /// All that waits, oldest first.
    package var all: [Held] { held.withLock { Array($0.values) }.sorted { $0.since < $1.since } }

    /// Decides about a message, from any thread; returns whether it was still waiting. A late or repeated decision does
    /// nothing.
    @discardableResult
    package func resolve(_ id: HoldID, _ resolution: HoldResolution) -> Bool {
        guard let entry = held.withLock({ $0.removeValue(forKey: id) }) else { return false }
        entry.deliver(resolution)
        return true
    }

    func add(_ entry: Held) { held.withLock { $0[entry.id] = entry } }

    /// Takes a message off the board; returns whether it was still waiting, so that no decision about it is on its way.
    @discardableResult
    func remove(_ id: HoldID) -> Bool { held.withLock { $0.removeValue(forKey: id) } != nil }
}
