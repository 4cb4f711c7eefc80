import Content
import Formats
import HTTPModel
import Recording

/// Submits events to a recorder in portions, and waits until they are written.
final class RecorderOutput: RecordSink {
    /// In bytes; the recorder must keep room for the traffic.
    private static let mostWaiting = 2 << 20

    private let recorder: Recorder
    private let producer: RecorderProducer
    private var events: [RecordEvent] = []
    private var cost = 0
    private var waiting = 0

    init(_ recorder: Recorder) {
        self.recorder = recorder
        producer = recorder.makeProducer {}
    }

    func record(_ event: RecordEvent) {
        events.append(event)
        cost += event.cost
        if cost >= RecorderOutput.mostWaiting { send() }
    }

    func send() {
        guard !events.isEmpty else { return }
        _ = producer.submit(events, cost: cost)
        waiting += cost
        (events, cost) = ([], 0)
        guard waiting >= RecorderOutput.mostWaiting else { return }
        recorder.flush()
        waiting = 0
    }
}

struct BodyCopy {
    let source: any ExchangeSource
    /// Whether a side has a body of its own.
    let hasBody: (ExchangeID, BodySide) throws -> Bool
    let output: any RecordSink

    init(reader: SessionReader, output: any RecordSink) {
        self.init(source: reader, hasBody: { try reader.bodySize(of: $0, side: $1) != nil }, output: output)
    }

    init(source: any ExchangeSource, hasBody: @escaping (ExchangeID, BodySide) throws -> Bool, output: any RecordSink) {
        (self.source, self.hasBody, self.output) = (source, hasBody, output)
    }

    func copy(_ side: BodySide, of old: ExchangeID, to id: ExchangeID) throws {
        guard try hasBody(old, side) else { return }
        try RecordedBody(source: source, id: old, side: side).forEachPiece { output.record(.body(id, side, $0)) }
        try source.forEachArrival(of: old, side: side) { arrival in
            output.record(.arrival(id, side, offset: arrival.offset, at: arrival.at))
        }
    }
}
