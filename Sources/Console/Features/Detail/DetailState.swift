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
    /// The page that the user chose last; `nil` to show the most informative page of each exchange.
    package var wantedPage: DetailPage?
    /// The number of the page, from 1, to open once the pages of this exchange are known.
    var awaitedPage: Int?
    package var wantedForm = BodyForm.pretty
    package var text = OpenText()
    /// Whether the exchange may still change, so that it must be loaded again.
    package var isUnfinished = false
    /// When the exchange was last loaded, in microseconds since 1970.
    package var readAt: Int64 = 0
    /// The sections that the user folded (`true`) or unfolded, by name. Other exchanges use these folds too.
    package var chosenFolds: [String: Bool] = [:]
    package var generation = 0
    package var sought = ""
    package var pattern: SoughtText?
    /// The exchange that had the keyboard focus when the layout was changed to the list.
    var keysBefore: ExchangeID?
    /// Whether bodies were searched since the exchange was opened, so that it must be opened again, at its match.
    var isSearchedAnew = false
    /// The second page, if request and response are shown side by side; it does not have the keyboard focus.
    package var beside: OpenText?

    package struct Shown: Sendable, Hashable {
        package var id: ExchangeID
        package var page: DetailPage
        package var form: BodyForm
    }

    /// The page of the document; the requested page while the document is not loaded.
    package var page: DetailPage { text.shown.flatMap { $0.id == id ? $0.page : nil } ?? options.page }
}

/// A text with a reading position: a report, or a page of the open exchange.
package struct OpenText: Sendable {
    package var document: DetailDocument?
    /// The exchange and page of the document; `nil` for a report.
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
    /// The folded blocks, by the number of their first line.
    package var folds: Set<Int> = []
    /// How many columns are hidden at the left, if lines are not wrapped.
    package var left = 0
    /// Whether the end stays in view as the document grows, until the reader moves.
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
    /// The maximum number of matches: nobody steps through more of them.
    static let most = 100_000

    package private(set) var all: [FoundPlace] = []
    /// The line where the search stopped because the regular expression took too much time or had too many matches.
    package private(set) var end: Int?

    init(_ sought: SoughtText, in document: DetailDocument) {
        // No regular expression may block the screen, however many lines there are.
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
