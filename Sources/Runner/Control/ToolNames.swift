import ExchangeCore
import Rules
import Tools

/// The tools' names, as commands give them.
enum ToolNames {
    /// Finds the tools; `all` means every one.
    ///
    /// - Throws: ``ControlFailure`` for a name that no tool has.
    static func stages(_ names: [String]) throws(ControlFailure) -> Set<StageID> {
        let registry = ToolRegistry.standard
        var stages: Set<StageID> = []
        for name in names {
            if name == "all" {
                stages.formUnion(registry.tools.map(\.id))
            } else if let tool = registry[key: name] {
                stages.insert(tool.id)
            } else {
                throw ControlFailure(
                    "There is no tool '\(name.prefix(40))'.",
                    hint: "There are: \(registry.inOrder.map(\.key).joined(separator: ", ")); or all."
                )
            }
        }
        return stages
    }
}
