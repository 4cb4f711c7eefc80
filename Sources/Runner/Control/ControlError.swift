/// Why a command to a running Sluice was not carried out.
package struct ControlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in one sentence.
    package var message: String
    /// What to try; may be empty.
    package var hint: String
    /// Why a file was not saved over; `nil` for any other failure.
    package var conflict: SavingConflict?

    package init(_ message: String, hint: String = "", conflict: SavingConflict? = nil) {
        self.message = message
        self.hint = hint
        self.conflict = conflict
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}

/// Why a file of the profile is not overwritten unless forced.
package enum SavingConflict: String, Codable, Sendable, Hashable {
    /// The text was never saved, and a file of its name exists.
    case exists
    /// Another program has changed the file since it was read.
    case changed
}
