/// Why a command to a running Sluice was not carried out.
package struct ControlFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in one sentence.
    package var message: String
    /// What to try; empty where there is nothing to say.
    package var hint: String
    /// What is in the way of saving; `nil` where it is something else that was wanted, or that is wrong.
    package var conflict: SavingConflict?

    package init(_ message: String, hint: String = "", conflict: SavingConflict? = nil) {
        self.message = message
        self.hint = hint
        self.conflict = conflict
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}

/// Why a file of the profile is not written over without being forced to.
package enum SavingConflict: String, Codable, Sendable, Hashable {
    /// The text was never in a file, and one of its name is there.
    case exists
    /// The file was changed by another since it was read.
    case changed
}
