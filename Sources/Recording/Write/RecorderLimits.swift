import Dispatch

package enum RecorderLimits {
    /// 4 MiB.
    static let checkpointPages = 128
    /// The log is only longer while readers use it.
    static let logBytes: Int64 = 64 << 20

    static func checkpointPages(ofSession largest: Int64?) -> Int64 {
        largest.map { min(Int64(checkpointPages), max(16, $0 / 16 / Int64(Schema.pageSize))) } ?? Int64(checkpointPages)
    }

    static func logBytes(ofSession largest: Int64?) -> Int64 {
        largest.map { min(logBytes, max(1 << 20, $0 / 8)) } ?? logBytes
    }

    /// How long to wait for other programs that write the session, although they should not.
    package static let patienceMilliseconds = 10_000
    static let lockAttempts = 10
    static let lockMicroseconds: UInt32 = 20_000
    static let transactionNanoseconds: UInt64 = 50_000_000
    /// Short, so that waiting events are written soon.
    static let editNanoseconds: UInt64 = 30_000_000
    /// Bytes of events after which memory is returned at the next quiet moment.
    static let trimBytes = 4 << 20
    static let trimDelay = DispatchTimeInterval.milliseconds(200)
    static let tailBytes = 8 << 20
    /// With nap and commit, less than 100 ms.
    static let streamTailNanoseconds: UInt64 = 50_000_000
    static let mostEarlierFiles = 16
    static let rotationPauseNanoseconds: UInt64 = 1_000_000_000
    static let rotationRetryNanoseconds: UInt64 = 10_000_000_000
    static let waitingArrivals = 256
}
