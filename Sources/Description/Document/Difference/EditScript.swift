/// The edits that turn one sequence into another (Myers, "An O(ND) Difference Algorithm", 1986), in bounded time.
enum EditScript {
    /// A place where the two differ; one of the ranges may be empty.
    struct Hunk: Equatable {
        var old: Range<Int>
        var new: Range<Int>
    }

    private static let mostEdits = 1000
    private static let mostSteps = 8_000_000

    /// The places where two sequences differ, in order; `nil` if there are too many.
    static func hunks<Element: Equatable>(_ old: [Element], _ new: [Element]) -> [Hunk]? {
        var prefix = 0
        while prefix < old.count, prefix < new.count, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < min(old.count, new.count) - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] {
            suffix += 1
        }
        let oldRange = prefix..<(old.count - suffix)
        let newRange = prefix..<(new.count - suffix)
        if oldRange.isEmpty, newRange.isEmpty { return [] }
        if oldRange.isEmpty || newRange.isEmpty { return [Hunk(old: oldRange, new: newRange)] }
        return search(old, new, oldRange, newRange)
    }

    private static func search<Element: Equatable>(
        _ old: [Element],
        _ new: [Element],
        _ oldRange: Range<Int>,
        _ newRange: Range<Int>
    ) -> [Hunk]? {
        let (height, width) = (oldRange.count, newRange.count)
        let limit = min(mostEdits, height + width)
        // The furthest position on each diagonal; `history` has the part that each number of edits can change.
        var furthest = [Int32](repeating: 0, count: 2 * limit + 3)
        let middle = limit + 1
        var history: [[Int32]] = []
        var steps = 0
        for edits in 0...limit {
            history.append(Array(furthest[(middle - edits - 1)...(middle + edits + 1)]))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let goesDown =
                    diagonal == -edits
                    || (diagonal != edits && furthest[middle + diagonal - 1] < furthest[middle + diagonal + 1])
                var x = Int(goesDown ? furthest[middle + diagonal + 1] : furthest[middle + diagonal - 1] + 1)
                var y = x - diagonal
                let start = x
                while x < height, y < width, y >= 0, old[oldRange.lowerBound + x] == new[newRange.lowerBound + y] {
                    x += 1
                    y += 1
                }
                steps += x - start + 1
                furthest[middle + diagonal] = Int32(truncatingIfNeeded: x)
                if x >= height, y >= width { return path(history, oldRange, newRange) }
            }
            if steps > mostSteps { return nil }
        }
        return nil
    }

    /// Follows the history back from the end; joins adjacent edits.
    private static func path(_ history: [[Int32]], _ old: Range<Int>, _ new: Range<Int>) -> [Hunk] {
        var hunks: [Hunk] = []
        var (x, y) = (old.count, new.count)
        for edits in history.indices.reversed() where edits > 0 {
            // The entry of diagonal d is at d + edits + 1.
            let reached = history[edits]
            let diagonal = x - y
            func at(_ diagonal: Int) -> Int { Int(reached[diagonal + edits + 1]) }
            let goesDown = diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1))
            let previous = goesDown ? diagonal + 1 : diagonal - 1
            let fromX = at(previous)
            let fromY = fromX - previous
            let (left, right) = (old.lowerBound + fromX, new.lowerBound + fromY)
            let (leftEnd, rightEnd) = goesDown ? (left, right + 1) : (left + 1, right)
            if let last = hunks.last, last.old.lowerBound == leftEnd, last.new.lowerBound == rightEnd {
                hunks[hunks.count - 1] = Hunk(old: left..<last.old.upperBound, new: right..<last.new.upperBound)
            } else {
                hunks.append(Hunk(old: left..<leftEnd, new: right..<rightEnd))
            }
            (x, y) = (fromX, fromY)
        }
        return hunks.reversed()
    }
}
