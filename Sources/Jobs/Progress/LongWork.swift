import Files
import Foundation
import Synchronization
import Text

/// Long work: it shows its progress on a terminal, and a signal stops it without leaving files behind.
///
/// SIGINT, SIGTERM and SIGHUP make the next report throw ``Interrupted``. If the work does not end within `patience`,
/// or another signal arrives, the process ends and ``TemporaryFiles`` are removed.
package final class LongWork: Sendable {
    private static let silence = Duration.milliseconds(500)
    private static let interval: useconds_t = 100_000

    private struct State {
        var line: ProgressLine
        var startedAt = ContinuousClock.now
        var isOver = false
    }

    private let state: Mutex<State>
    private let begun = ContinuousClock.now
    /// 0 before the first signal.
    private let signal = Atomic<Int32>(0)
    private let consequence: String
    private let patience: Duration

    private init(_ title: String, _ unit: ProgressLine.Unit, _ consequence: String, _ patience: Duration) {
        state = Mutex(State(line: ProgressLine(title, unit)))
        (self.consequence, self.patience) = (consequence, patience)
    }

    /// `title` is for example `exporting`. A user who stops the work reads `consequence` (`a.har was not written.`).
    /// `isShown` is false if output goes to the same terminal; `patience` is the time to end after a signal. Throws
    /// ``Interrupted`` if a signal stopped the work, or the error of `body`.
    package static func run<Value>(
        _ title: String,
        _ unit: ProgressLine.Unit,
        consequence: String,
        isShown: Bool = true,
        patience: Duration = .seconds(3),
        _ body: (LongWork) throws -> Value
    ) throws -> Value {
        let work = LongWork(title, unit, consequence, patience)
        work.begin(isShown: isShown)
        defer { work.end() }
        do {
            return try body(work)
        } catch {
            throw work.interruption ?? error
        }
    }

    package static func run<Value>(
        _ title: String,
        _ unit: ProgressLine.Unit,
        consequence: String,
        isShown: Bool = true,
        patience: Duration = .seconds(3),
        _ body: (LongWork) async throws -> Value
    ) async throws -> Value {
        let work = LongWork(title, unit, consequence, patience)
        work.begin(isShown: isShown)
        defer { work.end() }
        do {
            return try await body(work)
        } catch {
            throw work.interruption ?? error
        }
    }

    package var interruption: Interrupted? {
        let signal = signal.load(ordering: .relaxed)
        return signal == 0 ? nil : Interrupted(signal: signal, consequence: consequence)
    }

    package func check() throws {
        if let interruption { throw interruption }
    }

    package func begin(_ title: String, _ unit: ProgressLine.Unit? = nil) {
        state.withLock { state in
            state.line = ProgressLine(title, unit ?? state.line.unit)
            state.startedAt = .now
        }
    }

    /// `part` is from 0 to 1. Throws ``Interrupted``.
    package func report(_ done: Int64?, part: Double? = nil) throws {
        try check()
        state.withLock { state in
            state.line.done = done ?? 0
            state.line.part = part
        }
    }

    /// Throws ``Interrupted``.
    package func add(_ count: Int, of total: Int? = nil) throws {
        try check()
        guard count > 0 else { return }
        state.withLock { state in
            state.line.done += Int64(count)
            if let total { state.line.part = Double(state.line.done) / Double(max(1, total)) }
        }
    }

    private func begin(isShown: Bool) {
        WorkSignals.begin(self)
        guard isShown, StatusLine.isPossible else { return }
        Thread.detachNewThread { [weak self] in
            while true {
                usleep(LongWork.interval)
                guard let self, draw() else { return }
            }
        }
    }

    /// Returns `false` once the work is over.
    private func draw() -> Bool {
        guard begun.duration(to: .now) >= LongWork.silence else { return !state.withLock(\.isOver) }
        let width = StatusLine.width() - 1
        return state.withLock { state in
            guard !state.isOver else { return false }
            var line = state.line
            line.elapsed = state.startedAt.duration(to: .now) / .seconds(1)
            StatusLine.draw(line.text(width: width))
            return true
        }
    }

    package func hide() {
        state.withLock { $0.isOver = true }
        StatusLine.erase()
    }

    private func end() {
        WorkSignals.end(self)
        hide()
    }

    fileprivate func stop(_ number: Int32) {
        _ = signal.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    fileprivate var patienceMilliseconds: Int { Int(patience / .milliseconds(1)) }

    fileprivate func endProcess() -> Never {
        let interrupted = interruption ?? Interrupted(signal: SIGINT, consequence: consequence)
        StatusLine.writeAtEnd("sluice: \(VisibleText.of("\(interrupted)"))\n")
        TemporaryFiles.end(interrupted.exitCode)
    }
}

private enum WorkSignals {
    private static let pipe = SignalPipe()
    private static let current = Mutex<LongWork?>(nil)
    private static let watcher: Void = Thread.detachNewThread {
        while let number = pipe.next() {
            guard let work = current.withLock({ $0 }) else { continue }
            work.stop(number)
            _ = pipe.hasNext(within: work.patienceMilliseconds)
            current.withLock { if $0 === work { work.endProcess() } }
        }
    }

    static func begin(_ work: LongWork) {
        // A signal handler must not allocate, so both are created before the handler is set.
        _ = pipe
        _ = watcher
        current.withLock { $0 = work }
        StopSignals.handle { WorkSignals.pipe.note($0) }
    }

    static func end(_ work: LongWork) {
        current.withLock { current in
            guard current === work else { return }
            current = nil
            for number in StopSignals.numbers where !(number == SIGHUP && isIgnored(number)) { signal(number, SIG_DFL) }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let handler = signal(number, SIG_IGN)
        signal(number, handler)
        return StopSignals.isIgnoring(handler)
    }
}
