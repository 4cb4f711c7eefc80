/// A key of a profile whose rules can be edited one by one.
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

    /// The tool of the section; `nil` for `intercept`.
    package var tool: Tool? { if case .tool(let tool) = self { tool } else { nil } }
}
