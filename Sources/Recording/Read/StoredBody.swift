import GRDB
import HTTPModel
import NIOCore

struct StoredBody {
    private let exchange: ExchangeID
    private let side: BodySide
    private let session: SessionDatabase
    private let inline: ByteBuffer?
    let size: Int64

    init?(of exchange: ExchangeID, side: BodySide, in session: SessionDatabase) throws {
        (self.exchange, self.side, self.session) = (exchange, side, session)
        let inlineSQL = """
            SELECT exchange.id, \(side.column) FROM exchange JOIN payload ON payload.id = exchange.payload
            WHERE exchange.id = ?
            """
        inline =
            try session.rows(inlineSQL, [exchange.number], of: "exchange") { row in
                row.skip()
                return try row.optionalBytes()
            }.first ?? nil
        if let inline {
            size = Int64(inline.readableBytes)
            return
        }
        let lastSQL = """
            SELECT exchange, offset, length(data) FROM chunk WHERE exchange = ? AND side = ?
            ORDER BY offset DESC LIMIT 1
            """
        let ends = try session.rows(lastSQL, [exchange.number, Int64(side.rawValue)], of: "chunk of exchange") { row in
            row.skip()
            return try row.number() + row.number()
        }
        guard let end = ends.first else { return nil }
        size = end
    }

    func read(offset: Int64, limit: Int) throws -> ByteBuffer {
        guard offset < size else { return ByteBuffer() }
        if let inline {
            let start = inline.readerIndex + Int(offset)
            return inline.getSlice(at: start, length: min(limit, Int(size - offset))) ?? ByteBuffer()
        }
        let end = size - offset > Int64(limit) ? offset + Int64(limit) : size
        var body = ByteBuffer()
        // Reads chunk by chunk, so that overlapping chunks of a damaged file cannot yield more bytes than requested.
        while offset + Int64(body.readableBytes) < end {
            let position = offset + Int64(body.readableBytes)
            guard let (start, data) = try chunk(at: position), position - start < Int64(data.readableBytes),
                let part = data.getSlice(
                    at: data.readerIndex + Int(position - start),
                    length: Int(min(Int64(data.readableBytes) - (position - start), end - position))
                )
            else {
                throw SessionError.damaged(session.path, "the body of exchange \(exchange) lacks bytes at \(position)")
            }
            body.writeImmutableBuffer(part)
        }
        return body
    }

    private func chunk(at position: Int64) throws -> (Int64, ByteBuffer)? {
        let sql = """
            SELECT exchange, offset, data FROM chunk WHERE exchange = ? AND side = ? AND offset <= ?
            ORDER BY offset DESC LIMIT 1
            """
        let arguments = [exchange.number, Int64(side.rawValue), position]
        return try session.rows(sql, arguments, of: "chunk of exchange") { row in
            row.skip()
            return (try row.number(), try row.optionalBytes() ?? ByteBuffer())
        }.first
    }
}

extension BodySide {
    fileprivate var column: String {
        ["request_body", "request_body_sent", "response_body", "response_body_sent"][Int(rawValue)]
    }

    /// `nil` for the received sides.
    var received: BodySide? {
        switch self {
        case .requestReceived, .responseReceived: nil
        case .requestSent: .requestReceived
        case .responseSent: .responseReceived
        }
    }
}
