import Dispatch
import HTTPModel
import NIOCore
import Synchronization

/// Passes events from event loops, which never wait, to the recorder's thread, which wakes up rarely and takes all
/// events at once. A credit in bytes limits the queue.
final class RecorderQueue: Sendable {
    /// Events of one producer in one tick.
    struct Batch: Sendable {
        var events: [RecordEvent]
        var cost: Int
        /// Body parts that were dropped because the credit was used up.
        var dropped: [DroppedPart] = []
        /// Instead of events.
        var rules: RulesNote?
        /// Instead of events.
        var edit: EditOrder?
        /// Switches the recording on or off after this batch; instead of events.
        var isRecording: Bool?
    }

    struct EditOrder: Sendable {
        var edit: SessionEdit
        var done: @Sendable (Result<SessionEditResult, SessionError>) -> Void
    }

    struct DroppedPart: Sendable {
        var exchange: ExchangeID
        var side: BodySide
        var bytes: Int
    }

    struct Drain: Sendable {
        var batches: [Batch]
        /// Signalled when all earlier batches are in the file.
        var flushes: [DispatchSemaphore]
        var isLast: Bool
    }

    typealias CreditCallback = @Sendable () -> Void

    private enum Wait {
        case nothing, anything, company
    }

    private struct State {
        var batches: [Batch] = []
        var flushes: [DispatchSemaphore] = []
        var waiting = Wait.nothing
        var isClosing = false
        var waitingBytes = 0
        var usedCredit = 0
        var starving: [Int: CreditCallback] = [:]
        var producers = 0

        var isUrgent: Bool { isClosing || !flushes.isEmpty }

        mutating func add(_ batch: Batch) {
            usedCredit += batch.cost
            waitingBytes += batch.cost
            batches.append(batch)
        }

        /// Ends the thread's wait if there is enough to do; returns whether the caller must signal the thread.
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

    func nextProducer() -> Int {
        state.withLock { state in
            state.producers += 1
            return state.producers
        }
    }

    /// Changes nothing if the queue is closing; wakes the thread if its wait is over.
    private func change<Result: Sendable>(whenClosing: Result, _ body: (inout State) -> Result) -> Result {
        let (result, mustWake) = state.withLock { state in
            guard !state.isClosing else { return (whenClosing, false) }
            let result = body(&state)
            return (result, state.endWait(napBytes: napBytes))
        }
        if mustWake { wakeUp.signal() }
        return result
    }

    /// Returns whether there is credit; if not, `onCredit` is called once there is credit again.
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

    func submit(_ rules: RulesNote) {
        change(whenClosing: ()) { $0.add(Batch(events: [], cost: rules.cost, rules: rules)) }
    }

    /// Returns `false` if the queue is closing.
    func submit(_ edit: EditOrder) -> Bool {
        change(whenClosing: false) { state in
            state.add(Batch(events: [], cost: 0, edit: edit))
            return true
        }
    }

    func submit(isRecording: Bool) {
        change(whenClosing: ()) { $0.add(Batch(events: [], cost: 0, isRecording: isRecording)) }
    }

    func remove(producer: Int) { state.withLock { state in _ = state.starving.removeValue(forKey: producer) } }

    /// Returns `false` if the queue is closing.
    func request(flush: DispatchSemaphore) -> Bool {
        change(whenClosing: false) { state in
            state.flushes.append(flush)
            return true
        }
    }

    func close() { change(whenClosing: ()) { $0.isClosing = true } }

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
        // Signalled between the time-out and the lock: the signal must not end a later wait.
        if wasSignalled { wakeUp.wait() }
    }

    /// Calls producers when half of the credit is free.
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
