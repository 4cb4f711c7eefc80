import Foundation

package struct SessionError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case missing
        /// The file could not be created or opened: permission, missing directory, a directory in its place.
        case cannotOpen = "cannot-open"
        /// The file is not a session.
        case notASession = "not-a-session"
        /// The file was written by a Sluice with another version of the tables.
        case otherSchema = "other-schema"
        case exists
        case locked
        /// The file has content that Sluice does not write.
        case damaged
        case readFailed = "read-failed"
        /// The file could not be written any more: disk full, I/O error, file removed.
        case writeFailed = "write-failed"
    }

    package let code: Code
    /// What happened, to which file, in one sentence.
    package let message: String
    /// What to try, in one sentence; may be empty.
    package let hint: String

    package init(_ code: Code, _ message: String, hint: String = "") {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    /// The same error with the name that the user gave, for a file that was read or written under another name.
    package func naming(_ path: String, for other: String) -> SessionError {
        SessionError(
            code,
            message.replacingOccurrences(of: other, with: path),
            hint: hint.replacingOccurrences(of: other, with: path)
        )
    }

    package var description: String { hint.isEmpty ? message : "\(message) \(hint)" }
}
