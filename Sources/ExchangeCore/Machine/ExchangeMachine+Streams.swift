import Content
import HTTPModel
import NIOCore

/// The taps, and the recording of streams of messages. Messages are counted as they pass, for lists. Only their bytes
/// and arrival times are recorded, because readers of a session find the messages in the bytes.
extension ExchangeMachine {
    /// Whether long silence is normal for the exchange. Except for gRPC calls only the response decides, because an
    /// upload of JSON lines ends like any other upload.
    package var isStream: Bool { record.flags.contains(.grpc) || response.stream?.isOfMessages == true }

    mutating func tapRequest(_ part: ByteBuffer) {
        record.sizes.requestBody += Int64(part.readableBytes)
        if state.isTunnel { record.sizes.requestWire += Int64(part.readableBytes) }
        guard !record.flags.contains(.tunnelledTLS) else { return }
        if let offset = request.stream?.take(part, now: exchange.now) {
            sink.record(.arrival(record.id, .requestReceived, offset: offset, at: wallClock))
            record.tally.fromClient = request.stream?.count ?? 0
            unrecorded = max(unrecorded, .progress)
        }
        if request.stream == nil { noteProgress() }
        sink.record(.body(record.id, .requestReceived, part))
    }

    mutating func tapResponse(_ part: ByteBuffer) {
        record.sizes.responseBody += Int64(part.readableBytes)
        if state.isTunnel { record.sizes.responseWire += Int64(part.readableBytes) }
        guard !record.flags.contains(.tunnelledTLS) else { return }
        if let offset = response.stream?.take(part, now: exchange.now) {
            sink.record(.arrival(record.id, .responseReceived, offset: offset, at: wallClock))
            record.tally.fromServer = response.stream?.count ?? 0
            unrecorded = max(unrecorded, .progress)
        }
        if response.stream == nil { noteProgress() }
        sink.record(.body(record.id, .responseReceived, part))
    }

    /// Has the size of a long body recorded from time to time, so that its progress can be seen.
    private mutating func noteProgress() {
        let last = progressAt ?? exchange.now
        let isDue = exchange.now - last >= ExchangeMachine.progressInterval
        if isDue { unrecorded = max(unrecorded, .progress) }
        if isDue || progressAt == nil { progressAt = exchange.now }
    }

    /// A trailer section in its recorded form.
    static func stored(_ trailers: FieldSection?) -> ByteBuffer? {
        guard let trailers, !trailers.isEmpty else { return nil }
        var bytes = ByteBuffer()
        trailers.write(into: &bytes)
        return bytes
    }

    /// The current time in microseconds since 1970: the exchange's start plus the elapsed time.
    private var wallClock: Int64 { record.startedAt + microseconds(from: openedAt, to: exchange.now) }

    mutating func beginRequestStream(_ head: RequestHead) {
        guard head.fields.contains(.contentType), let type = MediaType(head.fields.value(of: .contentType) ?? ""),
            let format = StreamCounter.Format(mediaType: type.essence)
        else { return }
        request.stream = StreamTap(countable(format, head.fields))
        if format.isGRPC { record.flags.insert(.grpc) }
    }

    mutating func beginResponseStream(_ head: ResponseHead, _ framing: BodyFraming) {
        guard head.status != 101 else { return }
        if record.mediaType.hasPrefix("application/grpc") { record.grpc = GRPCOutcome(head.fields) }
        guard framing != .none else { return }
        if let format = StreamCounter.Format(mediaType: record.mediaType) {
            response.stream = StreamTap(countable(format, head.fields))
        } else if framing == .chunked || framing == .untilClose {
            // A client may read a body without a length as it arrives, so its arrivals are recorded.
            response.stream = StreamTap(nil, resolution: ExchangeMachine.arrivalResolution)
        }
    }

    /// The format, or `nil` for a compressed body: its messages cannot be counted without decoding.
    private func countable(_ format: StreamCounter.Format, _ fields: FieldSection) -> StreamCounter.Format? {
        fields.contains(.contentEncoding) ? nil : format
    }

    mutating func endResponseStream(_ trailers: FieldSection?) {
        guard response.stream != nil || trailers != nil else { return }
        response.stream?.finish()
        record.tally.fromServer = response.stream?.count ?? 0
        guard record.mediaType.hasPrefix("application/grpc"), record.grpc == nil else { return }
        if let trailers {
            record.grpc = GRPCOutcome(trailers)
        } else if let bytes = response.stream?.trailers {
            record.grpc = GRPCOutcome(StoredHead.fields(bytes))
        }
    }

    mutating func beginWebSocket() {
        record.kind = .webSocket
        request.stream = StreamTap(.webSocket)
        response.stream = StreamTap(.webSocket)
    }

    /// Whether either side has sent a WebSocket's close frame, after which nothing can be missing (RFC 6455 §7.1.1).
    var hasClosedWebSocket: Bool { request.stream?.hasClosed == true || response.stream?.hasClosed == true }

    /// Notes which side left, if a WebSocket ended without a close frame (RFC 6455 §7.1.5, status 1006).
    mutating func noteMissingClose() {
        guard record.state == .inFlight, !hasClosedWebSocket else { return }
        // The side that ended first has left; the other side ended its connection because of that.
        let isServer = marks.responseEnded.map { end in marks.tunnelInputEnded.map { end < $0 } ?? true } ?? false
        record.state = .failed
        let text = "The \(isServer ? "server" : "client") ended its connection without a close frame (status 1006)."
        record.failure = ExchangeFailure(isServer ? .reset : .clientGone, text)
    }

    /// How far apart the arrivals of a body of unknown format are recorded.
    static let arrivalResolution = TimeAmount.milliseconds(20)
    /// How far apart the sizes of a body without messages are recorded: a list shows them five times a second.
    private static let progressInterval = TimeAmount.milliseconds(200)
}
