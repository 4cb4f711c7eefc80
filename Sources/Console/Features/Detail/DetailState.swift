package import Description
import Expressions
package import HTTPModel
import Text

/// The exchange that is open beside or below the list, or alone.
package struct DetailState: Sendable {
    package var isOpen = false
    package var id: ExchangeID?
    package var pages: [DetailPage] = [.overview, .request, .response]
    package var options = DetailOptions()
    /// The page that the user turned to last; `nil` for the one that says most about each exchange.
    package var wantedPage: DetailPage?
    /// The number of the page to turn to once the pages of this exchange are known, from 1.
    var awaitedPage: Int?
    package var wantedForm = BodyForm.pretty
    package var text = OpenText()
    /// Whether the exchange may still grow, so that it is read again.
    package var isUnfinished = false
    /// When it was last read, in microseconds since 1970.
    package var readAt: Int64 = 0
    /// The sections that the user folded or unfolded, by their names: so they are in other exchanges too.
    package var chosenFolds: [String: Bool] = [:]
    package var generation = 0
    package var sought = ""
    package var pattern: SoughtText?
    /// The exchange that had the keys when the layout was turned to the list.
    var keysBefore: ExchangeID?
    /// Whether bodies were searched since, so that what is open is opened again, at its hit.
    var isSearchedAnew = false
    /// The page beside this one, if request and response are shown beside each other; it has not the keys.
    package var beside: OpenText?

    package struct Shown: Sendable, Hashable {
        package var id: ExchangeID
        package var page: DetailPage
        package var form: BodyForm
    }

    /// The page of the document; while there is none, the one that was asked for.
    package var page: DetailPage { text.shown.flatMap { $0.id == id ? $0.page : nil } ?? options.page }
}

/// A text that is read: a report, or a page of the open exchange.
package struct OpenText: Sendable {
    package var document: DetailDocument?
    /// Which page of which exchange it is; `nil` for a report.
    package var shown: DetailState.Shown?
    package var reading = ReadingState()
    package var found: FoundPlaces?

    mutating func find(_ sought: SoughtText?) {
        found = sought.flatMap { sought in document.map { FoundPlaces(sought, in: $0) } }
    }
}

package enum ReadingLayout: String, Sendable, Hashable, CaseIterable {
    case list
    /// The list with the open exchange beside or below it, by the screen's shape.
    case split
    case detail
}

package struct SearchState: Sendable {
    var text: OpenText
    var foundBeside: FoundPlaces?
    var pattern: SoughtText?
}

package struct ReadingState: Sendable, Hashable {
    package var top = ReadingPlace()
    package var cursor = ReadingPlace()
    /// The folded blocks, by the line that opens them.
    package var folds: Set<Int> = []
    /// Where lines are not wrapped, how many columns are hidden at the left.
    package var left = 0
    /// Whether the end stays in view as the document grows, as long as the reader does not move.
    package var follows = false
    package var match: FoundPlace?
}

package struct FoundPlace: Sendable, Hashable, Comparable {
    package var line: Int
    package var range: Range<TextMark>

    package static func < (left: FoundPlace, right: FoundPlace) -> Bool {
        (left.line, left.range.lowerBound) < (right.line, right.range.lowerBound)
    }
}

package struct FoundPlaces: Sendable {
    /// More are not looked for: nobody goes through them one by one.
    static let most = 100_000

    package private(set) var all: [FoundPlace] = []
    /// The line where the search stopped because the expression took too much work or had too many matches.
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

    func places(in line: Int) -> ArraySlice<FoundPlace> {
        all[all.partitioningIndex { $0.line < line }...].prefix { $0.line == line }
    }
}
