package import HTTPModel

/// The result of sending one request.
package struct SendOutcome: Sendable, Hashable {
    /// The status of the answer, which the proxy may have made itself; `nil` without an answer.
    package var status: Int?
    /// From when the request was sent, on an open connection to the proxy, to the end of the answer, in microseconds.
    package var duration: Int64
    /// The bytes of the answer's body, with its content coding.
    package var bytes: Int64
    /// Why there was no whole answer, in one sentence; `nil` where there was one.
    package var failure: String?
    /// Why the proxy made the answer itself, as the answer says; `nil` where it does not.
    package var failureCode: ExchangeFailure.Code?
    /// From where it was sent, `host:port`, as the record of the exchange has its client; `nil` without a connection.
    package var address: String?
    /// When it was sent, by the clock of the records, in microseconds since 1970.
    package var startedAt: Int64 = 0
}

/// How far a plan has come.
package struct RepeatProgress: Sendable, Hashable {
    /// How many requests have ended.
    package var done = 0
    package var total: Int
    /// How many of those that have ended had no whole answer.
    package var failures = 0
    /// The number of answers by status.
    package var statuses: [Int: Int] = [:]
    /// The times that 50 and 95 of 100 answers took at most, and that the slowest took, in microseconds; 0 without
    /// answers.
    package var p50: Int64 = 0
    package var p95: Int64 = 0
    package var max: Int64 = 0
    /// The first failure, in one sentence.
    package var firstFailure: String?

    package init(total: Int) { self.total = total }

    /// Whether all requests have ended, which a cancelled plan does not reach.
    package var isFinished: Bool { done == total }
}
