import Dispatch

/// Numbers that the recorder keeps to.
package enum RecorderLimits {
    /// The log is brought into the file whenever it has this many pages (16 MiB).
    static let checkpointPages = 1_024
    /// The log is cut to this size; it grows beyond only while readers keep it busy.
    static let logBytes: Int64 = 64 << 20

    /// The same for a session that is kept below a size, whose log is to be small beside it.
    static func checkpointPages(ofSession largest: Int64?) -> Int64 {
        largest.map { min(Int64(checkpointPages), max(16, $0 / 16 / Int64(Schema.pageSize))) } ?? Int64(checkpointPages)
    }

    static func logBytes(ofSession largest: Int64?) -> Int64 {
        largest.map { min(logBytes, max(1 << 20, $0 / 8)) } ?? logBytes
    }

    /// How long somebody else who writes into the session, against all advice, may keep the recorder waiting.
    package static let patienceMilliseconds = 10_000
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
    /// How many files of earlier rotations may be open, since something in them is in flight, before no further is begun.
    static let mostEarlierFiles = 16
    /// How long it is then waited, in nanoseconds.
    static let rotationPauseNanoseconds: UInt64 = 1_000_000_000
    /// How long a rotation that failed is not tried again.
    static let rotationRetryNanoseconds: UInt64 = 10_000_000_000
    /// How many arrivals of an exchange may wait in memory.
    static let waitingArrivals = 256
}
