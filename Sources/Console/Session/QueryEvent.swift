package import HTTPModel
package import Recording

/// An answer of the ``QueryService``.
package enum QueryEvent: Sendable {
    /// The list has grown, or its pass has come further.
    case list(ListStatus)
    /// Rows of the list from its row `first` on, by distance from its end; `nil` for a number that has no record.
    case rows(generation: Int, first: Int, [ExchangeRecord?])
    /// The operations of GraphQL that exchanges of those rows ask for, in a few words.
    case operations(generation: Int, [ExchangeID: String])
    case position(generation: Int, id: ExchangeID, ListPlace)
    /// Where the next row that was looked for is, as a distance from the list's end; `nil` where there is none that
    /// way.
    case found(generation: Int, index: Int?)
    /// The children of a node of the structure, as far as they are counted.
    case structure(StructureLevel)
    /// What the list amounts to, as far as it is counted.
    case statistics(StatisticsAnswer)
    /// The newest exchanges at a place itself, the newest first.
    case exchanges(at: StructureNode, generation: Int, [ExchangeRecord])
    /// What is to be marked: the numbers of what the list has, or has below a place; and whether there are more.
    case numbers(generation: Int, [Int64], hasMore: Bool)
    /// How many of the exchanges that were asked about the list does not have.
    case hidden(generation: Int, Int)
    /// Exchanges that came to the session, by clients that do not trust the certificate.
    case untrusting([ExchangeRecord])
    case summary(SessionSummary)
    /// The list of a generation does not fit the session any more, as exchanges are gone: it must be asked for again.
    case stale(generation: Int)
    /// Something could not be read; as text for the user.
    case failed(String)
}

/// Where an exchange is in a list, as a distance from the list's end.
package enum ListPlace: Hashable, Sendable {
    case row(Int)
    /// Not in the list; with the nearest row, where the list is in the order of numbers.
    case nowhere(nearest: Int?)
    /// Not in the list so far, which is still being filled.
    case unknown
}

package struct ListStatus: Hashable, Sendable {
    package var generation: Int
    /// The rows that are known so far.
    package var total: Int
    package var sessionTotal: Int
    /// How far the pass has come, from 0 to 1; `nil` once it is done.
    package var progress: Double?
    /// Where the list is empty after a whole pass: the term of the filter that alone excludes everything.
    package var excludedBy: String?
    /// Why the list is incomplete, as text for the user.
    package var error: String?
    /// Where the filter's expressions were given up, as text for the user.
    package var unfinished: String?
    /// How often the list was sorted: rows change places without their number changing.
    package var sorts = 0
}

package enum JumpKind: Hashable, Sendable {
    case marked(Set<Int64>)
    case matching(Filter)
}
