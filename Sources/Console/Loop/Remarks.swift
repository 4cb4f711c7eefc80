import Synchronization

/// What is said while the console has the screen, so that it is neither lost nor printed across it.
package final class Remarks: Sendable {
    private struct State {
        var lines: [String] = []
        var listener: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Passes words on, or keeps them until somebody listens.
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

    /// Hands over what was kept, and all that comes.
    func listen(_ listener: @escaping @Sendable (String) -> Void) {
        let kept = state.withLock { state in
            state.listener = listener
            defer { state.lines = [] }
            return state.lines
        }
        for words in kept { listener(words) }
    }
}
