import Dispatch

package enum RecorderLimits {
    /// The log is written into the file at this many pages (16 MiB).
    static let checkpointPages = 1_024
    /// The log is truncated to this size; it becomes larger only while readers use it.
    static let logBytes: Int64 = 64 << 20

    /// A session with a size limit has a smaller log.
    static func checkpointPages(ofSession largest: Int64?) -> Int64 {
        largest.map { min(Int64(checkpointPages), max(16, $0 / 16 / Int64(Schema.pageSize))) } ?? Int64(checkpointPages)
    }

    static func logBytes(ofSession largest: Int64?) -> Int64 {
        largest.map { min(logBytes, max(1 << 20, $0 / 8)) } ?? logBytes
    }

    /// How long another writer, against all advice, may block the recorder.
    package static let patienceMilliseconds = 10_000
    /// Attempts to lock a session, and their distance.
    static let lockAttempts = 10
    static let lockMicroseconds: UInt32 = 20_000
    /// The longest time that a transaction collects events.
    static let transactionNanoseconds: UInt64 = 50_000_000
    /// An edit's transaction ends after this time, so that new events are written soon.
    static let editNanoseconds: UInt64 = 30_000_000
    /// After this many bytes of events, memory is returned to the system at the next quiet moment.
    static let trimBytes = 4 << 20
    /// How long a quiet moment is.
    static let trimDelay = DispatchTimeInterval.milliseconds(200)
    /// Body bytes of open exchanges that may wait in memory for a full chunk.
    static let tailBytes = 8 << 20
    /// The longest time that bytes of a stream wait in memory; with nap and commit it stays below 100 ms.
    static let streamTailNanoseconds: UInt64 = 50_000_000
    /// How many files of earlier rotations may be open at once.
    static let mostEarlierFiles = 16
    /// The wait after that, in nanoseconds.
    static let rotationPauseNanoseconds: UInt64 = 1_000_000_000
    /// The wait after a failed rotation, in nanoseconds.
    static let rotationRetryNanoseconds: UInt64 = 10_000_000_000
    /// How many arrivals of an exchange may wait in memory.
    static let waitingArrivals = 256
}
