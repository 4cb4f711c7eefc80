package import HTTPModel
package import Sharing

/// The exchange that is open beside or below the list, or alone.
package struct DetailState: Sendable {
    package var isOpen = false
    package var id: ExchangeID?
    /// The pages that the exchange has.
    package var pages: [DetailPage] = [.overview, .request, .response]
    package var options = DetailOptions()
    /// The page that the user turned to last; `nil` for the one that says most about each exchange.
    package var wantedPage: DetailPage?
    /// The number of the page to turn to once the pages of this exchange are known, from 1.
    var awaitedPage: Int?
    /// The form of bodies that the user chose last.
    package var wantedForm = BodyForm.pretty
    /// `nil` until it is read.
    package var document: DetailDocument?
    /// Whether the exchange may still grow, so that it is read again.
    package var isUnfinished = false
    /// When it was last read, in microseconds since 1970.
    package var readAt: Int64 = 0
    /// What the document is of.
    package var shown: Shown?
    /// What is drawn of the document: folds, wrapping, cursor.
    package var reading = ReadingState()
    /// The sections that the user folded or unfolded, by their names: so they are in other exchanges too.
    package var chosenFolds: [String: Bool] = [:]
    /// The question that the document answers.
    package var generation = 0
    /// What was last searched for, as it was typed.
    package var sought = ""
    package var pattern: SoughtText?
    /// The exchange that had the keys when the layout was turned to the list.
    var keysBefore: ExchangeID?
    /// Whether bodies were searched since, so that what is open is opened anew, at its hit.
    var isSearchedAnew = false
    /// Where that is in the document.
    package var found: FoundPlaces?
    /// The page beside this one, if request and response are shown beside each other; it has not the keys.
    package var beside: Half?

    /// A page beside the one with the keys.
    package struct Half: Sendable {
        package var document: DetailDocument?
        package var shown: Shown?
        package var reading = ReadingState()
        package var found: FoundPlaces?
    }

    /// An exchange, its page and how that is shown.
    package struct Shown: Sendable, Hashable {
        package var id: ExchangeID
        package var page: DetailPage
        package var form: BodyForm
        package var version: MessageVersion
    }

    /// The page of the document; while there is none, the one that was asked for.
    package var page: DetailPage { shown.flatMap { $0.id == id ? $0.page : nil } ?? options.page }
}

/// What the screen has of list and detail.
package enum ReadingLayout: String, Sendable, Hashable, CaseIterable {
    case list
    /// The list with the open exchange beside or below it, by the screen's shape.
    case split
    /// The open exchange alone.
    case detail
}
