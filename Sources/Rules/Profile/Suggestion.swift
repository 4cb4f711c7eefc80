/// Finds the word that was probably meant.
package enum Suggestion {
    /// For example ` (did you mean 'block'?)`; empty if nothing is near.
    package static func text(for word: String, among known: [String]) -> String {
        guard word.utf8.count <= 40 else { return "" }
        let nearest = known.map { ($0, distance(Array(word.lowercased().utf8), Array($0.utf8))) }.min { $0.1 < $1.1 }
        guard let (name, distance) = nearest, distance <= max(1, min(3, name.utf8.count / 2)) else {
            return "; there are \(known.joined(separator: ", "))"
        }
        return " (did you mean '\(name)'?)"
    }

    /// How many letters must be added, removed, replaced or swapped with a neighbour.
    static func distance(_ left: String, _ right: String) -> Int {
        distance(Array(left.utf8.prefix(40)), Array(right.utf8))
    }

    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
