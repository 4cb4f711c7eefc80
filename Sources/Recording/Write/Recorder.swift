import CMalloc
import Dispatch
package import HTTPModel
import Synchronization

/// Writes events into a session on its own thread. Event loops pass them to a ``RecorderProducer`` and never wait; the
/// thread collects them for some milliseconds into a transaction. If writing fails, the traffic continues unrecorded;
/// that is reported once, and in the summary.
package final class Recorder: Sendable {
    package let nextExchangeID: Int64
    package let nextConnectionID: Int64
    /// Exchanges that an earlier run left in flight.
    package let recovered: RecoveryReport?

    private let queue: RecorderQueue
    private let outcome: Outcome

    /// Opens or creates the session. `onFinished` gets ended exchanges, also unrecorded ones, without connections;
    /// `onFailure` is called when a write first fails. The recorder's threads call them. Throws ``SessionError``.
    package init(
        _ configuration: RecorderConfiguration,
        onFinished: (@Sendable ([RecordedExchange]) -> Void)? = nil,
        onFailure: (@Sendable (SessionError) -> Void)? = nil,
        onRemark: (@Sendable (RecorderRemark) -> Void)? = nil
    ) throws {
        sluice_keep_memory()
        var configuration = configuration
        let session: WritableSession?
        if let rotation = configuration.rotation {
            let series = SessionSeries(rotation: rotation)
            configuration.labels[SessionSeries.label] = series.name
            session = try series.next(configuration, following: 0)
        } else {
            session = try configuration.path.map { try WritableSession(path: $0, configuration: configuration) }
        }
        if let largest = configuration.largestSession {
            // A transaction must fit into the part of the session that the limit keeps free.
            configuration.credit = min(configuration.credit, Int(clamping: max(64 << 10, largest / 8)))
        }
        nextExchangeID = session?.start.nextExchangeID ?? 1
        nextConnectionID = session?.start.nextConnectionID ?? 1
        recovered = session?.start.recovered
        queue = RecorderQueue(configuration)
        outcome = Outcome(isRecording: configuration.isRecording, path: session?.path)
        let callbacks = RecorderCallbacks(onFinished: onFinished, onFailure: onFailure, onRemark: onRemark)
        DispatchQueue(label: "sluice.recorder", qos: .default).async { [queue, outcome, configuration] in
            RecorderLoop(queue, outcome, configuration, callbacks).run(session)
        }
    }

    deinit { queue.close() }

    package var path: String? { outcome.path.withLock { $0 } }

    /// Increases when readers may see new data.
    package var revision: Int { outcome.revision.load(ordering: .acquiring) }

    /// A producer for one event loop, which must make all calls. If ``RecorderProducer/submit(_:cost:)`` returned
    /// `false`, the recorder's thread calls `onCredit`, which must not wait, once there is credit again.
    package func makeProducer(onCredit: @escaping @Sendable () -> Void) -> RecorderProducer {
        RecorderProducer(queue: queue, onCredit: onCredit)
    }

    /// Records the rules in force, for ``SessionReader/rules(at:)``. Never waits, on any thread. Call it also when a
    /// run begins, even without rules, because a session may continue an earlier run. `at` is in microseconds since
    /// 1970; `nil` is now. `sources` includes included files. The recorder's thread calls `admits`, which chooses the
    /// exchanges to record.
    package func noteRules(
        sources: [ProfileSource],
        switchedOff: some Sequence<String>,
        admits: (@Sendable (RequestURL) -> Bool)? = nil,
        at moment: Int64? = nil
    ) {
        let at = moment ?? WallClock.now()
        queue.submit(RulesNote(at: at, sources: sources, switchedOff: switchedOff.sorted(), admits: admits))
    }

    package var isRecording: Bool { outcome.isRecording.load(ordering: .relaxed) }
    /// Exchanges that passed while the recording was off.
    package var passed: Int { outcome.passed.load(ordering: .relaxed) }
    /// Exchanges that the rules left out.
    package var leftOut: Int { outcome.leftOut.load(ordering: .relaxed) }
    package var edits: Int { outcome.edits.load(ordering: .acquiring) }

    /// Applies to exchanges that begin after the call.
    package func setRecording(_ isRecording: Bool) {
        outcome.isRecording.store(isRecording, ordering: .relaxed)
        queue.submit(isRecording: isRecording)
    }

    /// Edits the session between events of the traffic. Throws ``SessionError``.
    package func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
        try await withCheckedThrowingContinuation { continuation in
            let order = RecorderQueue.EditOrder(edit: edit) { continuation.resume(with: $0.mapError { $0 }) }
            if !queue.submit(order) { continuation.resume(throwing: SessionError.nothingRecorded) }
        }
    }

    /// Waits until all submitted events are in the file.
    package func flush() {
        let done = DispatchSemaphore(value: 0)
        if queue.request(flush: done) { done.wait() }
    }

    /// Writes the rest, and makes the session one file. Further calls return the same summary. Callbacks must not call
    /// this, because it waits for them.
    @discardableResult
    package func close() -> RecorderSummary {
        queue.close()
        return outcome.wait()
    }
}

package final class RecorderProducer: Sendable {
    private let queue: RecorderQueue
    private let number: Int
    private let onCredit: @Sendable () -> Void

    init(queue: RecorderQueue, onCredit: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.onCredit = onCredit
        number = queue.nextProducer()
    }

    deinit { queue.remove(producer: number) }

    /// Submits the events of a tick; `cost` is the sum of their costs. If it returns `false`, the credit is used up,
    /// and the loop must pause its traffic until `onCredit`. A lossy recorder drops body parts instead.
    package func submit(_ events: [RecordEvent], cost: Int) -> Bool {
        queue.submit(events, cost: cost, producer: number, onCredit: onCredit)
    }
}

struct RecorderCallbacks: Sendable {
    var onFinished: (@Sendable ([RecordedExchange]) -> Void)?
    var onFailure: (@Sendable (SessionError) -> Void)?
    var onRemark: (@Sendable (RecorderRemark) -> Void)?
}

final class Outcome: Sendable {
    let revision = Atomic(0)
    let edits = Atomic(0)
    let isRecording: Atomic<Bool>
    let passed = Atomic(0)
    let leftOut = Atomic(0)
    let path: Mutex<String?>
    private let summary = Mutex<RecorderSummary?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(isRecording: Bool, path: String?) {
        self.isRecording = Atomic(isRecording)
        self.path = Mutex(path)
    }

    func end(_ summary: RecorderSummary) {
        self.summary.withLock { $0 = summary }
        ended.signal()
    }

    func wait() -> RecorderSummary {
        ended.wait()
        defer { ended.signal() }
        return summary.withLock { $0 } ?? RecorderSummary()
    }
}
