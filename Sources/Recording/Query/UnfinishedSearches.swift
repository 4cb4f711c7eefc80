import HTTPModel
import Synchronization

/// The exchanges in which the search for a filter's expression was given up, as it takes more work than the limits of
/// matching allow: it counts as not found there, which whoever reads the result should know.
package final class UnfinishedSearches: Sendable {
    /// Where the queries that are made within are noted; `nil` where nobody asks.
    @TaskLocal package static var current: UnfinishedSearches?

    private let exchanges = Mutex(Set<Int64>())

    package init() {}

    /// How many exchanges there are.
    package var count: Int { exchanges.withLock { $0.count } }

    /// Takes some out, which are searched again.
    package func forget(_ numbers: [Int64]) { exchanges.withLock { $0.subtract(numbers) } }

    private func add(_ exchange: Int64) { exchanges.withLock { _ = $0.insert(exchange) } }

    /// Whether an expression is found in a text of an exchange; where the search is given up, it is not.
    static func finds(_ expression: FilterExpression, in text: UnsafeRawBufferPointer, of exchange: Int64) -> Bool {
        if let isFound = expression.isFound(in: text) { return isFound }
        current?.add(exchange)
        return false
    }

    /// What to say of them; `nil` where there are none.
    package var remark: String? {
        guard count > 0 else { return nil }
        let exchanges = count == 1 ? "1 exchange" : "\(count) exchanges"
        return "the search was given up for \(exchanges), as the expression takes too long; that counts as no match"
    }
}
