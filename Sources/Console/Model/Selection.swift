package import HTTPModel

/// What a command is about.
package enum Selection: Sendable, Hashable {
    /// In the order in which they were marked; one for the row that has the cursor.
    case exchanges([ExchangeID])
    /// All exchanges at and below a branch of the structure that the list's query leaves.
    case branch(StructureNode)
}

extension ConsoleModel {
    /// What commands for several exchanges act on: the marked ones, else the branch or the exchange under the cursor.
    var selection: Selection? {
        if !marks.isEmpty { return .exchanges(marks) }
        if let id = selectedID { return .exchanges([id]) }
        return isTreeInUse ? structure.selectedRow.map { .branch($0.child.node) } : nil
    }
}
