import Foundation

/// Why a session could not be opened, read or written.
package struct SessionError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case missing
        /// The file could not be created or opened: permission, missing directory, a directory in its place.
        case cannotOpen = "cannot-open"
        /// The file is something else than a session.
        case notASession = "not-a-session"
        /// The file was written by an older Sluice.
        case olderSchema = "older-schema"
        /// The file was written by a newer Sluice.
        case newerSchema = "newer-schema"
        /// There is a file of that name already.
        case exists
        case locked
        /// The file holds what no Sluice writes.
        case damaged
        /// The file could not be read any more.
        case readFailed = "read-failed"
        /// The file could not be written any more: disk full, I/O error, file removed.
        case writeFailed = "write-failed"
    }

    package let code: Code
    /// What happened, to which file, in one sentence.
    package let message: String
    /// What to try, in one sentence; empty where there is nothing to say.
    package let hint: String

    package init(_ code: Code, _ message: String, hint: String = "") {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The same of a file by the name that the user gave it, where it was read or written under another one.
    package func naming(_ path: String, for other: String) -> SessionError {
        SessionError(
            code,
            message.replacingOccurrences(of: other, with: path),
            hint: hint.replacingOccurrences(of: other, with: path)
        )
    }

    package var description: String { hint.isEmpty ? message : "\(message) \(hint)" }
}
