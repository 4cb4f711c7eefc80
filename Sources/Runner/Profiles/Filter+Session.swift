import Content
import HTTPModel
import Recording

extension Filter {
    /// How many decoded bytes of a body a search looks at.
    private static let searchLimit = 16 << 20

    /// Whether a record of a session passes, with heads and bodies read as they are needed.
    ///
    /// - Throws: `SessionError` where they cannot be read.
    func matches(_ record: ExchangeRecord, in reader: SessionReader) throws -> Bool {
        if let decided = decides(record) { return decided }
        var exchange: RecordedExchange?
        func details() throws -> RecordedExchange? {
            if exchange == nil { exchange = try reader.exchange(record.id) }
            return exchange
        }
        return try matches(record, details: details) { side in
            let bytes = try reader.body(of: record.id, side: side, limit: Filter.searchLimit)
            guard let messages = try details()?.messages else { return bytes }
            let head = side == .requestReceived || side == .requestSent ? messages.requestHead : messages.responseHead
            let encoding = head.map { StoredHead.fields($0) }?.value(of: .contentEncoding)
            return ContentDecoder.decode(bytes, contentEncoding: encoding, limit: Filter.searchLimit).bytes
        }
    }
}
