public import HTTPModel

/// The counters of a whole session.
public struct SessionSummary: Sendable, Hashable {
    /// Exchanges in the session, those in flight included.
    public var exchanges: Int64 = 0
    /// Those that ended with a failure.
    public var failures: Int64 = 0
    /// Request body bytes as received, over all exchanges that have ended.
    public var requestBodyBytes: Int64 = 0
    /// Response body bytes as received, over all exchanges that have ended.
    public var responseBodyBytes: Int64 = 0

    /// Creates the counters of an empty session.
    public init() {}
}

/// One time that a session was recorded into, from start to end.
public struct SessionRun: Sendable, Hashable {
    /// The run's number, from 1.
    public var id: Int64
    /// The version of Sluice that recorded.
    public var sluiceVersion: String
    /// What gave way when the disk was slower than the traffic.
    public var mode: RecorderConfiguration.Mode
    /// When it began: microseconds since 1970.
    public var startedAt: Int64
    /// When it ended: microseconds since 1970; `nil` while it goes on, or where it ended without a word.
    public var endedAt: Int64?
    /// The number of its first exchange, if it had any.
    public var firstExchange: ExchangeID
    /// Exchanges that ended but are not in the session, because writing failed.
    public var notRecorded: Int64
    /// Body bytes that were dropped (`--recorder lossy`).
    public var droppedBytes: Int64
}
