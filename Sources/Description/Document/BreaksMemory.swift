import Synchronization

/// Remembers how a document's lines are broken into rows, so that long lines are not broken again for each frame.
package final class BreaksMemory: Sendable {
    private struct Key: Hashable {
        var line: Int
        var isFolded: Bool
        var width: Int
    }

    /// How many lines are kept: more than a screen shows, or than one step scrolls.
    private static let most = 500

    private let known = Mutex<[Key: [Range<TextMark>]]>([:])

    package func rows(_ line: Int, isFolded: Bool, _ width: Int, _ make: () -> [Range<TextMark>]) -> [Range<TextMark>] {
        let key = Key(line: line, isFolded: isFolded, width: width)
        if let rows = known.withLock({ $0[key] }) { return rows }
        let rows = make()
        known.withLock { known in
            if known.count >= BreaksMemory.most { known.removeAll(keepingCapacity: true) }
            known[key] = rows
        }
        return rows
    }
}
