import Foundation

package struct SessionError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case missing
        /// For example permission, or a missing directory.
        case cannotOpen = "cannot-open"
        case notASession = "not-a-session"
        /// Written by another version of Sluice.
        case otherSchema = "other-schema"
        case exists
        case locked
        /// The session has content that Sluice does not write.
        case damaged
        case readFailed = "read-failed"
        /// For example a full disk, or a removed file.
        case writeFailed = "write-failed"
    }

    package let code: Code
    /// One sentence that names the file.
    package let message: String
    /// One sentence; may be empty.
    package let hint: String

    package init(_ code: Code, _ message: String, hint: String = "") {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The error with `path` in place of `other`, the name under which the file was used.
    package func naming(_ path: String, for other: String) -> SessionError {
        SessionError(
            code,
            message.replacingOccurrences(of: other, with: path),
            hint: hint.replacingOccurrences(of: other, with: path)
        )
    }

    package var description: String { hint.isEmpty ? message : "\(message) \(hint)" }
}
