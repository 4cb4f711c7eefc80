import Content
package import Description
package import HTTPModel
package import NIOCore
package import Recording

/// Reads exchanges one after the other, and keeps the short bodies of the last one.
package final class ContentSource: ExchangeSource {
    private let reader: SessionReader
    private var last: ExchangeContent?

    package init(_ reader: SessionReader) { self.reader = reader }

    package func read(_ number: Int64) throws -> ExchangeDifference.Side? {
        last = try reader.content(of: ExchangeID(number))
        return last.map { ExchangeDifference.Side($0.exchange, self) }
    }

    package func exchange(_ id: ExchangeID) throws -> RecordedExchange? { try reader.exchange(id) }

    package func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        if let last, last.exchange.record.id == id,
            let body = side == .requestReceived ? last.requestBody : side == .responseReceived ? last.responseBody : nil
        {
            guard offset >= 0, offset < Int64(body.readableBytes) else { return ByteBuffer() }
            let start = body.readerIndex + Int(offset)
            return body.getSlice(at: start, length: min(limit, body.readableBytes - Int(offset))) ?? ByteBuffer()
        }
        return try reader.body(of: id, side: side, offset: offset, limit: limit)
    }

    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        try reader.arrivals(of: id, side: side, from: offset, limit: limit)
    }
}
