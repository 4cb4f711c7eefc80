import Foundation

/// The signals that stop a run: SIGINT, SIGTERM, and SIGHUP of a closed terminal.
///
/// The handler writes into a pipe, so an early signal is not lost. (The main thread of an async program unblocks all
/// signals, so they cannot be blocked and awaited.)
package enum StopSignals {
    static let numbers = [SIGINT, SIGTERM, SIGHUP]

    private static let pipe = SignalPipe()

    /// From now on the signals end ``wait()``, not the process.
    package static func prepare() {
        // A signal handler must not allocate, so the pipe is created now.
        _ = pipe
        signal(SIGPIPE, SIG_IGN)
        handle { StopSignals.pipe.note($0) }
    }

    /// Sets the handler of the signals, except for a SIGHUP that `nohup` has made us ignore.
    static func handle(_ handler: @escaping @convention(c) (Int32) -> Void) {
        for number in numbers {
            let former = signal(number, handler)
            if number == SIGHUP, isIgnoring(former) { signal(number, SIG_IGN) }
        }
    }

    static func isIgnoring(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether a signal has arrived since ``prepare()``, or arrives within `milliseconds`.
    package static func hasCome(within milliseconds: Int) -> Bool { pipe.hasNext(within: milliseconds) }

    /// Waits for the first signal since ``prepare()``; a second SIGINT or SIGTERM ends the process at once. A closed
    /// terminal may send SIGHUP twice: to the leader of its session and to the foreground group.
    package static func wait() async {
        await OwnThread.run {
            _ = pipe.next()
            for number in numbers { signal(number, number == SIGHUP ? SIG_IGN : SIG_DFL) }
        }
    }
}
