import Dispatch
import Synchronization

/// What one thread of a desk is asked to do, in order; anybody may ask, and never waits.
final class DeskMailbox<Command: Sendable>: Sendable {
    private struct State {
        var commands: [Command] = []
        var isClosed = false
        var isWaiting = false
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let waitingCommands = Atomic(0)

    /// Whether somebody has asked for something; cheap enough to be asked all the time.
    var hasCommands: Bool { waitingCommands.load(ordering: .relaxed) > 0 }

    /// Asks for something; what it makes needless is left out.
    func put(_ command: Command, replacing isReplaced: (Command) -> Bool = { _ in false }) {
        change { state in
            state.commands.removeAll(where: isReplaced)
            state.commands.append(command)
        }
    }

    /// Ends the thread.
    func close() {
        change { $0.isClosed = true }
    }

    private func change(_ body: (inout State) -> Void) {
        let wakes = state.withLock { state in
            body(&state)
            waitingCommands.store(state.commands.count + (state.isClosed ? 1 : 0), ordering: .relaxed)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wakes { wakeUp.signal() }
    }

    /// Takes all there is; `nil` once the mailbox is closed.
    ///
    /// - Parameter waits: whether to wait until there is something.
    /// - Returns: what was asked, in order.
    func take(waits: Bool) -> [Command]? {
        while true {
            let (commands, isClosed) = state.withLock { state -> ([Command], Bool) in
                defer {
                    state.commands = []
                    waitingCommands.store(state.isClosed ? 1 : 0, ordering: .relaxed)
                }
                state.isWaiting = waits && state.commands.isEmpty && !state.isClosed
                return (state.commands, state.isClosed)
            }
            if isClosed { return nil }
            if !commands.isEmpty || !waits { return commands }
            wakeUp.wait()
        }
    }
}
