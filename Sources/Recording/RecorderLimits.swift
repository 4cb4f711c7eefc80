import Dispatch

/// Numbers that the recorder keeps to.
enum RecorderLimits {
    /// The log is brought into the file whenever it has this many pages (16 MiB).
    static let checkpointPages = 1_024
    /// The log is cut to this size; it grows beyond only while readers keep it busy.
    static let logBytes: Int64 = 64 << 20
    /// How long somebody else who writes into the session, against all advice, may keep the recorder waiting.
    static let patienceMilliseconds = 1_000
    /// How often, and how far apart, the lock of a session is asked for before somebody else is taken to record into it.
    static let lockAttempts = 10
    static let lockMicroseconds: UInt32 = 20_000
    /// A transaction takes no more events after this time.
    static let transactionNanoseconds: UInt64 = 50_000_000
    /// A transaction of an edit ends after this time, so that what comes meanwhile is written soon.
    static let editNanoseconds: UInt64 = 30_000_000
    /// After this many bytes of events, memory is given back to the system at the next quiet moment.
    static let trimBytes = 4 << 20
    /// How long nothing must come for a moment to be quiet.
    static let trimDelay = DispatchTimeInterval.milliseconds(200)
    /// Body bytes of open exchanges that may wait in memory for a full chunk.
    static let tailBytes = 8 << 20
    /// How long what came of a stream may wait in memory; with nap and commit it stays below 100 ms.
    static let streamTailNanoseconds: UInt64 = 50_000_000
    /// How many arrivals of an exchange may wait in memory.
    static let waitingArrivals = 256
}
