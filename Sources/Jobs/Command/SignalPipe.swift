import Foundation

/// A pipe for signals. A handler, which must neither lock nor allocate, writes into it, and a thread reads.
package struct SignalPipe: Sendable {
    private let reading: Int32
    private let writing: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        (reading, writing) = (ends[0], ends[1])
    }

    /// For the signal handler.
    package func note(_ signal: Int32) {
        let before = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = write(writing, &byte, 1)
        errno = before
    }

    func hasNext(within milliseconds: Int) -> Bool {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        // A signal that interrupts the waiting is in the pipe already.
        let count = poll(&entry, 1, CInt(clamping: milliseconds))
        return count > 0 || count < 0 && errno == EINTR && poll(&entry, 1, 0) > 0
    }

    package func next() -> Int32? {
        var byte: UInt8 = 0
        while true {
            let count = read(reading, &byte, 1)
            if count == 1 { return Int32(byte) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
