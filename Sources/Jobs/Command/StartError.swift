package struct StartError: Error, CustomStringConvertible {
    package let message: String
    package let hint: String
    /// Exit code 2 in place of 1.
    package let isUsage: Bool
    /// Whether the message begins with `file:line:column:`.
    package let isPositioned: Bool
    /// Whether the Sluice that was asked has ended.
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
