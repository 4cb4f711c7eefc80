import Synchronization

/// What the proxy says while the console has the screen, kept until the console listens.
package final class DeferredOutput: Sendable {
    private struct State {
        var lines: [String] = []
        var listener: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package func add(_ text: String) {
        var text = Substring(text)
        while text.last?.isNewline == true { text.removeLast() }
        let words = String(text)
        let listener = state.withLock { state in
            if state.listener == nil { state.lines.append(words) }
            return state.listener
        }
        listener?(words)
    }

    /// Passes on what was kept, and all that follows.
    func listen(_ listener: @escaping @Sendable (String) -> Void) {
        let kept = state.withLock { state in
            state.listener = listener
            defer { state.lines = [] }
            return state.lines
        }
        for words in kept { listener(words) }
    }
}
