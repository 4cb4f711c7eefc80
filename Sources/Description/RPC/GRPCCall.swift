import Content
import HTTPModel
import NIOCore
import Text

/// The messages of a gRPC call in the order of arrival; without recorded arrivals the client's come first.
struct GRPCCall {
    /// Indents a message's content to below its arrow.
    static let indent = String(repeating: " ", count: 13)

    struct Direction {
        let isServer: Bool
        let cursor: StreamCursor<GRPCFrame>
        let reader: GRPCFrameReader
        let text: GRPCMessageText
        var messageCount = 0
        var lastArrival: Int64?

        var arrow: String { isServer ? "←" : "→" }
        var name: String { isServer ? "server" : "client" }
    }

    struct Message {
        /// The message's number among the messages of both directions, from 1.
        var number: Int
        var frame: GRPCFrame
        var direction: Int
        var at: Int64?
        /// The time since the previous message from the same side, in microseconds.
        var gap: Int64?
    }

    /// How the bodies are framed; `nil` for a body that is not gRPC.
    private(set) var formats: (fromClient: StreamCounter.Format?, fromServer: StreamCounter.Format?) = (nil, nil)
    let lookup: DescriptorSet.Lookup?
    var directions: [Direction] = []
    /// The fields of the trailers that gRPC-Web sends as a frame.
    private(set) var webTrailers: FieldSection?
    private var count = 0
    private let exchange: RecordedExchange
    private let descriptors: DescriptorSet?
    private let messageLimit: Int

    /// Prepares to read at most `messageLimit` bytes of each message; `nil` if neither body is gRPC.
    init?(_ exchange: RecordedExchange, source: any ExchangeSource, descriptors: DescriptorSet?, messageLimit: Int) {
        guard exchange.record.kind == .http else { return nil }
        (self.exchange, self.descriptors, self.messageLimit) = (exchange, descriptors, messageLimit)
        lookup = descriptors?.method(path: exchange.record.url.path)
        formats.fromClient = open(.requestReceived, source)
        formats.fromServer = open(.responseReceived, source)
        guard !directions.isEmpty else { return nil }
    }

    private mutating func open(_ side: BodySide, _ source: any ExchangeSource) -> StreamCounter.Format? {
        let fields = exchange.messages.fields(of: side)
        guard let mediaType = fields.value(of: .contentType).flatMap({ MediaType($0) }),
            let format = StreamCounter.Format(mediaType: mediaType.essence), format.isGRPC
        else { return nil }
        let isServer = side == .responseReceived
        var type: String?
        if case .found(let method) = lookup { type = isServer ? method.output : method.input }
        let body = RecordedBody(source: source, id: exchange.record.id, side: side)
        let coding = source.isMasking ? nil : fields.combinedValue(of: .contentEncoding)
        let reader = GRPCFrameReader(format, payloadLimit: messageLimit)
        let timed = TimedBody(body, codings: ContentCoding.list(coding), decodedLimit: ContentDecoder.mostDecoded)
        let encoding = fields.value(of: "grpc-encoding")
        let form = GRPCMessageForm(mediaType)
        let text = GRPCMessageText(encoding: encoding, form: form, type: type, descriptors: descriptors)
        let cursor = StreamCursor(timed, reader: reader)
        directions.append(Direction(isServer: isServer, cursor: cursor, reader: reader, text: text))
        return format
    }

    /// Takes the next message; `nil` if no more messages are there. Throws the source's error.
    mutating func next() throws -> Message? {
        while let cursor = try StreamCursor.earliest(directions.map(\.cursor)),
            let index = directions.firstIndex(where: { $0.cursor === cursor }), let (frame, at) = cursor.take()
        {
            if frame.kind == .trailers {
                let encoding = directions[index].text.encoding
                webTrailers = StoredHead.fields(frame.content(encoding: encoding, limit: messageLimit).bytes)
                continue
            }
            let gap = at.flatMap { at in directions[index].lastArrival.map { max(0, at - $0) } }
            directions[index].messageCount += 1
            directions[index].lastArrival = at
            count += 1
            return Message(number: count, frame: frame, direction: index, at: at, gap: gap)
        }
        for direction in directions where direction.messageCount == 0 && direction.reader.problem?.kind == .malformed {
            if direction.isServer { formats.fromServer = nil } else { formats.fromClient = nil }
        }
        return nil
    }

    /// From now on, ``next()`` continues after a `nil` if more messages have arrived.
    func follow() { for direction in directions { direction.cursor.follows = true } }

    /// Ends following, because no more messages will arrive.
    func endFollowing() { for direction in directions { direction.cursor.follows = false } }

    /// A message in columns, and its content from at most `limit` bytes, whose size is subtracted from `contentLeft`.
    func lines(_ message: Message, limit: Int, _ contentLeft: inout Int) -> [String] {
        let frame = message.frame
        let direction = directions[message.direction]
        let coding = frame.isCompressed ? [direction.text.encoding ?? "compressed"] : []
        guard contentLeft > 0 || frame.size == 0 else {
            return [line(message, coding + ["not shown, as so many others are long"])]
        }
        let (lines, size) = direction.text.lines(frame, limit: min(limit, max(contentLeft, 1)))
        contentLeft -= min(contentLeft, size)
        let decoded = size > 0 ? ", \(Measures.size(Int64(size))) decoded" : ""
        return [line(message, coding.map { $0 + decoded })] + lines.map { GRPCCall.indent + $0 }
    }

    /// Time, direction, gap, size and number of a message, in columns.
    func line(_ message: Message, _ notes: [String]) -> String {
        let direction = directions[message.direction]
        let time = message.at.map { Measures.elapsed(from: exchange.record.startedAt, to: $0) } ?? "-"
        let gap = message.gap.map { "+" + Measures.duration($0) } ?? ""
        let size = Measures.size(Int64(message.frame.size))
        let name = "message \(message.number)"
        let columns = [time.aligned(to: 11), direction.arrow, gap.aligned(to: 9), size.aligned(to: 7), name]
        return (columns + (notes.isEmpty ? [] : ["[\(notes.joined(separator: "; "))]"])).joined(separator: "  ")
    }
}
