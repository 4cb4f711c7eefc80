/// An error or a probable mistake in a profile.
package struct ProfileIssue: Sendable, Hashable, CustomStringConvertible {
    package enum Severity: Sendable, Hashable {
        case error
        /// The profile works, but perhaps not as intended.
        case lint
    }

    package var severity: Severity
    /// As the user named it.
    package var file: String
    /// From 1.
    package var line: Int
    /// In characters, from 1.
    package var column: Int
    /// Without a full stop.
    package var message: String
    var isUnreadable = false

    /// One line in the form that editors jump to: `file:line:column: message`.
    package var description: String { "\(file):\(line):\(column): \(severity == .lint ? "warning: " : "")\(message)" }
}

extension ProfileIssue {
    init(_ severity: Severity, _ message: String, at place: ProfilePlace) {
        self.init(severity: severity, file: place.file, line: place.line, column: place.column, message: message)
    }
}

/// Why a profile cannot be used: all its errors and lints, in the order of the file.
package struct ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// At least one is an error.
    package var issues: [ProfileIssue]

    package var description: String { issues.map(\.description).joined(separator: "\n") }
}

extension ProfileError {
    /// One error at a node, or at the beginning of the file.
    package init(_ message: String, file: String, at node: Node? = nil) {
        self.init(message, file: file, line: node?.line ?? 1, column: node?.column ?? 1)
    }

    package init(_ message: String, at place: ProfilePlace) {
        self.init(message, file: place.file, line: place.line, column: place.column)
    }

    init(_ message: String, file: String, line: Int, column: Int) {
        issues = [ProfileIssue(severity: .error, file: file, line: line, column: column, message: message)]
    }

    /// Throws the issues if one of them is an error.
    static func check(_ issues: [ProfileIssue]) throws(ProfileError) {
        if issues.contains(where: { $0.severity == .error }) { throw ProfileError(issues: issues) }
    }
}
