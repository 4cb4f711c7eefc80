package import HTTPModel
import NIOCore

/// Takes what one loop's taps recorded during a tick, with the sum of its cost; must not wait.
///
/// Returns whether there is room for more; `false` asks the loop to stop reading until there is room again.
package typealias RecordOutlet = @Sendable (_ events: [RecordEvent], _ cost: Int) -> Bool

/// Makes the outlet of one event loop, given what to call, on any thread, when there is room again.
package typealias RecordOutletFactory = @Sendable (_ onRoom: @escaping @Sendable () -> Void) -> RecordOutlet

/// Gathers what the taps of one event loop record and passes it on once per tick.
final class LoopRecorder: RecordSink {
    private let outlet: RecordOutlet
    private let eventLoop: any EventLoop
    private var events: [RecordEvent] = []
    private var cost = 0
    private var isScheduled = false
    private let flushTick: Tick
    /// Called on the loop when the recorder has no room, and when it has again.
    var onFull: ((Bool) -> Void)?

    /// What the loop runs at the end of a tick; one object for all ticks.
    private final class Tick {
        weak var recorder: LoopRecorder?
    }

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

    /// Passes on what was recorded without waiting for the end of the tick, so that a tick is not for any number of heads.
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
