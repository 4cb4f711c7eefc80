/// Narrows a list to the items that contain letters in a given order.
package enum FuzzySearch {
    /// The items that contain the letters of `query` in order, best first; all of them for an empty query.
    ///
    /// Adjacent letters, beginnings of words and whole words score higher.
    package static func sorted<Item>(_ items: [Item], by query: String, text: (Item) -> String) -> [Item] {
        let query = Array(query.lowercased().filter { !$0.isWhitespace }.prefix(100))
        guard !query.isEmpty else { return items }
        let scored = items.enumerated().compactMap { index, item in
            let text = Array(text(item).lowercased())
            return score(text, query).map { (score: $0, length: text.count, index: index, item: item) }
        }
        // Of equal scores the shortest wins, rather than a longer name that begins with the query.
        return scored.sorted { ($0.score, -$0.length, -$0.index) > ($1.score, -$1.length, -$1.index) }.map(\.item)
    }

    /// `nil` where the text does not contain the letters in that order.
    static func score(_ text: [Character], _ query: [Character]) -> Int? {
        var best: Int?
        for start in text.indices where text[start] == query.first {
            var (position, total, run, found) = (start, 0, 0, 0)
            while position < text.count, found < query.count {
                if text[position] == query[found] {
                    let isStart = position == 0 || !(text[position - 1].isLetter || text[position - 1].isNumber)
                    run += 1
                    total += run * 2 + (isStart ? 6 : 0)
                    found += 1
                } else {
                    run = 0
                    total -= 1
                }
                position += 1
            }
            guard found == query.count else { break }
            // Prefers a whole word to one that begins with the query.
            if position == text.count || !(text[position].isLetter || text[position].isNumber) { total += 4 }
            best = max(best ?? Int.min, total)
        }
        // Letters strewn over a long text match by chance.
        return best.flatMap { $0 < 0 ? nil : $0 }
    }
}
