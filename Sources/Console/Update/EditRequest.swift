import HTTPModel
package import Recording

/// What is to be changed of the session's exchanges.
package enum EditRequest: Sendable, Hashable {
    /// Deletes; of a branch, those that the query leaves.
    case delete(Selection, ListQuery)
    /// Deletes all that the query leaves.
    case clear(ListQuery)
    case restore(Deletion)
    case note(Selection, ListQuery, ExchangeNote)
}

/// A deletion that can be taken back.
package struct Deletion: Sendable, Hashable {
    package var mark: Int64
    /// How many changes of rules were made before it.
    package var rulesBefore: Int
}
