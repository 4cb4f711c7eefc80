/// Why a direction of an exchange is not read from; reading resumes when the set is empty.
public struct PauseReasons: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The receiving peer does not take bytes fast enough.
    public static let peerFull = PauseReasons(rawValue: 1 << 0)
    /// A message waits for a decision.
    public static let held = PauseReasons(rawValue: 1 << 1)
    /// A message or part waits for its time.
    public static let paced = PauseReasons(rawValue: 1 << 2)
    /// There is no connection to the server yet.
    public static let upstreamPending = PauseReasons(rawValue: 1 << 3)
    /// The recorder has no room.
    public static let recorderFull = PauseReasons(rawValue: 1 << 4)
    /// The server has as many streams open as it allows, on as many connections as we make.
    public static let streamLimit = PauseReasons(rawValue: 1 << 5)
    /// Work that may block is being done for it on another thread.
    public static let working = PauseReasons(rawValue: 1 << 6)
}

extension PauseReasons: CustomStringConvertible {
    /// The reasons in words, for the console.
    public var description: String {
        let names: [(PauseReasons, String)] = [
            (.peerFull, "peer full"), (.held, "held"), (.paced, "paced"), (.upstreamPending, "upstream pending"),
            (.recorderFull, "recorder full"), (.streamLimit, "the server's stream limit"),
            (.working, "working"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
