import Expressions
package import Sharing

/// Where a search found something in a document: a part of a line, whatever is folded.
package struct FoundPlace: Sendable, Hashable, Comparable {
    package var line: Int
    package var range: Range<TextMark>

    package static func < (left: FoundPlace, right: FoundPlace) -> Bool {
        (left.line, left.range.lowerBound) < (right.line, right.range.lowerBound)
    }
}

/// All places of a text or an expression in a document.
package struct FoundPlaces: Sendable {
    /// More are not looked for: nobody goes through them one by one.
    static let most = 100_000

    /// In the order of the document.
    package private(set) var all: [FoundPlace] = []
    /// The line at which the search was given up, as an expression takes too much work or there are too many places.
    package private(set) var end: Int?

    init(_ sought: SoughtText, in document: DetailDocument) {
        // No expression may hold the screen up, however many lines there are.
        MatchingAllowance.$current.withValue(MatchingAllowance()) {
            for line in document.lines.indices {
                guard all.count < FoundPlaces.most, let ranges = try? sought.ranges(in: document.lines[line].spans)
                else {
                    end = line
                    return
                }
                all += ranges.map { FoundPlace(line: line, range: $0) }
            }
        }
    }

    /// Those in a line.
    func places(in line: Int) -> ArraySlice<FoundPlace> {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].line < line { low = middle + 1 } else { high = middle }
        }
        return all[low...].prefix { $0.line == line }
    }
}
