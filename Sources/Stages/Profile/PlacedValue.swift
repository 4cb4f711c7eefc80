import Yams

/// A value of a YAML file, with the place where it stands: for the files of Sluice that are no profiles.
package struct PlacedValue: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// Nothing written, `~` or `null`.
        case nothing
        /// A text, whatever type YAML takes it for.
        case text(String)
        case list([PlacedValue])
        /// Keys and values in the order of the file.
        case mapping([Member])
    }

    /// A key and its value.
    package struct Member: Sendable, Hashable {
        package var key: PlacedValue
        package var value: PlacedValue
    }

    package var content: Content
    /// The line, from 1.
    package var line: Int
    /// The column in characters, from 1.
    package var column: Int

    /// Reads a text, with the same limits as a profile's.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - file: what issues name it.
    /// - Returns: the value; `nil` where there is nothing in the text.
    /// - Throws: ``ProfileError`` where it is no YAML.
    package static func read(_ text: String, file: String) throws(ProfileError) -> PlacedValue? {
        try ProfileText.tree(text, file: file).map { PlacedValue($0) }
    }

    /// Reads a file, with the same limits as a profile's.
    ///
    /// - Parameter file: its path.
    /// - Returns: the value; `nil` where there is nothing in the file.
    /// - Throws: ``ProfileError`` where it cannot be read or is no YAML.
    package static func read(file: String) throws(ProfileError) -> PlacedValue? {
        try read(ProfileText.read(file), file: file)
    }

    private init(_ node: Node) {
        line = node.mark?.line ?? 1
        column = node.mark?.column ?? 1
        switch node {
        case .mapping(let mapping):
            content = .mapping(mapping.map { Member(key: PlacedValue($0.key), value: PlacedValue($0.value)) })
        case .sequence(let sequence): content = .list(sequence.map { PlacedValue($0) })
        case .scalar(let scalar):
            let isNothing = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
            content = isNothing ? .nothing : .text(scalar.string)
        case .alias: content = .nothing
        }
    }

    /// An error at the value's place.
    ///
    /// - Parameters:
    ///   - message: what is wrong, without a full stop.
    ///   - file: the file that it stands in.
    /// - Returns: the error, to be shown as `file:line:column: message`.
    package func issue(_ message: String, in file: String) -> ProfileIssue {
        ProfileIssue(severity: .error, file: file, line: line, column: column, message: message)
    }

    /// What to add to an error about an unknown word: the nearest known one, or all of them.
    ///
    /// - Parameters:
    ///   - word: the unknown word.
    ///   - known: the words that there are.
    /// - Returns: for example ` (did you mean 'down'?)`; empty where the word is too long to be one.
    package static func suggestion(for word: String, among known: [String]) -> String {
        Suggestion.text(for: word, among: known)
    }
}
