package import Clients
import Foundation
import HTTPModel
package import Jobs
package import Runner
import Synchronization
import Terminal

package struct ConsoleServices: Sendable {
    package var session: String?
    package var archive: String?
    package var control: (any ControlTarget)?
    /// Changes the session if no proxy does this; `nil` if the session is read-only.
    package var edits: (any SessionEdits)?
    /// Imports exchanges from other files into the session; `nil` if the session cannot be extended.
    package var imports: (any SessionImports)?
    package var sender: RequestSender?
    /// Grows whenever the session has changed; `nil` if the session must be polled.
    package var revision: (@Sendable () -> Int)?
    package var authorityPath = ""
    package var trustHelp: [TrustHelp.Line] = []
    /// Messages that the proxy sends by itself: a profile was reloaded, the recording stopped.
    package var remarks = DeferredOutput()
    package var background: (@Sendable () async -> Void)?

    package init(session: String?, archive: String? = nil) { (self.session, self.archive) = (session, archive) }
}

package struct ConsoleError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
    init(isMissing id: ExchangeID) { description = "Exchange \(id) is not in this session." }
}

/// The proxy's messages while the console has the screen, stored until the console listens.
package final class DeferredOutput: Sendable {
    private struct State {
        var lines: [String] = []
        var listener: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package func add(_ text: String) {
        let words = String(text.reversed().drop(while: \.isNewline).reversed())
        let listener = state.withLock { state in
            if state.listener == nil { state.lines.append(words) }
            return state.listener
        }
        listener?(words)
    }

    func listen(_ listener: @escaping @Sendable (String) -> Void) {
        let kept = state.withLock { exchange(&$0, with: State(listener: listener)).lines }
        for words in kept { listener(words) }
    }
}

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
        // If the pipe is full, the thread has been woken already.
        _ = write(pipe.writing, &byte, 1)
    }

    func answer(_ change: @escaping Message.Change) { send(.answer(change)) }

    func answer(_ change: @escaping @Sendable (inout ConsoleModel) -> Void) { send(.answer(Self.effectless(change))) }
    func news(_ change: @escaping @Sendable (inout ConsoleModel) -> Void) { send(.news(Self.effectless(change))) }

    private static func effectless(_ change: @escaping @Sendable (inout ConsoleModel) -> Void) -> Message.Change {
        {
            change(&$0)
            return []
        }
    }

    func take() -> [Message] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(pipe.reading, &bytes, bytes.count) == bytes.count {}
        return waiting.withLock { exchange(&$0, with: []) }
    }
}
