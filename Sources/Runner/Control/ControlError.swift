package struct ControlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence.
    package var message: String
    package var hint: String
    /// Why a file was not overwritten.
    package var conflict: SavingConflict?

    package init(_ message: String, hint: String = "", conflict: SavingConflict? = nil) {
        (self.message, self.hint, self.conflict) = (message, hint, conflict)
    }

    package var description: String { hint.isEmpty ? message : "\(message)\n\(hint)" }
}

package enum SavingConflict: String, Codable, Sendable, Hashable {
    /// The text is new, but a file with its name exists.
    case exists
    /// Another program has changed the file since it was read.
    case changed
}
