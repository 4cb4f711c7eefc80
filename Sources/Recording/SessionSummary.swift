package import Foundation
package import HTTPModel

/// Distinguishes a session from all others.
package struct SessionIdentity: Sendable, Hashable {
    /// Stays the same if the file is renamed.
    package var identifier: UUID
    /// Labels given for the recording, for example its environment.
    package var labels: [String: String]
}

package struct SessionSummary: Sendable, Hashable {
    /// Includes exchanges in flight.
    package var exchanges: Int64 = 0
    /// Exchanges that failed, or have a status from 400 up or of gRPC other than OK.
    package var errors: Int64 = 0
    /// As received, of all exchanges that have ended.
    package var requestBodyBytes: Int64 = 0
    /// As received, of all exchanges that have ended.
    package var responseBodyBytes: Int64 = 0

    package init() {}
}

/// One recording into a session. Times are microseconds since 1970.
package struct SessionRun: Sendable, Hashable {
    package var id: Int64
    package var sluiceVersion: String
    /// What gave way when the disk was slower than the traffic.
    package var mode: RecorderConfiguration.Mode
    package var startedAt: Int64
    /// `nil` while it continues, or if it was killed.
    package var endedAt: Int64?
    package var firstExchange: ExchangeID
    /// Exchanges that ended but are not in the session because writing failed.
    package var notRecorded: Int64
    /// Body bytes that were dropped (`--recorder lossy`).
    package var droppedBytes: Int64
}
