package import Foundation
package import HTTPModel

/// What tells a session from all others.
package struct SessionIdentity: Sendable, Hashable {
    /// Made with the file, and kept whatever the file is called.
    package var identifier: UUID
    /// Names and values that the recording was given, for example its environment.
    package var labels: [String: String]
}

/// The counters of a whole session.
package struct SessionSummary: Sendable, Hashable {
    /// Exchanges in the session, those in flight included.
    package var exchanges: Int64 = 0
    /// Those that ended and are errors: they failed, or have a status from 400 up or of gRPC other than OK.
    package var errors: Int64 = 0
    /// Request body bytes as received, over all exchanges that have ended.
    package var requestBodyBytes: Int64 = 0
    /// Response body bytes as received, over all exchanges that have ended.
    package var responseBodyBytes: Int64 = 0

    package init() {}
}

/// One time that a session was recorded into, from start to end.
package struct SessionRun: Sendable, Hashable {
    /// The run's number, from 1.
    package var id: Int64
    /// The version of Sluice that recorded.
    package var sluiceVersion: String
    /// What gave way when the disk was slower than the traffic.
    package var mode: RecorderConfiguration.Mode
    /// When it began: microseconds since 1970.
    package var startedAt: Int64
    /// When it ended: microseconds since 1970; `nil` while it goes on, or where it ended without a word.
    package var endedAt: Int64?
    /// The number of its first exchange, if it had any.
    package var firstExchange: ExchangeID
    /// Exchanges that ended but are not in the session, because writing failed.
    package var notRecorded: Int64
    /// Body bytes that were dropped (`--recorder lossy`).
    package var droppedBytes: Int64
}
