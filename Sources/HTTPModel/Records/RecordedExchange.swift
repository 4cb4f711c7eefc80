package import NIOCore

/// An exchange read back from a session, whole: what `show` prints and what exports are made of.
package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    /// The connection to the client; `nil` where the session does not have it.
    package var client: ConnectionRecord?
    /// The connection to the server; `nil` where there was none.
    package var upstream: ConnectionRecord?
    /// Whether it passed without being recorded.
    package var isUnrecorded = false

    package init(
        record: ExchangeRecord,
        messages: ExchangeMessages,
        client: ConnectionRecord? = nil,
        upstream: ConnectionRecord? = nil
    ) {
        self.record = record
        self.messages = messages
        self.client = client
        self.upstream = upstream
    }
}

/// Something that exchanges and their bodies can be read from: a session file, or an imported archive.
package protocol ExchangeSource {
    /// Reads one exchange; `nil` where there is none of that number.
    func exchange(_ id: ExchangeID) throws -> RecordedExchange?
    /// Reads a body, at most `limit` bytes from `offset`; fewer where it ends before.
    ///
    /// Asking for a `…Sent` side of a body that no stage changed reads the received one.
    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer
    /// Reads when a body's bytes arrived, by growing offset; empty where that was not recorded.
    ///
    /// Asking for a `…Sent` side of a body that no stage changed reads the received one. A stream of a million messages
    /// may have as many arrivals, 16 bytes each; ``arrivals(of:side:from:limit:)`` reads them in pages.
    func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival]
    /// Reads when a body's bytes from `offset` on arrived: first the arrival that brought the byte at `offset`, then
    /// those after it, at most `limit` in all.
    ///
    /// The next page begins at the offset of the last one read, which comes first in it again.
    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival]
}

extension ExchangeSource {
    /// Reads no arrivals, as from an archive that does not have any.
    package func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival] { [] }

    /// Takes a page out of all arrivals.
    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        let all = try arrivals(of: id, side: side)
        let first = all.lastIndex { $0.offset <= offset } ?? all.startIndex
        return Array(all[first...].prefix(max(0, limit)))
    }
}
