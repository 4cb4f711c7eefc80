import ExchangeCore
import Rules
import Tools

enum ToolNames {
    /// Throws for an unknown name.
    static func stages(_ names: [String]) throws(ControlError) -> Set<StageID> {
        let registry = ToolRegistry.standard
        var stages: Set<StageID> = []
        for name in names {
            let found = name == "all" ? registry.tools.map(\.id) : registry[key: name].map { [$0.id] }
            guard let found else {
                let keys = registry.inOrder.map(\.key).joined(separator: ", ")
                throw ControlError("There is no tool '\(name.prefix(40))'.", hint: "There are: \(keys); or all.")
            }
            stages.formUnion(found)
        }
        return stages
    }
}
