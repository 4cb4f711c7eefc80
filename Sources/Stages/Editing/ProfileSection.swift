/// A key of a profile under which rules stand that can be edited one by one.
package enum ProfileSection: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The rules of a tool.
    case tool(Tool)
    /// Which hosts are decrypted: one mapping, which counts as one rule.
    case intercept

    /// The tools in their fixed order, and what is decrypted.
    package static var allCases: [ProfileSection] { ToolRegistry.standard.inOrder.map { .tool($0) } + [.intercept] }

    /// The section of a key; `nil` where it is none.
    package init?(key: String) {
        guard let section = ProfileSection.allCases.first(where: { $0.key == key }) else { return nil }
        self = section
    }

    /// The key, as it stands in a profile.
    package var key: String {
        switch self {
        case .tool(let tool): tool.key
        case .intercept: "intercept"
        }
    }

    package var description: String { key }

    /// How rules of a tool are read; `nil` for what is no tool.
    var tool: Tool? {
        if case .tool(let tool) = self { tool } else { nil }
    }
}
