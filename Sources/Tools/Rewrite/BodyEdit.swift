import HTTPModel
import Rules
import Text

/// An edit of a body's text.
struct BodyEdit: Sendable {
    /// What is replaced; `nil` for all of it.
    let match: TextPattern?
    let replacement: Replacement
    let onlyFirst: Bool

    /// Edits a text.
    ///
    /// - Returns: what was done in words, or `nil` where nothing was.
    /// - Throws: ``RegularExpression/Runaway``, or ``UnusableEdit`` where the text would grow too much.
    func apply(to text: inout TextBody) throws -> String? {
        guard let match else {
            return text.replaceAll(with: Array(replacement.plain.utf8)) ? "replaced whole" : nil
        }
        let count = try text.replace(match, with: replacement, onlyFirst: onlyFirst)
        let matches = "\(count.grouped) match\(count == 1 ? "" : "es") of \(match.description)"
        return count == 0 ? nil : matches + (replacement.isEmpty ? " deleted" : " replaced")
    }
}
