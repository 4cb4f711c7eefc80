package import HTTPModel

package struct SendOutcome: Sendable, Hashable {
    /// The status of the answer, which the proxy itself may have made.
    package var status: Int?
    /// From sending the request on an open connection to the end of the answer, in microseconds.
    package var duration: Int64
    /// With its content coding.
    package var bytes: Int64
    /// `nil` for a whole answer.
    package var failure: String?
    /// Why the proxy itself answered, from a field of the answer.
    package var failureCode: ExchangeFailure.Code?
    /// Our address (`host:port`), which is the client's address in the record.
    package var address: String?
    /// By the clock of the records, in microseconds since 1970.
    package var startedAt: Int64 = 0
}

package struct RepeatProgress: Sendable, Hashable {
    package var done = 0
    package var total: Int
    package var failures = 0
    package var statuses: [Int: Int] = [:]
    /// In microseconds; 0 without answers.
    package var p50: Int64 = 0
    package var p95: Int64 = 0
    package var max: Int64 = 0
    package var firstFailure: String?

    package init(total: Int) { self.total = total }

    package var isFinished: Bool { done == total }
}
