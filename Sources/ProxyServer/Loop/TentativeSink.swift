import HTTPModel

/// Holds back the records of a tunnel that may become HTTP, until its first byte or its end; then it gets its ID.
final class TentativeSink: RecordSink {
    static let placeholder = ExchangeID(0)

    private enum State {
        /// The records so far. Successors: `passing`, `discarded`.
        case waiting([RecordEvent])
        case passing(ExchangeID)
        case discarded
    }

    private let sink: any RecordSink
    private let makeID: () -> ExchangeID
    private var state = State.waiting([])

    init(_ sink: any RecordSink, makeID: @escaping () -> ExchangeID) {
        self.sink = sink
        self.makeID = makeID
    }

    func discard() {
        if case .waiting = state { state = .discarded }
    }

    func confirm() {
        guard case .waiting(let events) = state else { return }
        state = .passing(makeID())
        for event in events { record(event) }
    }

    func record(_ event: RecordEvent) {
        switch state {
        case .discarded: break
        case .passing(let id): sink.record(TentativeSink.numbered(event, id))
        case .waiting(let events):
            state = .waiting(events + [event])
            switch event {
            case .connection, .opened, .updated, .identified: break
            case .body, .arrival, .progress, .finished: confirm()
            }
        }
    }

    private static func numbered(_ event: RecordEvent, _ id: ExchangeID) -> RecordEvent {
        func numbered(_ record: ExchangeRecord) -> ExchangeRecord {
            var record = record
            record.id = id
            return record
        }
        return switch event {
        case .connection: event
        case .opened(let record, let messages): .opened(numbered(record), messages)
        case .updated(let record, let messages): .updated(numbered(record), messages)
        case .body(_, let side, let bytes): .body(id, side, bytes)
        case .arrival(_, let side, let offset, let time): .arrival(id, side, offset: offset, at: time)
        case .progress(_, let tally, let sizes): .progress(id, tally, sizes)
        case .finished(let record, let messages): .finished(numbered(record), messages)
        case .identified(_, let process): .identified(id, process)
        }
    }
}
