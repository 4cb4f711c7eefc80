public import HTTPModel

/// The exchange that is open beside or below the list.
public struct DetailState: Sendable {
    /// Whether it is shown.
    public var isOpen = false
    /// Which exchange is shown.
    public var id: ExchangeID?
    /// Its pages that make sense.
    public var pages: [DetailPage] = [.overview, .request, .response]
    /// What is shown of it.
    public var options = DetailOptions()
    /// What is shown, once it is there.
    public var document: DetailDocument?
    /// Whether more of the exchange may come, so that it is read again.
    public var isUnfinished = false
    /// When it was last read: microseconds since 1970.
    public var readAt: Int64 = 0
    /// Which exchange the document is of.
    public var shown: ExchangeID?
    /// Which page of it the document is.
    public var shownPage: DetailPage?
    /// The lines of the document that are drawn: folded blocks and wrapped lines come to it.
    public var reading = ReadingState()
    /// Which question the document answers.
    public var generation = 0
    /// The text that was last looked for.
    public var sought = ""
}
