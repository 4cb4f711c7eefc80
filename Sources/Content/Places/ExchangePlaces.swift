package import HTTPModel
import NIOCore

/// The values at places of an exchange, read on demand.
package final class ExchangePlaces {
    private let exchange: RecordedExchange
    private let source: any ExchangeSource
    private let grpcMessages: () throws -> [ProtobufContent]
    private var messages: [BodySide: MessagePlaces] = [:]
    private var lastSide: BodySide?

    /// - Parameter grpcMessages: Reads the messages of a gRPC call, of both directions.
    package init(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        grpcMessages: @escaping () throws -> [ProtobufContent] = { [] }
    ) {
        (self.exchange, self.source, self.grpcMessages) = (exchange, source, grpcMessages)
    }

    /// Why the last call found no values in a body: a sentence without a full stop; `nil` if the body was read.
    package var problem: String? { lastSide.flatMap { messages[$0]?.problem } }

    /// The values at a place, in order; empty if the exchange does not have the place. Throws the source's errors.
    package func values(at place: Place) throws -> [PlaceValue] {
        lastSide = nil
        if let text = place.text(of: exchange.record) { return [PlaceValue(text)] }
        switch (place.root, place.part) {
        case (.message(let number), _): return try message(number)?.values(place.part, place.steps) ?? []
        case (.grpc, _): return try grpcMessages().flatMap { $0.values(at: place.steps) }
        case (_, .method):
            let head = exchange.messages.head(of: .requestSent).flatMap { StoredHead.request($0) }
            return head.map { [PlaceValue($0.method)] } ?? []
        case (_, .status):
            let status = exchange.record.receivedStatus(exchange.messages)
            return status > 0 ? [PlaceValue(String(status))] : []
        default:
            // GraphQL places are in the request as the client sent it.
            let side = place.root.side ?? .requestReceived
            return try message(of: side).values(place.part, place.steps)
        }
    }

    private func message(of side: BodySide) -> MessagePlaces {
        lastSide = side
        if let known = messages[side] { return known }
        let record = exchange.record
        let url = side == .requestSent ? record.sentURL ?? record.url : record.url
        let body = RecordedBody(source: source, id: record.id, side: side)
        let message = MessagePlaces(
            isRequest: side.isRequest,
            head: exchange.messages.head(of: side),
            trailers: side.isRequest ? exchange.messages.requestTrailers : exchange.messages.responseTrailers,
            query: side.isRequest ? url.query : nil,
            isCoded: !source.isMasking
        ) {
            // The bytes of a WebSocket or a tunnel are not a body.
            guard record.kind == .http else { return ByteBuffer() }
            var bytes = ByteBuffer()
            try body.read(MessagePlaces.longestBody + 1, into: &bytes)
            return bytes
        }
        messages[side] = message
        return message
    }

    /// A message of a stream, counted from 1 in both directions; `nil` if there are fewer.
    private func message(_ number: Int) throws -> MessagePlaces? {
        let limit = MessagePlaces.longestBody
        guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: limit) else { return nil }
        for _ in 1..<number { if try timeline.next() == nil { return nil } }
        return try timeline.next().map { message in
            MessagePlaces(isRequest: false, head: ByteBuffer()) { message.payload }
        }
    }
}
