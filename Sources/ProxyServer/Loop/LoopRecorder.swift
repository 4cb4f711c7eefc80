package import HTTPModel
import NIOCore

/// Whoever keeps what the taps saw.
///
/// Called from any event loop; must not block.
package protocol RecordOutlet: Sendable {
    /// Takes what one loop gathered during a tick.
    ///
    /// - Returns: whether there is room for more; `false` asks the loop to stop reading until it is told of room.
    func submit(_ events: [RecordEvent], cost: Int) -> Bool
}

/// Makes the outlet of one event loop, given what to call, on any thread, when there is room again.
package typealias RecordOutletFactory = @Sendable (_ onRoom: @escaping @Sendable () -> Void) -> any RecordOutlet

/// Gathers what the taps of one event loop see and hands it over once per tick.
final class LoopRecorder: RecordSink {
    private let outlet: any RecordOutlet
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

    init(outlet: any RecordOutlet, eventLoop: any EventLoop) {
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

    func flush() {
        isScheduled = false
        guard !events.isEmpty else { return }
        let batch = events
        events = []
        events.reserveCapacity(batch.count)
        let hasRoom = outlet.submit(batch, cost: cost)
        cost = 0
        if !hasRoom { onFull?(true) }
    }
}
