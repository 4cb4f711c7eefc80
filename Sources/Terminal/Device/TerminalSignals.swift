import Foundation
import Synchronization

/// Turns signals into a readable descriptor for an event loop.
///
/// While this object exists, these signals do not end the process but make ``descriptor`` readable; only one object may
/// exist at a time. `deinit` restores the previous actions, except for ``Signal/hangUp``, which is then ignored: a
/// closed terminal sends it more than once, and it must not interrupt the shutdown.
package final class TerminalSignals {
    package enum Signal: CaseIterable, Hashable, Sendable {
        /// An interrupt comes from another process, because `^C` arrives as a key.
        case resized, continued, terminate, hangUp, interrupt

        var number: Int32 {
            switch self {
            case .resized: SIGWINCH
            case .continued: SIGCONT
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .interrupt: SIGINT
            }
        }
    }

    /// The descriptor to which the handler writes; -1 if there is no listener.
    private static let target = Atomic<Int32>(-1)

    /// Readable while signals wait to be drained.
    package let descriptor: Int32
    private let writing: Int32
    private var before: [(number: Int32, action: sigaction)] = []

    /// Starts listening for signals; throws if another object listens already, or if no pipe can be made.
    package init(_ signals: Set<Signal> = Set(Signal.allCases)) throws {
        guard let pipe = Descriptors.pipe() else { throw TerminalError.noDescriptors }
        descriptor = pipe.reading
        writing = pipe.writing
        let (isFirst, _) = TerminalSignals.target.compareExchange(
            expected: -1,
            desired: pipe.writing,
            ordering: .sequentiallyConsistent
        )
        // If this throws, `deinit` still runs, because all properties are set. It closes only the pipe.
        guard isFirst else { throw TerminalError.signalsInUse }
        for signal in signals {
            var action = sigaction()
            action.setHandler { TerminalSignals.arrived($0) }
            action.sa_flags = Int32(SA_RESTART)
            sigemptyset(&action.sa_mask)
            var old = sigaction()
            sigaction(signal.number, &action, &old)
            before.append((signal.number, old))
        }
    }

    deinit {
        for (number, action) in before {
            var action = action
            if number == SIGHUP { action.setHandler(SIG_IGN) }
            sigaction(number, &action, nil)
        }
        _ = TerminalSignals.target.compareExchange(expected: writing, desired: -1, ordering: .sequentiallyConsistent)
        close(writing)
        close(descriptor)
    }

    package func drain() -> Set<Signal> {
        var signals: Set<Signal> = []
        while let bytes = Descriptors.readAvailable(descriptor, limit: 256), !bytes.isEmpty {
            signals.formUnion(Signal.allCases.filter { bytes.contains(UInt8(truncatingIfNeeded: $0.number)) })
        }
        return signals
    }

    /// Runs in the signal handler, so it makes only async-signal-safe calls.
    private static func arrived(_ number: Int32) {
        let kept = errno
        let target = target.load(ordering: .relaxed)
        var byte = UInt8(truncatingIfNeeded: number)
        // If the pipe is full, it already contains the signal many times.
        if target >= 0 { _ = write(target, &byte, 1) }
        errno = kept
    }
}

extension sigaction {
    mutating func setHandler(_ handler: (@convention(c) (Int32) -> Void)?) {
        #if canImport(Darwin)
        __sigaction_u.__sa_handler = handler
        #else
        __sigaction_handler.sa_handler = handler
        #endif
    }
}
