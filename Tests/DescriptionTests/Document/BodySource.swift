import Content
import HTTPModel
import NIOCore
import Support

@testable import Description

/// Bodies in memory, and exchanges made of the heads as they stood on the wire.
final class BodySource: ExchangeSource {
    private struct Key: Hashable {
        var id: ExchangeID
        var side: BodySide
    }

    private var bodies: [Key: ByteBuffer] = [:]
    private var times: [Key: [Arrival]] = [:]
    var failure: (any Error)?

    func exchange(_ id: ExchangeID) -> RecordedExchange? { nil }

    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        if let failure { throw failure }
        guard let body = bodies[Key(id: id, side: side)] ?? bodies[Key(id: id, side: side.received)] else {
            return ByteBuffer()
        }
        let start = min(Int(offset), body.readableBytes)
        return body.getSlice(at: body.readerIndex + start, length: min(limit, body.readableBytes - start))
            ?? ByteBuffer()
    }

    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        (times[Key(id: id, side: side.received)] ?? []).page(from: offset, limit: limit)
    }

    func set(_ side: BodySide, _ bytes: some Sequence<UInt8>, of id: Int64 = 1) {
        bodies[Key(id: ExchangeID(id), side: side)] = ByteBuffer(bytes: bytes)
    }

    /// Sets a body whose pieces arrived one by one, each so many microseconds after the exchange began.
    func stream(_ side: BodySide, _ pieces: [(after: Int64, bytes: [UInt8])], of id: Int64 = 1) {
        let key = Key(id: ExchangeID(id), side: side)
        var body = ByteBuffer()
        times[key] = pieces.map { piece in
            defer { body.writeBytes(piece.bytes) }
            return Arrival(offset: Int64(body.readableBytes), at: Example.start + piece.after)
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

/// Exchanges to show.
enum Example {
    static let start: Int64 = 1_790_000_000_123_456

    static func exchange(
        _ url: String = "https://api.example.com/v1/items?page=2",
        id: Int64 = 1,
        request: String = "GET /v1/items?page=2 HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
        response: String? = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
        edit: (inout RecordedExchange) -> Void = { _ in }
    ) -> RecordedExchange {
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: request)
        messages.responseHead = response.map { ByteBuffer(string: $0) }
        let head = StoredHead.request(ByteBuffer(string: request))
        var record = ExchangeRecord(
            id: ExchangeID(id),
            kind: .http,
            startedAt: start,
            method: head?.method ?? "",
            url: RequestURL(url) ?? RequestURL(scheme: "http", host: "bad", port: 80, path: "/"),
            clientConnection: ConnectionID(7)
        )
        record.state = .complete
        let stored = messages.responseHead.flatMap { StoredHead.response($0) }
        record.status = stored?.status ?? 0
        record.sizes.requestHead = Int64(request.utf8.count)
        record.sizes.responseHead = Int64(response?.utf8.count ?? 0)
        var exchange = RecordedExchange(record: record, messages: messages)
        edit(&exchange)
        return exchange
    }

    /// What a page of an exchange says, line by line.
    static func lines(
        _ page: DetailPage,
        _ exchange: RecordedExchange,
        _ source: BodySource = BodySource(),
        _ edit: (inout DetailOptions) -> Void = { _ in }
    ) -> [String] {
        document(page, exchange, source, edit).lines.map(\.plain)
    }

    /// The place of the JSON value in the first line with a text.
    static func place(of text: String, in document: DetailDocument) -> String? {
        guard case .json(let value)? = document.lines.first(where: { $0.plain.contains(text) })?.copyable else {
            return nil
        }
        return value.place?.description
    }

    static func document(
        _ page: DetailPage,
        _ exchange: RecordedExchange,
        _ source: BodySource = BodySource(),
        _ edit: (inout DetailOptions) -> Void = { _ in }
    ) -> DetailDocument {
        var options = DetailOptions(page: page)
        edit(&options)
        return DetailBuilder(exchange, source: source).document(options)
    }
}
