package import ExchangeCore
package import HTTPModel
package import NIOCore
import Synchronization

package final class HoldBoard: Sendable {
    package struct Held: Sendable {
        package let id: HoldID
        package let message: HeldMessage
        package let url: RequestURL
        package let method: String
        /// On the event loops' clock.
        package let since: NIODeadline
        /// The decision if nobody decides in time; the time counts from `since`.
        package let limit: HoldLimit?
        let deliver: @Sendable (HoldResolution) -> Void
    }

    private let held = Mutex<[HoldID: Held]>([:])

    /// Oldest first.
    package var all: [Held] { held.withLock { Array($0.values) }.sorted { $0.since < $1.since } }

    /// Decides, from any thread; returns whether the message was still held. A late or repeated decision does nothing.
    @discardableResult
    package func resolve(_ id: HoldID, _ resolution: HoldResolution) -> Bool {
        guard let entry = held.withLock({ $0.removeValue(forKey: id) }) else { return false }
        entry.deliver(resolution)
        return true
    }

    func add(_ entry: Held) { held.withLock { $0[entry.id] = entry } }

    /// Removes a message; returns whether it was still held, so that no decision about it is on its way.
    @discardableResult
    func remove(_ id: HoldID) -> Bool { held.withLock { $0.removeValue(forKey: id) } != nil }
}
