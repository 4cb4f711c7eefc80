/// What came of sending one request.
package struct SendOutcome: Sendable, Hashable {
    /// The status of the answer, also one that the proxy made itself; `nil` where there was none.
    package var status: Int?
    /// From before the request was sent, connecting included, to the end of the answer, in microseconds.
    package var duration: Int64
    /// The bytes of the answer's body, with its content coding.
    package var bytes: Int64
    /// Why there was no whole answer, in one sentence; `nil` where there was one.
    package var failure: String?

    /// States an outcome.
    package init(status: Int?, duration: Int64, bytes: Int64, failure: String? = nil) {
        self.status = status
        self.duration = duration
        self.bytes = bytes
        self.failure = failure
    }
}

/// How far a plan has come.
package struct RepeatProgress: Sendable, Hashable {
    /// How many requests are over.
    package var done = 0
    /// How many there are to be.
    package var total: Int
    /// How many of those that are over had no whole answer.
    package var failures = 0
    /// How many answers had which status.
    package var statuses: [Int: Int] = [:]
    /// The time that half of the answers took at most, in microseconds; 0 while there is none.
    package var p50: Int64 = 0
    /// The time that 95 of 100 answers took at most, in microseconds; 0 while there is none.
    package var p95: Int64 = 0
    /// The time that the slowest answer took, in microseconds; 0 while there is none.
    package var max: Int64 = 0
    /// What went wrong first, in one sentence.
    package var firstFailure: String?

    /// Begins to count.
    package init(total: Int) {
        self.total = total
    }

    /// Whether all requests are over; a plan that was cancelled does not come to that.
    package var isFinished: Bool { done == total }
}
