package import HTTPModel
package import NIOCore

package struct RecordedRequest: Sendable {
    package var record: ExchangeRecord
    /// The heads only.
    package var messages: ExchangeMessages
    /// The received body; `nil` if it is long.
    package var body: ByteBuffer?
    /// The sent body, if a rule changed it and it is short.
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

/// An exchange with short bodies, without trace and connections. Of the sent messages, it has only the response's head.
package struct ExchangeContent: Sendable {
    package var exchange: RecordedExchange
    package var requestBody: ByteBuffer?
    package var responseBody: ByteBuffer?
}

extension SessionReader {
    private func exchanges<Value>(
        with columns: String,
        _ condition: String,
        _ arguments: [Int64],
        _ value: (ExchangeRecord, inout RowReader) throws -> Value
    ) throws -> [Value] {
        let sql = """
            SELECT \(Schema.joinedRecord), e.id, \(columns)
            FROM exchange AS e LEFT JOIN annotation AS a ON a.exchange = e.id LEFT JOIN payload AS p ON p.id = e.payload
            WHERE a.deleted_at IS NULL AND \(condition)
            """
        return try rows(sql, arguments, of: "exchange") { row in
            try value(try row.record().record, &row)
        }
    }

    package func content(of id: ExchangeID) throws -> ExchangeContent? {
        let columns = """
            p.request_head, NULL, NULL, NULL, p.response_head, p.response_head_sent, NULL, NULL,
            p.request_body, p.response_body
            """
        return try exchanges(with: columns, "e.id = ?", [id.number]) { record, row in
            let exchange = RecordedExchange(record: record, messages: try row.messages())
            let request = try row.optionalBytes()
            let response = try row.optionalBytes()
            return ExchangeContent(exchange: exchange, requestBody: request, responseBody: response)
        }.first
    }

    package func answer(of id: ExchangeID) throws -> (exchange: RecordedExchange, body: ByteBuffer?)? {
        let columns = """
            p.request_head, p.request_head_sent, NULL, NULL, p.response_head, NULL, p.response_trailers, NULL,
            p.response_body
            """
        return try exchanges(with: columns, "e.id = ?", [id.number]) { record, row in
            let exchange = RecordedExchange(record: record, messages: try row.messages())
            return (exchange: exchange, body: try row.optionalBytes())
        }.first
    }

    /// Lowest number first; the session is not locked meanwhile. Throws ``SessionError``, or an error of `body`.
    package func forEachRequest(_ body: (RecordedRequest) throws -> Void) throws {
        let pageSize: Int64 = 512
        let columns = """
            p.request_head, p.request_head_sent, NULL, NULL, p.response_head, NULL, NULL, NULL,
            p.request_body, p.request_body_sent
            """
        var next: Int64 = 1
        while true {
            let condition = "e.id >= ? ORDER BY e.id LIMIT ?"
            let page = try exchanges(with: columns, condition, [next, pageSize]) { record, row in
                RecordedRequest(
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
