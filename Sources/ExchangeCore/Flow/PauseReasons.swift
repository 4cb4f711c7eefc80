/// Why a direction of an exchange is not read from; reading resumes when the set is empty.
package struct PauseReasons: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The receiver does not read fast enough.
    package static let peerFull = PauseReasons(rawValue: 1 << 0)
    package static let held = PauseReasons(rawValue: 1 << 1)
    /// A message or part waits for its time.
    package static let paced = PauseReasons(rawValue: 1 << 2)
    /// There is no connection to the server yet.
    package static let upstreamPending = PauseReasons(rawValue: 1 << 3)
    package static let recorderFull = PauseReasons(rawValue: 1 << 4)
    /// All connections that Sluice may make to the server have as many open streams as the server allows.
    package static let streamLimit = PauseReasons(rawValue: 1 << 5)
    /// Blocking work for a message runs on a different thread.
    package static let working = PauseReasons(rawValue: 1 << 6)
}
