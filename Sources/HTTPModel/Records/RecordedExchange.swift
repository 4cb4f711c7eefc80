public import NIOCore

/// An exchange read back from a session, whole: what `show` prints and what exports are made of.
public struct RecordedExchange: Sendable {
    /// The narrow row.
    public var record: ExchangeRecord
    /// Heads, trailers and trace.
    public var messages: ExchangeMessages
    /// The connection to the client; `nil` where the session does not have it.
    public var client: ConnectionRecord?
    /// The connection to the server; `nil` where there was none.
    public var upstream: ConnectionRecord?

    /// Puts an exchange together.
    public init(
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
public protocol ExchangeSource {
    /// Reads one exchange; `nil` where there is none of that number.
    func exchange(_ id: ExchangeID) throws -> RecordedExchange?
    /// Reads a body, at most `limit` bytes from `offset`; fewer where it ends before.
    ///
    /// Asking for a `…Sent` side of a body that no stage changed reads the received one.
    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer
}
