package import HTTPModel

/// How a recorder works.
package struct RecorderConfiguration: Sendable {
    /// What gives way when the disk is slower than the traffic.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The traffic waits; nothing is lost.
        case lossless
        /// Bodies are cut short and marked; the traffic never waits.
        case lossy
    }

    /// The session file; `nil` to record nothing and only tell the observer.
    package var path: String?
    /// What gives way when the disk is slower than the traffic.
    package var mode: Mode
    /// The version of Sluice that records; the session keeps it.
    package var sluiceVersion: String
    /// Names and values that a new session keeps; one that is there already keeps its own.
    package var labels: [String: String] = [:]
    /// Whether exchanges are recorded from the beginning; ``Recorder/setRecording(_:)`` switches it.
    package var isRecording = true
    /// How many bytes of events may wait to be written, over all producers.
    package var credit = 16 << 20
    /// How long the first event after a pause may wait for company, in milliseconds.
    package var napMilliseconds = 20
    /// How many bytes of waiting events end that wait early.
    package var napBytes = 1 << 20
    /// How long a body part of an open exchange may stay invisible to readers, in milliseconds; that of a stream at most 50.
    package var tailMilliseconds = 1_000

    /// When the recording goes on in another file, and under which names; then ``path`` is not used.
    package var rotation: SessionRotation?
    /// How many bytes the file may have; the bodies of the oldest exchanges, and then these, go before it has more.
    package var largestSession: Int64?
    /// The same as the user has said it.
    package var largestSessionText = ""

    /// Whether what is recorded is traffic, which goes on where it cannot be written any more; an error says so.
    package var isTraffic = true

    /// Limits the file to this many pages, which makes a full disk for tests.
    var pageLimit: Int?

    package init(path: String?, mode: Mode = .lossless, sluiceVersion: String = "") {
        self.path = path
        self.mode = mode
        self.sluiceVersion = sluiceVersion
    }
}

/// What opening an existing session found: exchanges that were in flight when their recorder ended without a word.
package struct RecoveryReport: Sendable, Hashable {
    /// How many there were; they are now ``ExchangeRecord/State/interrupted``.
    package var count: Int
    /// The first few of them, oldest first.
    package var first: [ExchangeID]
}

/// What a recorder did from its start to its end.
package struct RecorderSummary: Sendable, Hashable {
    /// The session file; `nil` where nothing was to be recorded.
    package var path: String?
    /// The files before it, where the session was rotated.
    package var earlierPaths: [String] = []
    /// Exchanges that ended during the run, recorded or not.
    package var exchanges = 0
    /// Those of them that ended with a failure.
    package var failures = 0
    /// Body bytes of those exchanges, as received.
    package var bodyBytes: Int64 = 0
    /// Exchanges that are not in the session, because writing failed.
    package var notRecorded = 0
    /// Exchanges that began while the recording was switched off.
    package var passed = 0
    /// Exchanges that the rules keep out of the session.
    package var leftOut = 0
    /// Body bytes that were dropped (`--recorder lossy`).
    package var droppedBytes: Int64 = 0
    /// Exchanges that lost their bodies, and those that were removed, to keep the session below its largest size.
    package var droppedBodies = 0
    package var removedExchanges = 0
    /// Why deleted exchanges are still in the file; `nil` where none are.
    package var removingError: SessionError?
    /// The longest transaction, from its first event to its end, in microseconds. Above 100,000 the disk was too slow
    /// for the promise about `kill -9`.
    package var longestWrite: Int64 = 0
    /// The first error in writing; `nil` where all went well.
    package var error: SessionError?
}
