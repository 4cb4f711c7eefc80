package import HTTPModel

package struct RecorderConfiguration: Sendable {
    /// For a disk that is slower than the traffic.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        case lossless
        case lossy
    }

    /// `nil` to record nothing and only call the observer.
    package var path: String?
    package var mode: Mode
    package var sluiceVersion: String
    package var labels: [String: String] = [:]
    package var isRecording = true
    /// Bytes of events that may wait, over all producers.
    package var credit = 16 << 20
    /// How long the first event waits for others.
    package var napMilliseconds = 20
    /// Bytes of events that end the nap.
    package var napBytes = 1 << 20
    /// The longest time until a body part of an open exchange is visible; at most 50 ms for a stream.
    package var tailMilliseconds = 1_000

    /// ``path`` is then unused.
    package var rotation: SessionRotation?
    /// In bytes; the oldest bodies are dropped first, then the oldest exchanges.
    package var largestSession: Int64?
    package var largestSessionText = ""

    /// Live traffic continues if writing fails; errors say so.
    package var isTraffic = true

    /// Simulates a full disk in tests.
    var pageLimit: Int?

    package init(path: String?, mode: Mode = .lossless, sluiceVersion: String = "") {
        self.path = path
        self.mode = mode
        self.sluiceVersion = sluiceVersion
    }
}

/// Left in flight by a killed recorder.
package struct RecoveryReport: Sendable, Hashable {
    package var count: Int
    /// At most five, oldest first.
    package var first: [ExchangeID]
}

package struct RecorderSummary: Sendable, Hashable {
    package var path: String?
    package var earlierPaths: [String] = []
    /// Ended, recorded or not.
    package var exchanges = 0
    package var failures = 0
    package var bodyBytes: Int64 = 0
    /// Because writing failed.
    package var notRecorded = 0
    /// While the recording was off.
    package var passed = 0
    /// By the rules.
    package var leftOut = 0
    /// By `--recorder lossy`.
    package var droppedBytes: Int64 = 0
    package var droppedBodies = 0
    package var removedExchanges = 0
    /// Why deleted exchanges are still in the file.
    package var removingError: SessionError?
    /// From a transaction's first event to its end, in microseconds. Above 100,000 the promise about `kill -9` was
    /// broken.
    package var longestWrite: Int64 = 0
    package var error: SessionError?
}
