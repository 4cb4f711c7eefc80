import Dispatch
package import HTTPModel
import Synchronization

/// Writes recorded events into a session file, on a thread of its own.
///
/// Event loops pass their events to a ``RecorderProducer`` and never wait. The recorder's thread collects events for
/// some milliseconds and writes them in one transaction. If writing fails, the traffic goes on unrecorded: the failure
/// is reported once, and again in the summary.
package final class Recorder: Sendable {
    /// The number for the next exchange: one more than the session's highest.
    package let nextExchangeID: Int64
    /// The number for the next connection: one more than the session's highest.
    package let nextConnectionID: Int64
    /// Exchanges that an earlier run left in flight; `nil` if it ended normally.
    package let recovered: RecoveryReport?

    private let queue: RecorderQueue
    private let outcome: Outcome

    /// Opens or creates the session and starts the thread.
    ///
    /// - Parameters:
    /// - onFinished: called on the recorder's thread with ended exchanges, recorded or not, without their connections.
    /// - onFailure: called once on the recorder's thread when writing first fails.
    /// - onRemark: called on one of the recorder's threads.
    /// - Throws: ``SessionError`` if the session cannot be opened.
    package init(
        _ configuration: RecorderConfiguration,
        onFinished: (@Sendable ([RecordedExchange]) -> Void)? = nil,
        onFailure: (@Sendable (SessionError) -> Void)? = nil,
        onRemark: (@Sendable (RecorderRemark) -> Void)? = nil
    ) throws {
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
            // A transaction is never larger than its room in the session.
            configuration.credit = min(configuration.credit, Int(clamping: max(64 << 10, largest / 8)))
        }
        nextExchangeID = session?.start.nextExchangeID ?? 1
        nextConnectionID = session?.start.nextConnectionID ?? 1
        recovered = session?.start.recovered
        queue = RecorderQueue(configuration)
        outcome = Outcome(isRecording: configuration.isRecording, path: session?.path)
        let callbacks = RecorderCallbacks(onFinished: onFinished, onFailure: onFailure, onRemark: onRemark)
        DispatchQueue(label: "sluice.recorder", qos: .userInitiated).async { [queue, outcome, configuration] in
            RecorderLoop(queue, outcome, configuration, callbacks).run(session)
        }
    }

    deinit { queue.close() }

    /// The session for exchanges that begin now; `nil` if nothing is recorded.
    package var path: String? { outcome.path.withLock { $0 } }

    /// Increases whenever readers of the session may see something new.
    package var revision: Int { outcome.revision.load(ordering: .acquiring) }

    /// Makes a producer for one event loop, to be used on that loop only, because the order of events is the order of
    /// calls. `onCredit` is called on the recorder's thread when credit is back after
    /// ``RecorderProducer/submit(_:cost:)`` returned `false`. It must not wait.
    package func makeProducer(onCredit: @escaping @Sendable () -> Void) -> RecorderProducer {
        RecorderProducer(queue: queue, onCredit: onCredit)
    }

    /// Records that other rules are in force: ``SessionReader/rules(at:)`` finds them for exchanges that begin from
    /// then on.
    ///
    /// May be called from any thread and never waits. Call it when a run begins, even without rules, because a session
    /// may continue after another run; that first set counts from the run's beginning. `at` is in microseconds since
    /// 1970, `nil` for now; `sources` contains included files, too. `admits` tells which exchanges to record from then
    /// on, `nil` for all; it is called on the recorder's thread.
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
    /// How many exchanges began while the recording was off.
    package var passed: Int { outcome.passed.load(ordering: .relaxed) }
    /// How many exchanges the rules excluded from the session.
    package var leftOut: Int { outcome.leftOut.load(ordering: .relaxed) }
    /// Increases with each edit.
    package var edits: Int { outcome.edits.load(ordering: .acquiring) }

    /// Switches the recording for exchanges that begin from now on; earlier ones are recorded to their end, or not at
    /// all.
    package func setRecording(_ isRecording: Bool) {
        outcome.isRecording.store(isRecording, ordering: .relaxed)
        queue.submit(isRecording: isRecording)
    }

    /// Edits exchanges between the events of the traffic. Throws ``SessionError``.
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

    /// Writes the rest, ends the run, and makes the session one file again. Later calls return the same summary. Do not
    /// call it from the recorder's callbacks: it waits for them.
    @discardableResult
    package func close() -> RecorderSummary {
        queue.close()
        return outcome.wait()
    }
}

/// One event loop's way to the recorder.
package final class RecorderProducer: Sendable {
    private let queue: RecorderQueue
    private let number: Int
    private let onCredit: @Sendable () -> Void

    init(queue: RecorderQueue, onCredit: @escaping @Sendable () -> Void) {
        (self.queue, self.onCredit) = (queue, onCredit)
        number = queue.nextProducer()
    }

    deinit { queue.remove(producer: number) }

    /// Submits the events of one tick in order and never waits; `cost` is the sum of their ``RecordEvent/cost``.
    ///
    /// Returns `false` if the credit is used up: the events are accepted, but the loop must pause its traffic until
    /// `onCredit` is called. A lossy recorder drops body parts instead and always returns `true`.
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
        // Other callers that wait find the signal again.
        defer { ended.signal() }
        return summary.withLock { $0 } ?? RecorderSummary()
    }
}
