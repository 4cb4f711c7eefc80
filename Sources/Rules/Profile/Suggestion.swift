import HTTPModel

/// Finds the word that was probably meant.
package enum Suggestion {
    /// For example ` (did you mean 'block'?)`; lists all known words if none is near.
    package static func text(for word: String, among known: [String]) -> String {
        guard word.utf8.count <= 40 else { return "" }
        let nearest = known.map { ($0, Spelling.distance(word.lowercased(), $0)) }.min { $0.1 < $1.1 }
        guard let (name, distance) = nearest, distance <= max(1, min(3, name.utf8.count / 2)) else {
            return "; there are \(known.joined(separator: ", "))"
        }
        return " (did you mean '\(name)'?)"
    }
}
