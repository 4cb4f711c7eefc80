package import NIOCore

/// An exchange read back from a session, whole: what `show` prints and what exports are made of.
package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    /// The connection to the client; `nil` if the session does not have it.
    package var client: ConnectionRecord?
    /// The connection to the server; `nil` if there was none.
    package var upstream: ConnectionRecord?
    /// Whether it passed without being recorded.
    package var isUnrecorded: Bool

    package init(
        record: ExchangeRecord,
        messages: ExchangeMessages,
        client: ConnectionRecord? = nil,
        upstream: ConnectionRecord? = nil,
        isUnrecorded: Bool = false
    ) {
        self.record = record
        self.messages = messages
        self.client = client
        self.upstream = upstream
        self.isUnrecorded = isUnrecorded
    }
}

/// Something that exchanges and their bodies can be read from: a session file, or an imported archive.
package protocol ExchangeSource {
    /// Reads one exchange; `nil` if there is none of that number.
    func exchange(_ id: ExchangeID) throws -> RecordedExchange?
    /// Reads a body, at most `limit` bytes from `offset`; fewer if it ends before.
    ///
    /// Asking for a `…Sent` side of a body that no stage changed reads the received one.
    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer
    /// Reads when a body's bytes arrived, by growing offset; empty if that was not recorded.
    ///
    /// Asking for a `…Sent` side of a body that no stage changed reads the received one. A stream of a million messages
    /// may have as many arrivals, 16 bytes each; ``arrivals(of:side:from:limit:)`` reads them in pages.
    func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival]
    /// Reads when a body's bytes from `offset` on arrived: first the arrival that brought the byte at `offset`, then
    /// those after it, at most `limit` in all.
    ///
    /// The next page begins at the offset of the last one read, which comes first in it again.
    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival]

    /// Whether secrets are replaced: then bodies come without their content coding.
    var isMasking: Bool { get }
    /// The same exchanges as recorded.
    var asRecorded: any ExchangeSource { get }
    /// The same exchanges for commands of a shell: each secret has a mark, for which the command has a variable.
    var forCommands: any ExchangeSource { get }
    /// The same exchanges for files: each secret has a plain placeholder.
    var forFiles: any ExchangeSource { get }
    /// The parts of an exchange whose secrets were replaced so far: all of them, once its bodies were read.
    func maskedParts(of record: ExchangeRecord) -> [String]
    /// The size of a head as recorded, in bytes, if the head that the source gives is of another size.
    func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int?
}

extension ExchangeSource {
    package var isMasking: Bool { false }
    package var asRecorded: any ExchangeSource { self }
    package var forCommands: any ExchangeSource { self }
    package var forFiles: any ExchangeSource { self }
    package func maskedParts(of record: ExchangeRecord) -> [String] { record.extras.masked }
    package func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int? { nil }

    /// Reads no arrivals, as from an archive that does not have any.
    package func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival] { [] }

    /// Takes a page out of all arrivals.
    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        let all = try arrivals(of: id, side: side)
        let first = all.lastIndex { $0.offset <= offset } ?? all.startIndex
        return Array(all[first...].prefix(max(0, limit)))
    }
}
