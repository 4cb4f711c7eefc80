import Masking

/// Placeholders that have no variable: those of an earlier export, and those in programs and printed bodies.
enum PlaceholderRemark {
    private static let maximumNames = 10

    /// What to do with the placeholders in a command or a program; `nil` if there are none.
    static func text(on bytes: [UInt8]) -> String? {
        let found = Placeholder.all(in: bytes, most: maximumNames).map(\.text)
        return found.isEmpty ? nil : "put the secret in place of \(found.joined(separator: ", "))"
    }
}
