package import Foundation
package import HTTPModel

package struct SessionIdentity: Sendable, Hashable {
    package var identifier: UUID
    package var labels: [String: String]
}

package struct SessionSummary: Sendable, Hashable {
    /// Includes exchanges in flight.
    package var exchanges: Int64 = 0
    /// Failures, status codes of 400 or more, and gRPC statuses other than OK.
    package var errors: Int64 = 0
    /// As received; only exchanges that have ended.
    package var requestBodyBytes: Int64 = 0
    package var responseBodyBytes: Int64 = 0
}

/// One recording; times are in microseconds since 1970.
package struct SessionRun: Sendable, Hashable {
    package var id: Int64
    package var sluiceVersion: String
    package var mode: RecorderConfiguration.Mode
    package var startedAt: Int64
    package var endedAt: Int64?
    package var firstExchange: ExchangeID
    /// Exchanges that are missing because writing failed.
    package var notRecorded: Int64
    /// Body bytes that `--recorder lossy` dropped.
    package var droppedBytes: Int64
}
