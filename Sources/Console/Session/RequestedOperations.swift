import HTTPModel
import Sharing

/// The operations of GraphQL that requests of the list ask for; each request is read once.
struct RequestedOperations {
    private static let most = 20_000

    /// `nil` for a request that is not one of GraphQL.
    private var known: [ExchangeID: String?] = [:]

    /// The titles of those among some exchanges.
    mutating func titles(of records: [ExchangeRecord], _ source: any ExchangeSource) -> [ExchangeID: String] {
        if known.count > Self.most { known = [:] }
        var titles: [ExchangeID: String] = [:]
        for record in records where record.kind == .http {
            let title = known[record.id] ?? GraphQLView.title(record, source: source)
            // The body of a request that is still open may be recorded later.
            if title != nil || record.state != .inFlight { known[record.id] = .some(title) }
            titles[record.id] = title
        }
        return titles
    }
}
