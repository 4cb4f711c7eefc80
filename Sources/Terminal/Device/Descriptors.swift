import Foundation

/// Reading, writing and waiting on file descriptors, with interrupted calls repeated.
package enum Descriptors {
    /// Reads the available bytes, at most `limit`, without waiting; `nil` at the end. It does not set the descriptor to
    /// non-blocking: the shell shares the terminal and must not find it non-blocking.
    static func readAvailable(_ descriptor: Int32, limit: Int = 65_536) -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard repeated({ poll(&entry, 1, 0) }) > 0 else { return [] }
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            count = repeated { read(descriptor, buffer.baseAddress, buffer.count) }
            initialized = max(count, 0)
        }
        return count > 0 || count < 0 && errno == EAGAIN ? bytes : nil
    }

    /// Writes all the bytes, and waits if there is no room. If the other end is closed, the bytes are lost.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let bytes = UnsafeRawBufferPointer(rebasing: rest)
                let written = repeated { write(descriptor, bytes.baseAddress, bytes.count) }
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = repeated { poll(&entry, 1, -1) }
                    if entry.revents & Int16(POLLERR | POLLNVAL) != 0 { return }
                } else {
                    return
                }
            }
        }
    }

    /// A pipe with two non-blocking ends that no child process inherits; `nil` if no more descriptors can be opened.
    package static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }

    /// Repeats the call while a signal interrupts it (`EINTR`).
    static func repeated<Count: SignedInteger>(_ call: () -> Count) -> Count {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
