import Content
import Formats
import HTTPModel
import Recording

/// Submits events to a recorder in portions, and waits until they are written.
final class RecorderOutput {
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

    func add(_ event: RecordEvent) {
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
    let output: RecorderOutput

    func copy(_ side: BodySide, of old: ExchangeID, to id: ExchangeID) throws {
        guard try reader.bodySize(of: old, side: side) != nil else { return }
        try RecordedBody(source: reader, id: old, side: side).forEachPiece { output.add(.body(id, side, $0)) }
        try reader.forEachArrival(of: old, side: side) { output.add(.arrival(id, side, offset: $0.offset, at: $0.at)) }
    }
}
