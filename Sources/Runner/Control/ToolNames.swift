import ExchangeCore

enum ToolNames {
    /// Finds the tools; `all` means every one.
    ///
    /// - Throws: ``ControlFailure`` for a name that no tool has.
    static func slots(_ names: [String]) throws(ControlFailure) -> Set<StageSlot> {
        var slots: Set<StageSlot> = []
        for name in names {
            if name == "all" {
                slots.formUnion(StageSlot.allCases)
            } else if let slot = StageSlot.allCases.first(where: { $0.name == name }) {
                slots.insert(slot)
            } else {
                throw ControlFailure(
                    "There is no tool '\(name.prefix(40))'.",
                    hint: "There are: \(StageSlot.allCases.map(\.name).joined(separator: ", ")); or all."
                )
            }
        }
        return slots
    }
}
