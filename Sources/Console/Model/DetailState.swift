package import HTTPModel
package import Sharing

/// The exchange that is open beside or below the list.
package struct DetailState: Sendable {
    package var isOpen = false
    package var id: ExchangeID?
    /// Its pages that make sense.
    package var pages: [DetailPage] = [.overview, .request, .response]
    package var options = DetailOptions()
    /// What is shown, once it is there.
    package var document: DetailDocument?
    /// Whether more of the exchange may come, so that it is read again.
    package var isUnfinished = false
    /// When it was last read: microseconds since 1970.
    package var readAt: Int64 = 0
    /// Which exchange the document is of.
    package var shown: ExchangeID?
    /// Which page of it the document is.
    package var shownPage: DetailPage?
    /// The lines of the document that are drawn: folded blocks and wrapped lines come to it.
    package var reading = ReadingState()
    /// Which question the document answers.
    package var generation = 0
    /// The text that was last looked for.
    package var sought = ""
}
