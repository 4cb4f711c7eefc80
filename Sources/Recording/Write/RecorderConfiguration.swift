package import HTTPModel

package struct RecorderConfiguration: Sendable {
    /// Whether a disk that is slower than the traffic slows it down, or body parts are dropped.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        case lossless
        case lossy
    }

    /// `nil` records nothing and only calls the observer.
    package var path: String?
    package var mode: Mode
    package var sluiceVersion: String
    package var labels: [String: String] = [:]
    package var isRecording = true
    /// Bytes of events that may wait, over all producers.
    package var credit = 8 << 20
    /// How long the first event waits for others.
    package var napMilliseconds = 20
    /// Bytes of events that end the nap.
    package var napBytes = 1 << 20
    /// The longest time until a reader sees a body part of an open exchange; at most 50 ms for a stream.
    package var tailMilliseconds = 1_000

    /// If set, ``path`` is unused.
    package var rotation: SessionRotation?
    /// In bytes; the oldest bodies are dropped first, then the oldest exchanges.
    package var largestSession: Int64?
    package var largestSessionText = ""

    /// A key for the placeholders of a store, which the session keeps if it has none yet.
    package var labelKey: [UInt8]?
    /// Whether an exchange is to stay when the session is too large, as long as others can go; on the recorder's thread.
    package var isNeeded: @Sendable (_ number: Int64) -> Bool = { _ in false }
    /// Called with exchanges that are removed because the session is too large.
    package var onRemoved: @Sendable (_ numbers: [Int64]) -> Void = { _ in }

    /// Whether errors say that live traffic continues if writing fails.
    package var isTraffic = true

    /// Simulates a full disk in tests.
    var pageLimit: Int?

    package init(path: String?, mode: Mode = .lossless, sluiceVersion: String = "") {
        self.path = path
        self.mode = mode
        self.sluiceVersion = sluiceVersion
    }
}

/// Exchanges that a killed recorder left in flight.
package struct RecoveryReport: Sendable, Hashable {
    package var count: Int
    /// At most five, oldest first.
    package var first: [ExchangeID]
}

package struct RecorderSummary: Sendable, Hashable {
    package var path: String?
    package var earlierPaths: [String] = []
    /// Ended exchanges, recorded or not.
    package var exchanges = 0
    package var failures = 0
    package var bodyBytes: Int64 = 0
    /// Exchanges that are missing because writing failed.
    package var notRecorded = 0
    /// Exchanges that passed while the recording was off.
    package var passed = 0
    /// Exchanges that the rules left out.
    package var leftOut = 0
    /// Body bytes that `--recorder lossy` dropped.
    package var droppedBytes: Int64 = 0
    package var droppedBodies = 0
    package var removedExchanges = 0
    /// Why deleted exchanges are still in the file.
    package var removingError: SessionError?
    /// The longest time from a transaction's first event to its end, in microseconds. Above 100,000, the promise about
    /// `kill -9` was broken.
    package var longestWrite: Int64 = 0
    package var error: SessionError?
}
