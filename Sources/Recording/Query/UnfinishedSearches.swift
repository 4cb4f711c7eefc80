import HTTPModel
import Synchronization

/// Exchanges in which the search for a filter's regular expression exceeded its limits. They count as not matching, and
/// the user should see a message.
package final class UnfinishedSearches: Sendable {
    /// Collects the exchanges for queries in this task; `nil` ignores them.
    @TaskLocal package static var current: UnfinishedSearches?

    private let exchanges = Mutex(Set<Int64>())

    package init() {}

    package var count: Int { exchanges.withLock { $0.count } }

    /// Removes exchanges before they are searched again.
    package func forget(_ numbers: [Int64]) { exchanges.withLock { $0.subtract(numbers) } }

    private func add(_ exchange: Int64) { exchanges.withLock { _ = $0.insert(exchange) } }

    /// Returns `false` if the search exceeds its limits.
    static func finds(_ expression: FilterExpression, in text: UnsafeRawBufferPointer, of exchange: Int64) -> Bool {
        if let isFound = expression.isFound(in: text) { return isFound }
        current?.add(exchange)
        return false
    }

    /// A message for the user; `nil` if all searches were finished.
    package var remark: String? {
        guard count > 0 else { return nil }
        let exchanges = count == 1 ? "1 exchange" : "\(count) exchanges"
        return "the search stopped in \(exchanges), because the expression takes too long; that counts as no match"
    }
}
