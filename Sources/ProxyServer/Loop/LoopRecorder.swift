package import HTTPModel
import NIOCore

/// Receives the events of one loop's tick with their cost, and must not wait; after `false` the loop stops reading
/// until there is room.
package typealias RecordOutlet = @Sendable (_ events: [RecordEvent], _ cost: Int) -> Bool

/// Makes the outlet of one event loop; `onRoom` is called on any thread when there is room again.
package typealias RecordOutletFactory = @Sendable (_ onRoom: @escaping @Sendable () -> Void) -> RecordOutlet

/// Collects the events of one event loop and submits them once per tick.
final class LoopRecorder: RecordSink {
    private let outlet: RecordOutlet
    private let eventLoop: any EventLoop
    private var events: [RecordEvent] = []
    private var cost = 0
    private var isScheduled = false
    private let flushTick: Tick
    /// Called on the loop when the recorder becomes full, and when it has room again.
    var onFull: ((Bool) -> Void)?

    /// Runs at the end of a tick; one object for all ticks.
    private final class Tick { weak var recorder: LoopRecorder? }

    init(outlet: @escaping RecordOutlet, eventLoop: any EventLoop) {
        self.outlet = outlet
        self.eventLoop = eventLoop
        flushTick = Tick()
        flushTick.recorder = self
    }

    func record(_ event: RecordEvent) {
        events.append(event)
        cost += event.cost
        guard !isScheduled else { return }
        isScheduled = true
        eventLoop.assumeIsolated().execute { [flushTick] in flushTick.recorder?.flush() }
    }

    func flushIfLarge() {
        if cost > LoopRecorder.largeCost { flush() }
    }

    private static let largeCost = 1 << 20

    func flush() {
        isScheduled = false
        guard !events.isEmpty else { return }
        let batch = events
        events = []
        events.reserveCapacity(batch.count)
        let hasRoom = outlet(batch, cost)
        cost = 0
        if !hasRoom { onFull?(true) }
    }
}
