/// Why a command to a running Sluice was not carried out.
public struct ControlFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in one sentence.
    public var message: String
    /// What to try; empty where there is nothing to say.
    public var hint: String

    /// Creates a failure.
    public init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }

    /// Message and hint.
    public var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}
