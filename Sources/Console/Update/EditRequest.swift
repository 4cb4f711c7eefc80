import HTTPModel
package import Recording

/// What is to be changed of the session's exchanges.
package enum EditRequest: Sendable, Hashable {
    /// Deletes; of a branch, those that the query leaves.
    case delete(Selection, ListQuery)
    /// Deletes all that the query leaves.
    case clear(ListQuery)
    case restore(SessionChange)
    case note(Selection, ListQuery, ExchangeNote)
}

/// A change of the session that can be taken back.
package struct SessionChange: Sendable, Hashable {
    /// What takes it back: restores what was deleted, or gives exchanges the comments or colours that they had.
    package var undo: [SessionEdit]
    /// How many changes of rules were made before it.
    package var rulesBefore: Int
}
