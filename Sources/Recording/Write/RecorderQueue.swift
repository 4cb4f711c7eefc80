import Dispatch
import HTTPModel
import NIOCore
import Synchronization

/// What lies between the event loops and the recorder's thread: events in order, bounded by bytes of credit. Event
/// loops put in and never wait; the recorder's thread takes all there is and is woken as seldom as can be.
final class RecorderQueue: Sendable {
    /// What one producer handed over in one tick of its loop.
    struct Batch: Sendable {
        var events: [RecordEvent]
        /// Bytes of credit that the events hold.
        var cost: Int
        /// Body parts that were left out of the events, for lack of credit.
        var dropped: [DroppedPart] = []
        /// Rules that were put in force, in place of events.
        var rules: RulesNote?
        /// A change of what is recorded already, in place of events.
        var edit: EditOrder?
        /// Whether exchanges are recorded from here on, in place of events.
        var isRecording: Bool?
    }

    /// An edit, and who waits for it.
    struct EditOrder: Sendable {
        var edit: SessionEdit
        /// Called on the recorder's thread.
        var done: @Sendable (Result<SessionEditResult, SessionError>) -> Void
    }

    /// A body part that was not recorded.
    struct DroppedPart: Sendable {
        var exchange: ExchangeID
        var side: BodySide
        var bytes: Int
    }

    /// All that there was to take.
    struct Drain: Sendable {
        var batches: [Batch]
        /// Those who wait until everything before them is in the file.
        var flushes: [DispatchSemaphore]
        /// Whether nothing will come after this.
        var isLast: Bool
    }

    typealias CreditCallback = @Sendable () -> Void

    /// What the thread waits for, if it waits.
    private enum Wait {
        case nothing, anything, company
    }

    private struct State {
        var batches: [Batch] = []
        var flushes: [DispatchSemaphore] = []
        var waiting = Wait.nothing
        var isClosing = false
        /// Bytes that were put in and not yet taken.
        var waitingBytes = 0
        /// Bytes that were put in and not yet given back.
        var usedCredit = 0
        /// Producers who were told that there is no credit, by number.
        var starving: [Int: CreditCallback] = [:]
        var producers = 0

        var isUrgent: Bool { isClosing || !flushes.isEmpty }

        mutating func add(_ batch: Batch) {
            usedCredit += batch.cost
            waitingBytes += batch.cost
            batches.append(batch)
        }

        /// Whether the thread's wait is over; if so, it no longer counts as waiting and must be signalled.
        mutating func endWait(napBytes: Int) -> Bool {
            switch waiting {
            case .nothing: return false
            case .company where !isUrgent && waitingBytes < napBytes: return false
            case .anything, .company:
                waiting = .nothing
                return true
            }
        }
    }

    private let state = Mutex(State())
    private let wakeUp = WakeUp()
    private let credit: Int
    private let napBytes: Int
    private let nap: DispatchTimeInterval
    private let isLossy: Bool

    init(_ configuration: RecorderConfiguration) {
        credit = configuration.credit
        napBytes = min(configuration.napBytes, configuration.credit / 2)
        nap = .milliseconds(configuration.napMilliseconds)
        isLossy = configuration.mode == .lossy
    }

    // MARK: - The event loops' side

    func nextProducer() -> Int {
        state.withLock { state in
            state.producers += 1
            return state.producers
        }
    }

    /// Changes what is there unless the queue is closing, and wakes the thread where its wait is over.
    private func change<Result: Sendable>(whenClosing: Result, _ body: (inout State) -> Result) -> Result {
        let (result, mustWake) = state.withLock { state in
            guard !state.isClosing else { return (whenClosing, false) }
            let result = body(&state)
            return (result, state.endWait(napBytes: napBytes))
        }
        if mustWake { wakeUp.signal() }
        return result
    }

    /// Takes events; says whether there is credit left. If not, `onCredit` will be called once when there is again.
    func submit(_ events: [RecordEvent], cost: Int, producer: Int, onCredit: @escaping CreditCallback) -> Bool {
        change(whenClosing: true) { state in
            var batch = Batch(events: events, cost: cost)
            if isLossy, state.usedCredit + cost > credit { batch.dropBodies() }
            state.add(batch)
            let hasCredit = isLossy || state.usedCredit < credit
            if !hasCredit { state.starving[producer] = onCredit }
            return hasCredit
        }
    }

    /// Takes rules, which keep their place among the events.
    func submit(_ rules: RulesNote) {
        change(whenClosing: ()) { $0.add(Batch(events: [], cost: rules.cost, rules: rules)) }
    }

    /// Takes an edit, which keeps its place among the events; `false` where the queue is closing.
    func submit(_ edit: EditOrder) -> Bool {
        change(whenClosing: false) { state in
            state.add(Batch(events: [], cost: 0, edit: edit))
            return true
        }
    }

    /// Switches the recording on or off for exchanges that begin from here on.
    func submit(isRecording: Bool) {
        change(whenClosing: ()) { $0.add(Batch(events: [], cost: 0, isRecording: isRecording)) }
    }

    /// Forgets a producer that is going away.
    func remove(producer: Int) {
        state.withLock { state in _ = state.starving.removeValue(forKey: producer) }
    }

    /// Asks that `flush` be signalled when all that was put in so far is in the file; `false` if that is over.
    func request(flush: DispatchSemaphore) -> Bool {
        change(whenClosing: false) { state in
            state.flushes.append(flush)
            return true
        }
    }

    /// Ends the queue: what is in it will still be taken, nothing more is put in.
    func close() { change(whenClosing: ()) { $0.isClosing = true } }

    // MARK: - The recorder's side

    /// Waits for events, at most until the deadline, and takes all there are.
    func next(deadline: DispatchTime?) -> Drain {
        let isEmpty = state.withLock { state in
            guard !state.isUrgent, state.batches.isEmpty else { return false }
            state.waiting = .anything
            return true
        }
        if isEmpty { wait(until: deadline ?? .distantFuture) }

        let wantsCompany = state.withLock { state in
            guard !state.isUrgent, !state.batches.isEmpty, state.waitingBytes < napBytes else { return false }
            state.waiting = .company
            return true
        }
        if wantsCompany { wait(until: .now() + nap) }

        return state.withLock { state in
            defer {
                state.batches = []
                state.flushes = []
                state.waitingBytes = 0
            }
            return Drain(batches: state.batches, flushes: state.flushes, isLast: state.isClosing)
        }
    }

    private func wait(until deadline: DispatchTime) {
        guard !wakeUp.wait(until: deadline) else { return }
        let wasSignalled = state.withLock { state in
            defer { state.waiting = .nothing }
            return state.waiting == .nothing
        }
        // Somebody signalled between the time-out and the lock; that signal must not end a later wait.
        if wasSignalled { wakeUp.wait() }
    }

    /// Gives back credit, and tells those who starve when half of it is free.
    func giveBack(_ cost: Int) {
        let callbacks = state.withLock { state -> [CreditCallback] in
            state.usedCredit -= cost
            guard !state.starving.isEmpty, state.usedCredit <= credit / 2 else { return [] }
            defer { state.starving = [:] }
            return Array(state.starving.values)
        }
        for callback in callbacks { callback() }
    }
}

extension RecorderQueue.Batch {
    /// Leaves out the body parts, and when they arrived, and remembers which.
    fileprivate mutating func dropBodies() {
        events.removeAll { event in
            switch event {
            case .body(let exchange, let side, let bytes):
                dropped.append(.init(exchange: exchange, side: side, bytes: bytes.readableBytes))
                return true
            case .arrival: return true
            default: return false
            }
        }
        cost = events.reduce(0) { $0 + $1.cost }
    }
}
