/// A key of a profile under which rules stand that can be edited one by one.
package enum ProfileSection: Sendable, Hashable, CustomStringConvertible {
    case tool(Tool)
    /// Which hosts are decrypted: one mapping, which counts as one rule.
    case intercept

    package var key: String {
        switch self {
        case .tool(let tool): tool.key
        case .intercept: "intercept"
        }
    }

    package var description: String { key }

    /// How rules of a tool are read; `nil` for what is not a tool.
    package var tool: Tool? { if case .tool(let tool) = self { tool } else { nil } }
}
