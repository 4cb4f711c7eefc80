import Content
import HTTPModel
import NIOCore

/// How long the work on one document may take, and whether it is still wanted. A late page is shown in part.
package struct DetailBudget: Sendable {
    /// Usual pages take some milliseconds.
    private static let usual = Duration.seconds(5)

    private let deadline: ContinuousClock.Instant
    private let isAbandoned: @Sendable () -> Bool

    /// `isAbandoned` says that the result is no longer wanted; it is called often, on the working thread.
    package init(_ time: Duration? = nil, isAbandoned: @escaping @Sendable () -> Bool = { false }) {
        deadline = .now + (time ?? DetailBudget.usual)
        self.isAbandoned = isAbandoned
    }

    var isSpent: Bool { isAbandoned() || .now >= deadline }

    struct SpentError: Error, CustomStringConvertible {
        var description: String { "it takes too long" }
    }
}

/// A source that throws once the budget is spent, so that reading a long body ends.
struct BudgetedSource: ExchangeSource {
    let source: any ExchangeSource
    let budget: DetailBudget

    private func spend() throws -> any ExchangeSource {
        if budget.isSpent { throw DetailBudget.SpentError() }
        return source
    }

    var isMasking: Bool { source.isMasking }

    func maskedParts(of record: ExchangeRecord) -> [String] { source.maskedParts(of: record) }

    func given(_ message: StreamedMessage, of exchange: RecordedExchange) -> StreamedMessage {
        source.given(message, of: exchange)
    }

    func problem(of id: ExchangeID, side: BodySide) -> DecodingProblem? { source.problem(of: id, side: side) }

    func exchange(_ id: ExchangeID) throws -> RecordedExchange? { try spend().exchange(id) }

    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        try spend().body(of: id, side: side, offset: offset, limit: limit)
    }

    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        try spend().arrivals(of: id, side: side, from: offset, limit: limit)
    }
}
