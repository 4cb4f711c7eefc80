package import HTTPModel
package import NIOCore

/// A recorded request with its heads and short bodies, as a pass over all of them reads it.
package struct RecordedRequest: Sendable {
    package var record: ExchangeRecord
    /// Request and response heads; nothing else.
    package var messages: ExchangeMessages
    /// The body as received; `nil` where it is long, or there is none.
    package var body: ByteBuffer?
    /// The body as sent, where a stage changed it and it is short.
    package var bodySent: ByteBuffer?

    package init(
        record: ExchangeRecord,
        messages: ExchangeMessages,
        body: ByteBuffer? = nil,
        bodySent: ByteBuffer? = nil
    ) {
        (self.record, self.messages, self.body, self.bodySent) = (record, messages, body, bodySent)
    }
}

extension SessionReader {
    private static let requestColumns =
        Schema.exchange.columns.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
        + ", a.comment, a.colour, a.deleted_at, e.id, p.request_head, p.request_head_sent, NULL, NULL, p.response_head"
        + ", NULL, NULL, NULL, p.request_body, p.request_body_sent"

    private static let answerColumns =
        Schema.exchange.columns.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
        + ", a.comment, a.colour, a.deleted_at, e.id, p.request_head, p.request_head_sent, NULL, NULL, p.response_head"
        + ", NULL, p.response_trailers, NULL, p.response_body"

    /// One exchange with its heads and trailers and, where it is short, the body of its response, by one statement; `nil`
    /// where there is none of that number.
    package func answer(of id: ExchangeID) throws -> (exchange: RecordedExchange, body: ByteBuffer?)? {
        let sql = """
            SELECT \(SessionReader.answerColumns) FROM exchange AS e LEFT JOIN annotation AS a ON a.exchange = e.id
            JOIN payload AS p ON p.id = e.payload WHERE e.id = ? AND a.deleted_at IS NULL
            """
        return try rows(sql, [id.number], of: "exchange") { row in
            let record = try row.record().record
            let messages = try row.messages()
            return (exchange: RecordedExchange(record: record, messages: messages), body: try row.optionalBytes())
        }.first
    }

    /// Reads all requests, lowest number first, some at a time; the session is not held meanwhile. Throws
    /// ``SessionError``, or what `body` throws.
    package func forEachRequest(_ body: (RecordedRequest) throws -> Void) throws {
        let pageSize: Int64 = 512
        let sql = """
            SELECT \(SessionReader.requestColumns) FROM exchange AS e LEFT JOIN annotation AS a ON a.exchange = e.id
            LEFT JOIN payload AS p ON p.id = e.payload WHERE e.id >= ? AND a.deleted_at IS NULL ORDER BY e.id LIMIT ?
            """
        var next: Int64 = 1
        while true {
            let page = try rows(sql, [next, pageSize], of: "exchange") { row in
                let record = try row.record().record
                return RecordedRequest(
                    record: record,
                    messages: try row.messages(),
                    body: try row.optionalBytes(),
                    bodySent: try row.optionalBytes()
                )
            }
            for request in page { try body(request) }
            guard Int64(page.count) == pageSize, let last = page.last?.record.id.number, last < Int64.max else {
                return
            }
            next = last + 1
        }
    }
}
