import Rules

/// Why a file is not taken for Charles' settings.
package struct CharlesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1.
    package var line: Int
    /// The column in characters, from 1.
    package var column: Int
    /// What is wrong, and what to do where that can be said; without a full stop.
    package var message: String
    /// Whether nothing is wrong with the file: it takes another argument to read it.
    package var needsArgument: Bool

    package init(line: Int = 1, column: Int = 1, message: String, needsArgument: Bool = false) {
        self.line = line
        self.column = column
        self.message = message
        self.needsArgument = needsArgument
    }

    /// In the form that follows a file's name: `line:column: message`.
    package var description: String { "\(line):\(column): \(message)" }
}
