import Synchronization

/// State of a rule that goes on when the rule is replaced: from then on both rules share it.
package final class ContinuedState<State: Sendable>: Sendable {
    private final class Box: Sendable {
        let state: Mutex<State>

        init(_ state: State) { self.state = Mutex(state) }
    }

    private let box: Mutex<Box>

    package init(_ state: State) { box = Mutex(Box(state)) }

    package var copy: ContinuedState { ContinuedState(update { $0 }) }

    package func goOn(from other: ContinuedState) {
        let shared = other.box.withLock { $0 }
        box.withLock { $0 = shared }
    }

    package func update<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        box.withLock { $0 }.state.withLock { body(&$0) }
    }
}
