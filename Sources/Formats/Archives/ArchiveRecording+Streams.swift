import Content
import HTTPModel
import NIOCore

extension ArchiveRecording {
    /// Sets the message counts of streams, which a recording counts live, and the outcome of a gRPC call.
    static func count(
        _ requestBody: ByteBuffer,
        _ responseBody: ByteBuffer,
        _ messages: ExchangeMessages,
        in record: inout ExchangeRecord
    ) {
        let (request, response) = (messages.fields(of: .requestReceived), messages.fields(of: .responseReceived))
        let requestType = request.value(of: .contentType).flatMap { MediaType($0) }
        if let format = requestType.flatMap({ StreamCounter.Format(mediaType: $0.essence) }) {
            if format.isGRPC { record.flags.insert(.grpc) }
            if !request.contains(.contentEncoding) {
                record.tally.fromClient = StreamCounter.ended(format, requestBody).count
            }
        }
        var trailers = messages.responseTrailers
        if let format = StreamCounter.Format(mediaType: record.mediaType), !response.contains(.contentEncoding) {
            let counter = StreamCounter.ended(format, responseBody)
            record.tally.fromServer = counter.count
            trailers = trailers ?? counter.trailers
        }
        guard record.mediaType.hasPrefix("application/grpc") else { return }
        record.grpc = GRPCOutcome(response) ?? trailers.flatMap { GRPCOutcome(StoredHead.fields($0)) }
    }

    /// Arrivals of an event stream by the times of its events; empty if the archive does not list every event.
    static func arrivals(ofEvents times: [Double?], _ body: ByteBuffer, _ id: ExchangeID) -> [RecordEvent] {
        guard !times.isEmpty else { return [] }
        var starts: [Int64] = []
        let reader = ServerSentEventReader(dataLimit: 0)
        body.withUnsafeReadableBytes { bytes in reader.feed(bytes) { starts.append($0.range.lowerBound) } }
        guard starts.count == times.count else { return [] }
        return zip(starts, times).compactMap { start, time in
            time.map { seconds in
                let moment = RecordedRange.nearest(seconds * 1_000_000, in: RecordedRange.moments)
                return .arrival(id, .responseReceived, offset: start, at: moment)
            }
        }
    }
}

extension StreamCounter {
    static func ended(_ format: Format, _ bytes: ByteBuffer) -> StreamCounter {
        var counter = StreamCounter(format)
        counter.feed(bytes)
        counter.finish()
        return counter
    }
}
