package import HTTPModel

package struct RecorderConfiguration: Sendable {
    /// What happens if the disk is slower than the traffic.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The traffic waits; nothing is lost.
        case lossless
        /// Bodies are cut short and marked; the traffic never waits.
        case lossy
    }

    /// The session file; `nil` to record nothing and only call the observer.
    package var path: String?
    package var mode: Mode
    package var sluiceVersion: String
    /// Labels of a new session; an existing one keeps its own.
    package var labels: [String: String] = [:]
    /// ``Recorder/setRecording(_:)`` switches it.
    package var isRecording = true
    /// How many bytes of events may wait to be written, over all producers.
    package var credit = 16 << 20
    /// How long the first event after a pause may wait for further ones, in milliseconds.
    package var napMilliseconds = 20
    /// How many bytes of waiting events end that wait early.
    package var napBytes = 1 << 20
    /// The longest time until a body part of an open exchange is visible to readers, in milliseconds; at most 50 for a
    /// stream.
    package var tailMilliseconds = 1_000

    /// When the recording continues in a new file, and its name; ``path`` is then unused.
    package var rotation: SessionRotation?
    /// The largest size of the file in bytes. The bodies of the oldest exchanges are dropped first, then the exchanges.
    package var largestSession: Int64?
    /// The size as the user wrote it.
    package var largestSessionText = ""

    /// Whether live traffic is recorded, which continues if writing fails; errors say so.
    package var isTraffic = true

    /// The most pages of the file, to simulate a full disk in tests.
    var pageLimit: Int?

    package init(path: String?, mode: Mode = .lossless, sluiceVersion: String = "") {
        (self.path, self.mode, self.sluiceVersion) = (path, mode, sluiceVersion)
    }
}

/// Exchanges in flight in an existing session whose recorder was killed.
package struct RecoveryReport: Sendable, Hashable {
    /// They are now ``ExchangeRecord/State/interrupted``.
    package var count: Int
    /// At most five, oldest first.
    package var first: [ExchangeID]
}

package struct RecorderSummary: Sendable, Hashable {
    /// `nil` if nothing was recorded.
    package var path: String?
    /// The files before it in a rotation.
    package var earlierPaths: [String] = []
    /// Ended exchanges, recorded or not.
    package var exchanges = 0
    /// Those that failed.
    package var failures = 0
    /// As received.
    package var bodyBytes: Int64 = 0
    /// Exchanges that are missing because writing failed.
    package var notRecorded = 0
    /// Exchanges that began while the recording was off.
    package var passed = 0
    /// Exchanges that the rules excluded.
    package var leftOut = 0
    /// Body bytes that were dropped (`--recorder lossy`).
    package var droppedBytes: Int64 = 0
    /// To keep the session below its largest size.
    package var droppedBodies = 0
    package var removedExchanges = 0
    /// Why deleted exchanges are still in the file; `nil` if none are.
    package var removingError: SessionError?
    /// The longest transaction, from its first event to its end, in microseconds. Above 100,000 the disk was too slow
    /// for the promise about `kill -9`.
    package var longestWrite: Int64 = 0
    /// The first error in writing.
    package var error: SessionError?
}
