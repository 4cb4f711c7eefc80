/// Why Sluice could not start, or a command could not do its work.
package struct StartError: Error, CustomStringConvertible {
    package let message: String
    /// What to try; may be empty.
    package let hint: String
    /// Whether the command was called wrongly (exit code 2), or failed (1).
    package let isUsage: Bool
    /// Whether the message begins with `file:line:column:`, so that nothing may precede it.
    package let isPositioned: Bool
    /// Whether the Sluice that was asked no longer runs.
    package let isGone: Bool

    package init(
        _ message: String,
        hint: String = "",
        isUsage: Bool = false,
        isPositioned: Bool = false,
        isGone: Bool = false
    ) {
        self.isGone = isGone
        self.message = message
        self.hint = hint
        self.isUsage = isUsage
        self.isPositioned = isPositioned
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}
