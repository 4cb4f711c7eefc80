import Foundation
import Synchronization
import Terminal

final class MessageQueue: Sendable {
    private let waiting = Mutex<[Message]>([])
    /// A byte in the pipe wakes the screen's thread.
    private let pipe: (reading: Int32, writing: Int32)

    init() throws {
        guard let pipe = Descriptors.pipe() else { throw TerminalError.noDescriptors }
        self.pipe = pipe
    }

    deinit {
        close(pipe.reading)
        close(pipe.writing)
    }

    var descriptor: Int32 { pipe.reading }

    func send(_ message: Message) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(message)
            return waiting.count == 1
        }
        guard isFirst else { return }
        var byte: UInt8 = 1
        // A full pipe has woken it already.
        _ = write(pipe.writing, &byte, 1)
    }

    /// Sends the change that a feature makes with the result of an effect.
    func answer(_ change: @escaping Message.Change) { send(.answer(change)) }

    func answer(_ change: @escaping @Sendable (inout ConsoleModel) -> Void) {
        send(
            .answer {
                change(&$0)
                return []
            }
        )
    }

    func take() -> [Message] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(pipe.reading, &bytes, bytes.count) == bytes.count {}
        return waiting.withLock { waiting in
            defer { waiting.removeAll(keepingCapacity: true) }
            return waiting
        }
    }
}
