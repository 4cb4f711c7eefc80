package import ExchangeCore

/// A key of a profile under which rules stand that can be edited one by one.
package enum ProfileSection: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The rules of a tool.
    case tool(StageSlot)
    /// Which hosts are decrypted: one mapping, which counts as one rule.
    case intercept

    /// The tools in their fixed order, and what is decrypted.
    package static var allCases: [ProfileSection] { StageSlot.allCases.map { .tool($0) } + [.intercept] }

    /// The section of a key; `nil` where it is none.
    package init?(key: String) {
        guard let section = ProfileSection.allCases.first(where: { $0.key == key }) else { return nil }
        self = section
    }

    /// The key, as it stands in a profile.
    package var key: String {
        switch self {
        case .tool(let slot): slot.name
        case .intercept: "intercept"
        }
    }

    package var description: String { key }

    /// How rules of a tool are read; `nil` for what is no tool.
    var tool: Tool? {
        guard case .tool(let slot) = self else { return nil }
        return ToolRegistry.tools.first { $0.grammar.slot == slot }
    }
}
