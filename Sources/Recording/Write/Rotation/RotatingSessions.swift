import Dispatch
import Foundation
import HTTPModel

/// When the recorder's thread goes on in another file, and what that file begins with.
struct RotatingSessions {
    let series: SessionSeries
    /// The rules in force.
    var rules: RulesNote?
    /// The connections that are open.
    private(set) var connections: [ConnectionID: ConnectionRecord] = [:]
    /// The highest number of an exchange so far.
    private var highest: Int64
    /// When the present file was begun, in nanoseconds of the monotonic clock.
    private var begunAt = DispatchTime.now().uptimeNanoseconds
    /// Until when no rotation is tried, since one has failed.
    private var delayedUntil: UInt64 = 0
    private var failures = 0

    /// - Parameter first: the file that is recorded first.
    init(_ rotation: SessionRotation, first: WritableSession) {
        (series, highest) = (SessionSeries(rotation: rotation), first.start.nextExchangeID - 1)
        series.noteMade(first.path)
    }

    mutating func note(_ id: ExchangeID) { highest = max(highest, id.number) }

    mutating func note(_ connection: ConnectionRecord) {
        connections[connection.id] = connection.closedAt == nil ? connection : nil
    }

    /// When the next rotation is due; `nil` while nobody knows, or while the file has no exchange.
    func due(_ current: SessionRecording?) -> UInt64? {
        guard let current, current.writer.totals.exchanges > 0 else { return nil }
        if let size = series.rotation.size, current.size >= size { return delayedUntil }
        guard let period = series.rotation.period else { return nil }
        // A period has at most a year.
        return max(begunAt + UInt64(clamping: period) * 1_000, delayedUntil)
    }

    /// Opens the next file.
    func next(_ configuration: RecorderConfiguration) throws -> WritableSession {
        try series.next(configuration, following: highest)
    }

    mutating func begin(at time: UInt64) { (begunAt, delayedUntil, failures) = (time, 0, 0) }

    /// Waits, since too many earlier files are still open.
    mutating func pause(until time: UInt64) { delayedUntil = time }

    /// Waits, since a rotation has failed.
    mutating func delay(until time: UInt64) {
        delayedUntil = time
        failures += 1
    }

    /// Whether the failure of now is the first in a row.
    var isFirstFailure: Bool { failures == 1 }
}
