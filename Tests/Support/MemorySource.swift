import Content
package import HTTPModel
package import NIOCore

/// Exchanges and bodies in memory, as an export finds them in a session.
package final class MemorySource: ExchangeSource {
    private struct NoURL: Error {
        let text: String
    }

    private struct Key: Hashable {
        var id: ExchangeID
        var side: BodySide
    }

    package private(set) var exchanges: [RecordedExchange] = []
    private var bodies: [Key: ByteBuffer] = [:]
    private var arrivals: [Key: [Arrival]] = [:]
    /// The largest piece that anyone got.
    package private(set) var largestRead = 0

    package init() {}

    package func exchange(_ id: ExchangeID) -> RecordedExchange? {
        exchanges.first { $0.record.id == id }
    }

    package func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        guard let body = bodies[Key(id: id, side: side)] ?? bodies[Key(id: id, side: side.received)] else {
            return ByteBuffer()
        }
        let start = min(Int(offset), body.readableBytes)
        let piece = body.getSlice(at: body.readerIndex + start, length: min(limit, body.readableBytes - start))
        largestRead = max(largestRead, piece?.readableBytes ?? 0)
        return piece ?? ByteBuffer()
    }

    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        (arrivals[Key(id: id, side: side.received)] ?? []).page(from: offset, limit: limit)
    }

    /// Adds an exchange made of the heads as they stood on the wire.
    @discardableResult
    package func add(
        _ url: String,
        request: String,
        requestBody: some Sequence<UInt8> = [],
        response: String? = nil,
        responseBody: some Sequence<UInt8> = [],
        edit: (inout RecordedExchange) -> Void = { _ in }
    ) throws -> RecordedExchange {
        try add(
            url,
            requestBytes: Array(request.utf8),
            requestBody: requestBody,
            response: response,
            responseBody: responseBody,
            edit: edit
        )
    }

    @discardableResult
    package func add(
        _ url: String,
        requestBytes: [UInt8],
        requestBody: some Sequence<UInt8> = [],
        response: String? = nil,
        responseBody: some Sequence<UInt8> = [],
        edit: (inout RecordedExchange) -> Void = { _ in }
    ) throws -> RecordedExchange {
        let id = ExchangeID(Int64(exchanges.count + 1))
        guard let requestURL = RequestURL(url) else { throw NoURL(text: url) }
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(bytes: requestBytes)
        messages.responseHead = response.map { ByteBuffer(string: $0) }
        let head = StoredHead.request(ByteBuffer(bytes: requestBytes))
        var record = ExchangeRecord(
            id: id,
            kind: .http,
            startedAt: 1_790_000_000_123_456,
            method: head?.method ?? "",
            url: requestURL,
            clientConnection: ConnectionID(7)
        )
        record.state = .complete
        record.status = messages.responseHead.flatMap { StoredHead.response($0) }?.status ?? 0
        record.clientVersion = head?.version ?? .http11
        let sent = ByteBuffer(bytes: requestBody)
        let received = ByteBuffer(bytes: responseBody)
        bodies[Key(id: id, side: .requestReceived)] = sent
        bodies[Key(id: id, side: .responseReceived)] = received
        record.sizes.requestHead = Int64(requestBytes.count)
        record.sizes.requestBody = Int64(sent.readableBytes)
        record.sizes.responseBody = Int64(received.readableBytes)
        var exchange = RecordedExchange(record: record, messages: messages)
        edit(&exchange)
        exchanges.append(exchange)
        return exchange
    }

    package func setBody(_ id: ExchangeID, _ side: BodySide, _ bytes: some Sequence<UInt8>) {
        bodies[Key(id: id, side: side)] = ByteBuffer(bytes: bytes)
    }

    /// Sets a body whose pieces arrived one by one, each so many microseconds after the exchange began.
    package func setStream(_ exchange: RecordedExchange, _ side: BodySide, _ pieces: [(after: Int64, bytes: [UInt8])]) {
        let key = Key(id: exchange.record.id, side: side)
        var body = ByteBuffer()
        arrivals[key] = pieces.map { piece in
            defer { body.writeBytes(piece.bytes) }
            return Arrival(offset: Int64(body.readableBytes), at: exchange.record.startedAt + piece.after)
        }
        bodies[key] = body
    }
}

extension BodySide {
    fileprivate var received: BodySide {
        switch self {
        case .requestReceived, .requestSent: .requestReceived
        case .responseReceived, .responseSent: .responseReceived
        }
    }
}

extension [Arrival] {
    /// What a source gives of all arrivals of a body.
    package func page(from offset: Int64, limit: Int) -> [Arrival] {
        let first = lastIndex { $0.offset <= offset } ?? startIndex
        return Array(self[first...].prefix(Swift.max(0, limit)))
    }
}

extension ExchangeSource {
    /// All arrivals of a body.
    package func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival] {
        try arrivals(of: id, side: side, from: 0, limit: .max)
    }
}
