package import Content
package import HTTPModel
package import NIOCore

/// Writes the content of an exchange in flight: a line for each message, or a body's bytes. Reads nothing twice.
package final class ExchangeFollower {
    private static let pieceSize = 256 << 10
    private static let messageLimit = 64 << 10

    private enum Way {
        case messages(MessageTimeline, StreamPage)
        case call(GRPCCall)
        case body(BodySide)
    }

    private let exchange: RecordedExchange
    private let source: any ExchangeSource
    private var way: Way
    private var offset: Int64 = 0
    /// Decodes a body's content coding; `nil` if the coding is kept.
    private let decoder: ContentDecoder?
    private var count = 0
    private var lastArrival: StreamPage.Arrivals = [:]

    /// Without a `side` it writes messages, or the response's body if there are none. `raw` keeps the content coding.
    package init(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        side: BodySide? = nil,
        raw: Bool = false,
        descriptors: DescriptorSet? = nil
    ) {
        (self.exchange, self.source) = (exchange, source)
        let limit = ExchangeFollower.messageLimit
        if side == nil,
            let call = GRPCCall(exchange, source: source, descriptors: descriptors, messageLimit: limit)
        {
            call.follow()
            (way, decoder) = (.call(call), nil)
        } else if side == nil,
            let timeline = MessageTimeline(exchange, source: source, payloadLimit: limit, decodedLimit: .max)
        {
            timeline.follow()
            (way, decoder) = (.messages(timeline, StreamPage(exchange: exchange, source: source)), nil)
        } else {
            let side = side ?? .responseReceived
            way = .body(side)
            let isMessage = exchange.record.kind == .http
            let coding = isMessage ? exchange.messages.fields(of: side).combinedValue(of: .contentEncoding) : nil
            decoder = raw ? nil : coding.map { ContentDecoder(codings: ContentCoding.list($0), limit: .max) }
        }
    }

    /// Whether lines are written, and not the bytes of a body.
    package var writesLines: Bool { if case .body = way { false } else { true } }

    /// Writes what has arrived since the last call, up to the end if `state` is an end. Throws source and sink errors.
    package func advance(_ state: ExchangeRecord.State, _ sink: (ByteBuffer) throws -> Void) throws {
        switch way {
        case .messages(let timeline, var page):
            if state != .inFlight {
                timeline.endFollowing(state)
                var ended = exchange
                ended.record.state = state
                page = StreamPage(exchange: ended, source: source)
            }
            while let message = try timeline.next() {
                count += 1
                try sink(ByteBuffer(string: page.printed(message, number: count, &lastArrival)))
            }
            if state != .inFlight { try finish(timeline.remarks, sink) }
        case .call(var call):
            if state != .inFlight { call.endFollowing() }
            while let message = try call.next() {
                var contentLeft = ExchangeFollower.messageLimit
                let lines = call.lines(message, limit: contentLeft, &contentLeft)
                try sink(ByteBuffer(string: lines.map { "\($0)\n" }.joined()))
            }
            way = .call(call)
            if state != .inFlight {
                try finish(call.directions.compactMap { $0.reader.problem.map { "\($0)" } }, sink)
            }
        case .body(let side):
            while true {
                let limit = ExchangeFollower.pieceSize
                let piece = try source.body(of: exchange.record.id, side: side, offset: offset, limit: limit)
                guard piece.readableBytes > 0 else { break }
                offset += Int64(piece.readableBytes)
                try decoder?.decode(piece) { try sink(ByteBuffer(bytes: $0)) } ?? sink(piece)
            }
        }
    }

    package var problem: DecodingProblem? { decoder?.problem }

    private func finish(_ remarks: [String], _ sink: ExportSink) throws {
        for remark in remarks { try sink(ByteBuffer(string: remark + "\n")) }
    }
}
