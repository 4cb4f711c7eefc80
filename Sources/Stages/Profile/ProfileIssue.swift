/// Something wrong, or hardly meant, in a profile.
package struct ProfileIssue: Sendable, Hashable, CustomStringConvertible {
    /// How bad it is.
    package enum Severity: Sendable, Hashable {
        /// The profile cannot be used.
        case error
        /// The profile can be used, but does perhaps not what was meant.
        case lint
    }

    /// How bad it is.
    package var severity: Severity
    /// The file, as it was named to us.
    package var file: String
    /// The line, from 1.
    package var line: Int
    /// The column in characters, from 1.
    package var column: Int
    /// What is wrong, without a full stop.
    package var message: String
    /// Whether the file itself could not be read.
    var isUnreadable = false

    /// Describes what is wrong at a place.
    package init(severity: Severity, file: String, line: Int, column: Int, message: String) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    /// One line in the form that editors jump to: `file:line:column: message`.
    package var description: String {
        "\(file):\(line):\(column): \(severity == .lint ? "lint: " : "")\(message)"
    }
}

/// Why a profile cannot be used: all that is wrong with it, lints included, in the order of the file.
package struct ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was found; at least one is an error.
    package var issues: [ProfileIssue]

    /// Gathers what is wrong.
    package init(issues: [ProfileIssue]) {
        self.issues = issues
    }

    /// One line for each issue.
    package var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}
