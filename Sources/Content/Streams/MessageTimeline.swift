package import HTTPModel
import NIOCore

/// An exchange's messages by arrival; without recorded arrivals, the client's come first. It may be in flight.
package final class MessageTimeline {
    /// How many bytes of a message's payload exports keep in memory.
    package static let longestPayload = 16 << 20

    /// The stream format of each direction; `nil` if its body is not a stream of messages.
    package let formats: (fromClient: StreamCounter.Format?, fromServer: StreamCounter.Format?)

    private let cursors: [(sender: String, cursor: StreamCursor<StreamedMessage>)]
    private let exchange: RecordedExchange
    private var state: ExchangeRecord.State
    private let source: any ExchangeSource

    /// Begins at the first message; `nil` if the exchange is not a stream, or is gRPC, which has its own readers. Keeps
    /// `payloadLimit` bytes of each payload; decodes at most `decodedLimit` bytes of a body with content coding.
    package init?(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads? = nil,
        source: any ExchangeSource,
        sides: (request: BodySide, response: BodySide) = (.requestReceived, .responseReceived),
        payloadLimit: Int = 4096,
        decodedLimit: Int = ContentDecoder.mostDecoded
    ) {
        let heads = heads ?? ReadHeads(exchange.messages)
        self.exchange = exchange
        state = exchange.record.state
        self.source = source
        // Arrival times are those of the recorded bytes, so these are read; each complete message is masked.
        let source = source.asRecorded
        formats = (
            MessageTimeline.format(exchange, heads, sides.request),
            MessageTimeline.format(exchange, heads, sides.response)
        )
        guard formats.fromClient != nil || formats.fromServer != nil else { return nil }
        let directions: [(StreamedMessage.Direction, BodySide, StreamCounter.Format?)] = [
            (.fromClient, sides.request, formats.fromClient), (.fromServer, sides.response, formats.fromServer),
        ]
        let agreed = heads.fields(of: .responseReceived).combinedValue(of: "sec-websocket-extensions")
        let extensions = WebSocketExtensions(agreed)
        cursors = directions.compactMap { direction, side, format in
            let reader: any StreamReader<StreamedMessage>
            switch format {
            case .webSocket:
                reader = WebSocketReader(direction: direction, extensions: extensions, payloadLimit: payloadLimit)
            case .serverSentEvents: reader = ServerSentEventReader(direction: direction, dataLimit: payloadLimit)
            case .jsonLines: reader = JSONLineReader(direction: direction, textLimit: payloadLimit)
            case .grpc, .grpcWeb, .grpcWebText, nil: return nil
            }
            // A content coding in the head does not apply to WebSocket frames.
            let coding = format == .webSocket ? nil : heads.fields(of: side).combinedValue(of: .contentEncoding)
            let body = TimedBody(
                RecordedBody(source: source, id: exchange.record.id, side: side),
                codings: ContentCoding.list(coding),
                decodedLimit: decodedLimit
            )
            let cursor = StreamCursor(body, reader: reader)
            cursor.isOver = exchange.record.state != .inFlight
            return (direction == .fromClient ? "client" : "server", cursor)
        }
        if cursors.isEmpty { return nil }
    }

    /// Reads the next message; `nil` at the end. Throws the source's error.
    package func next() throws -> StreamedMessage? {
        guard let cursor = try StreamCursor.earliest(cursors.map(\.cursor)), let (item, at) = cursor.take() else {
            return nil
        }
        var message = item
        message.arrivedAt = at
        // The end of a complete exchange ends its last line, with or without a line feed.
        if cursor.isAtEnd, state == .complete, message.kind == .line { message.isWhole = true }
        return source.given(message, of: exchange)
    }

    /// From now on, ``next()`` continues after a `nil` if more messages have arrived.
    package func follow() { for (_, cursor) in cursors { cursor.follows = true } }

    /// Ends following, because the exchange has ended with `state`.
    package func endFollowing(_ state: ExchangeRecord.State) {
        self.state = state
        for (_, cursor) in cursors {
            cursor.follows = false
            cursor.isOver = state != .inFlight
        }
    }

    /// Why some bytes could not be read as messages, in sentences; complete after `next` has returned `nil`.
    package var remarks: [String] {
        cursors.flatMap { sender, cursor in
            let problem = cursor.reader.problem.map { "What follows from the \(sender) cannot be read: \($0)." }
            let coding = cursor.codingProblem.map { problem in
                "The \(sender)'s body was not decoded\(problem.kind == .notCoded ? "" : " in whole"): \(problem)."
            }
            return [problem, coding].compactMap(\.self)
        }
    }

    package var commentCount: Int64 {
        cursors.reduce(0) { $0 + (($1.cursor.reader as? ServerSentEventReader)?.commentCount ?? 0) }
    }

    private static func format(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ side: BodySide
    ) -> StreamCounter.Format? {
        if exchange.record.kind == .webSocket { return .webSocket }
        guard exchange.record.kind == .http, let type = heads.contentType(of: side).mediaType,
            let format = StreamCounter.Format(mediaType: type.essence)
        else { return nil }
        return format.isGRPC ? nil : format
    }
}

extension StreamedMessage {
    /// Whether message counts include it: it is complete and not a control frame.
    package var isCounted: Bool {
        if case .webSocket(let details) = kind, details.opcode.isControl { return false }
        return isWhole
    }
}
