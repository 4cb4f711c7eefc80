import ExchangeCore
package import HTTPModel
import NIOCore

/// Keeps what the taps say, for tests to look at.
package final class CollectingSink: RecordSink {
    /// Everything in order.
    package private(set) var events: [RecordEvent] = []

    /// Creates an empty one.
    package init() {}

    /// Takes the next event.
    package func record(_ event: RecordEvent) {
        events.append(event)
    }

    /// All bytes of one body, put together.
    package func body(_ side: BodySide) -> String {
        var bytes = ByteBuffer()
        for case .body(_, side, var part) in events { bytes.writeBuffer(&part) }
        return String(buffer: bytes)
    }

    /// The names of the events in order, for example `opened, body, finished`.
    package var names: [String] {
        events.map { event in
            switch event {
            case .connection: "connection"
            case .opened: "opened"
            case .updated: "updated"
            case .body(_, let side, _): "\(side)"
            case .arrival(_, let side, let offset, _): "\(side) at \(offset)"
            case .progress(_, let tally, _): "progress \(tally.fromClient) \(tally.fromServer)"
            case .finished: "finished"
            case .identified: "identified"
            }
        }
    }
}
