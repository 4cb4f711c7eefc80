package import HTTPModel
package import Sharing

/// The exchange that is open beside or below the list.
package struct DetailState: Sendable {
    package var isOpen = false
    package var id: ExchangeID?
    /// The pages that the exchange has.
    package var pages: [DetailPage] = [.overview, .request, .response]
    package var options = DetailOptions()
    /// `nil` until it is read.
    package var document: DetailDocument?
    /// Whether the exchange may still grow, so that it is read again.
    package var isUnfinished = false
    /// When it was last read, in microseconds since 1970.
    package var readAt: Int64 = 0
    /// The exchange of the document.
    package var shown: ExchangeID?
    /// The page of the document.
    package var shownPage: DetailPage?
    /// What is drawn of the document: folds, wrapping, cursor.
    package var reading = ReadingState()
    /// The question that the document answers.
    package var generation = 0
    /// The text that was last searched for.
    package var sought = ""
}
