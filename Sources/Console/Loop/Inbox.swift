import Foundation
import Synchronization

/// Messages to the screen's thread, sent from any thread.
final class Inbox: Sendable {
    private let waiting = Mutex<[Message]>([])
    /// A byte in the pipe wakes the screen's thread.
    private let pipe: (read: Int32, write: Int32)

    init() throws {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw ConsoleFailure("No pipe can be made: \(describe(errno)).") }
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.read)
        close(pipe.write)
    }

    /// Readable while messages wait.
    var descriptor: Int32 { pipe.read }

    func send(_ message: Message) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(message)
            return waiting.count == 1
        }
        guard isFirst else { return }
        var byte: UInt8 = 1
        // A full pipe has woken it already.
        _ = write(pipe.write, &byte, 1)
    }

    func take() -> [Message] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(pipe.read, &bytes, bytes.count) == bytes.count {}
        return waiting.withLock { waiting in
            let all = waiting
            waiting.removeAll(keepingCapacity: true)
            return all
        }
    }
}

private func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
