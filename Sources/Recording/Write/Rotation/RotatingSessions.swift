import Dispatch
import Foundation
import HTTPModel

struct RotatingSessions {
    let series: SessionSeries
    var rules: RulesNote?
    private(set) var connections: [ConnectionID: ConnectionRecord] = [:]
    private var highest: Int64
    /// In nanoseconds of the monotonic clock.
    private var begunAt = DispatchTime.now().uptimeNanoseconds
    /// No rotation before this time, after a failure or a pause.
    private var delayedUntil: UInt64 = 0
    private var failures = 0

    init(_ rotation: SessionRotation, first: WritableSession) {
        (series, highest) = (SessionSeries(rotation: rotation), first.start.nextExchangeID - 1)
        series.noteMade(first.path)
    }

    mutating func note(_ id: ExchangeID) { highest = max(highest, id.number) }

    mutating func note(_ connection: ConnectionRecord) {
        connections[connection.id] = connection.closedAt == nil ? connection : nil
    }

    /// When the next file begins; `nil` if unknown, or if the present file has no exchange.
    func due(_ current: SessionRecording?) -> UInt64? {
        guard let current, current.writer.totals.exchanges > 0 else { return nil }
        if let size = series.rotation.size, current.size >= size { return delayedUntil }
        guard let period = series.rotation.period else { return nil }
        // A period has at most a year.
        return max(begunAt + UInt64(clamping: period) * 1_000, delayedUntil)
    }

    func next(_ configuration: RecorderConfiguration) throws -> WritableSession {
        try series.next(configuration, following: highest)
    }

    mutating func begin(at time: UInt64) { (begunAt, delayedUntil, failures) = (time, 0, 0) }

    mutating func pause(until time: UInt64) { delayedUntil = time }

    mutating func delay(until time: UInt64) {
        delayedUntil = time
        failures += 1
    }

    var isFirstFailure: Bool { failures == 1 }
}
