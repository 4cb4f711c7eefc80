package import HTTPModel
package import NIOCore

/// An exchange with its short bodies, as a pass over many reads it: by one statement, without its trace, connections and
/// what was sent on but the response's head.
package struct ExchangeContent: Sendable {
    package var exchange: RecordedExchange
    /// The request's body as received; `nil` where it is not short, or there is none.
    package var requestBody: ByteBuffer?
    package var responseBody: ByteBuffer?
}

extension SessionReader {
    private static let contentColumns =
        "\(Schema.joinedRecord), p.id, p.request_head, NULL, NULL, NULL, p.response_head"
        + ", p.response_head_sent, NULL, NULL, p.request_body, p.response_body"

    /// One exchange with its short bodies; `nil` where there is none of that number.
    package func content(of id: ExchangeID) throws -> ExchangeContent? {
        let sql = """
            SELECT \(SessionReader.contentColumns) FROM exchange AS e LEFT JOIN annotation AS a ON a.exchange = e.id
            JOIN payload AS p ON p.id = e.payload WHERE e.id = ? AND a.deleted_at IS NULL
            """
        return try rows(sql, [id.number], of: "exchange") { row in
            let record = try row.record().record
            let messages = try row.messages()
            return ExchangeContent(
                exchange: RecordedExchange(record: record, messages: messages),
                requestBody: try row.optionalBytes(),
                responseBody: try row.optionalBytes()
            )
        }.first
    }
}
