package import NIOCore

/// Events for the recorder. They are made in order on an event loop and passed on once per tick. Each exchange has one
/// `opened`, any number of `updated` and `body`, one `finished`, and then at most one `identified`.
package enum RecordEvent: Sendable {
    /// Made, or changed (TLS handshake, end).
    indirect case connection(ConnectionRecord)
    indirect case opened(ExchangeRecord, ExchangeMessages)
    indirect case updated(ExchangeRecord, ExchangeMessages)
    case body(ExchangeID, BodySide, ByteBuffer)
    /// Bytes from `offset` on arrived at `at` (microseconds since 1970); only for streams, which are read on arrival.
    case arrival(ExchangeID, BodySide, offset: Int64, at: Int64)
    case progress(ExchangeID, MessageCounts, Sizes)
    /// Replaces earlier records and messages.
    indirect case finished(ExchangeRecord, ExchangeMessages)
    /// The client was found after the end of the exchange.
    case identified(ExchangeID, ClientProcess)

    /// In bytes of the recorder's credit.
    package var cost: Int {
        switch self {
        case .connection: 512
        case .arrival: 48
        case .progress: 64
        case .identified: 96
        case .opened(_, let messages), .updated(_, let messages), .finished(_, let messages): 1_536 + messages.cost
        case .body(_, _, let bytes):
            // A long part keeps its whole buffer, which may be twice as large; a short one mostly shares the buffer of
            // the head.
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

/// Used on one event loop.
package protocol RecordSink: AnyObject {
    func record(_ event: RecordEvent)
}
