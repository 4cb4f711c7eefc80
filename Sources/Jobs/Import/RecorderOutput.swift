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
    let reader: SessionReader
    let output: any RecordSink

    func copy(_ side: BodySide, of old: ExchangeID, to id: ExchangeID) throws {
        guard try reader.bodySize(of: old, side: side) != nil else { return }
        try RecordedBody(source: reader, id: old, side: side).forEachPiece { output.record(.body(id, side, $0)) }
        try reader.forEachArrival(of: old, side: side) { arrival in
            output.record(.arrival(id, side, offset: arrival.offset, at: arrival.at))
        }
    }
}
