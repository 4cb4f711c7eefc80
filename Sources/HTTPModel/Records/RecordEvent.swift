package import NIOCore

/// What the taps report to the recorder.
///
/// Produced on an event loop in the order in which things happened there, handed over once per loop tick, consumed
/// by the recorder's thread. For one exchange the order is: one `opened`, then any mixture of `updated` and `body`,
/// then one `finished`, after which only `identified` may name that exchange, once.
package enum RecordEvent: Sendable {
    /// A connection was made, or more is now known about it (its TLS handshake, its end).
    indirect case connection(ConnectionRecord)
    /// An exchange has begun: its request head is known.
    indirect case opened(ExchangeRecord, ExchangeMessages)
    /// More of an exchange that is still in flight is known, for example its response head.
    indirect case updated(ExchangeRecord, ExchangeMessages)
    /// The next bytes of one of an exchange's bodies, in order.
    case body(ExchangeID, BodySide, ByteBuffer)
    /// The bytes of a stream's body from `offset` on arrived at `at` (microseconds since 1970); only for bodies that are
    /// read as they come, whose messages' times follow from their places.
    case arrival(ExchangeID, BodySide, offset: Int64, at: Int64)
    /// A stream that is still in flight has carried this many messages and bytes so far.
    case progress(ExchangeID, MessageCounts, Sizes)
    /// The exchange has ended; the record and messages are complete and replace those before.
    indirect case finished(ExchangeRecord, ExchangeMessages)
    /// The client of an exchange that has ended became known only now: it was looked up for longer than the exchange took.
    case identified(ExchangeID, ClientProcess)

    /// What the event costs of the recorder's credit, in bytes.
    package var cost: Int {
        switch self {
        case .connection: 512
        case .arrival: 48
        case .progress: 64
        case .identified: 96
        case .opened(_, let messages), .updated(_, let messages), .finished(_, let messages): 1_536 + messages.cost
        case .body(_, _, let bytes):
            // What a long part keeps in memory is its whole buffer, which may be twice as large; a short one mostly
            // shares the buffer of the head before it.
            64 + (bytes.readableBytes < 8 << 10 ? bytes.readableBytes : bytes.storageCapacity)
        }
    }
}

extension ExchangeMessages {
    var cost: Int {
        func size(_ bytes: ByteBuffer?) -> Int { bytes?.readableBytes ?? 0 }
        let request = size(requestHead) + size(requestHeadSent) + size(requestTrailers)
        let response = size(interimHeads) + size(responseHead) + size(responseHeadSent) + size(responseTrailers)
        return 64 * trace.count + request + response
    }
}

/// Where the taps of one event loop put what they record; called on that loop only.
package protocol RecordSink: AnyObject {
    func record(_ event: RecordEvent)
}
