package import HTTPModel
import NIOCore

/// The messages of an exchange, maybe in flight, by arrival; if that is not recorded, the client's come first.
package final class MessageTimeline {
    /// Exports have at most so many bytes of a message's payload in memory.
    package static let longestPayload = 16 << 20

    /// What one direction is a stream of; `nil` where its body is not a stream of messages.
    package let formats: (fromClient: StreamCounter.Format?, fromServer: StreamCounter.Format?)

    private let cursors: [(sender: String, cursor: StreamCursor<StreamedMessage>)]
    private let exchange: RecordedExchange
    private var state: ExchangeRecord.State
    private let source: any ExchangeSource

    /// Prepares to read from the first messages; `nil` where the exchange is not a stream: gRPC has readers of its own.
    /// Of each payload `payloadLimit` bytes are kept, of a body with content coding `decodedLimit` bytes decoded.
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
        // Arrivals are those of the recorded bytes; what a message says is masked when it is whole.
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
            // Frames follow the head; what that says of content coding is not about them.
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

    /// From now on the end of what is there is no end: ``next()`` continues if more has come.
    package func follow() { for (_, cursor) in cursors { cursor.follows = true } }

    /// Nothing more comes: the exchange has ended so.
    package func endFollowing(_ state: ExchangeRecord.State) {
        self.state = state
        for (_, cursor) in cursors {
            cursor.follows = false
            cursor.isOver = state != .inFlight
        }
    }

    /// What kept bytes from being read as messages, in sentences; complete once `next` has returned `nil`.
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
    /// Whether it is a message as a tally counts them: whole, and no control frame.
    package var isCounted: Bool {
        if case .webSocket(let details) = kind, details.opcode.isControl { return false }
        return isWhole
    }
}
