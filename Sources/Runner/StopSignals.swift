import Foundation

/// The user's or the system's wish that a run should end: SIGINT, SIGTERM, or SIGHUP where the terminal is closed.
///
/// The handler writes into a pipe that a thread reads, so a signal counts however early it comes. (Blocking the signals
/// and waiting for them is no way out: the main thread of an async program unblocks them all.)
package enum StopSignals {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Reading end and writing end; made before the handler is, which must not make anything.
    private static let pipe: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        _ = systemPipe(&ends)
        return (ends[0], ends[1])
    }()

    /// From now on the signals no longer end the process, but the wait.
    package static func prepare() {
        _ = pipe
        signal(SIGPIPE, SIG_IGN)
        for number in numbers {
            let former = signal(number) { _ in
                var byte: UInt8 = 0
                _ = write(StopSignals.pipe.writing, &byte, 1)
            }
            // What `nohup` has us ignore.
            if number == SIGHUP, isIgnoring(former) { signal(number, SIG_IGN) }
        }
    }

    private static func isIgnoring(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Waits for the first signal since `prepare`; a second SIGINT or SIGTERM ends the process at once.
    ///
    /// A terminal that is closed may send SIGHUP twice: to the leader of its session and to the group in front.
    package static func wait() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                while read(pipe.reading, &byte, 1) < 0, errno == EINTR {}
                for number in numbers { signal(number, number == SIGHUP ? SIG_IGN : SIG_DFL) }
                continuation.resume()
            }
        }
    }
}

/// `pipe(2)`, which the property of that name hides.
private func systemPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }
