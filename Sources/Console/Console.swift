import Foundation
import Sharing
package import Terminal

/// The terminal UI that drives everything.
package enum Console {
    /// Opens the console on a terminal, and returns at its end.
    ///
    /// The first frame is drawn before there is anything to show, so that a slow start is seen to be one.
    ///
    /// - Parameters:
    ///   - source: what is looked at.
    ///   - terminal: makes what it is drawn on; called on the screen's own thread, which it then belongs to.
    ///   - prepare: starts the proxy or opens the session; called once, beside the drawing.
    ///   - configure: changes the model before the first frame, for example its keys.
    /// - Throws: ``ConsoleFailure`` where the terminal cannot be used; what `prepare` throws.
    package static func run(
        _ source: ConsoleModel.Source,
        on terminal: @escaping @Sendable () throws -> any TerminalDevice,
        prepare: @escaping @Sendable () async throws -> ConsoleServices,
        configure: @escaping @Sendable (inout ConsoleModel) -> Void = { _ in }
    ) async throws {
        try await onThread(prepare) { inbox, effects in
            let terminal = try terminal()
            let signals = try TerminalSignals()
            var model = ConsoleModel(source: source, size: terminal.size, look: look(terminal.capabilities))
            configure(&model)
            try ConsoleLoop(model, terminal, signals, inbox, effects).run()
        }
    }

    /// Runs a loop on a thread of its own, and beside it what its effects ask for.
    static func onThread<Value: Sendable>(
        _ prepare: @escaping @Sendable () async throws -> ConsoleServices,
        _ body: @escaping @Sendable (Inbox, EffectRunner) throws -> Value
    ) async throws -> Value {
        // A pipe whose reader goes away, such as a clipboard's program, is no reason to end with the session open.
        signal(SIGPIPE, SIG_IGN)
        let inbox = try Inbox()
        let (work, submission) = AsyncStream.makeStream(of: EffectRunner.Work.self)
        let effects = EffectRunner(inbox: inbox) { submission.yield($0) }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                // The screen has a thread of its own: nothing that waits for others runs on it.
                try await onOwnThread {
                    defer { submission.finish() }
                    return try body(inbox, effects)
                }
            }
            group.addTask {
                do {
                    try effects.connect(try await prepare())
                } catch {
                    inbox.send(.failed(error))
                }
                return nil
            }
            group.addTask {
                await withDiscardingTaskGroup { works in
                    for await job in work { works.addTask { await job() } }
                    works.cancelAll()
                }
                return nil
            }
            var result: Value?
            for try await value in group {
                result = value ?? result
                // Whatever is still being prepared is of no use any more.
                if result != nil { group.cancelAll() }
            }
            guard let result else { throw ConsoleFailure("The console ended too early.") }
            return result
        }
    }

    /// How things are drawn on a terminal.
    package static func look(_ capabilities: TerminalCapabilities) -> Look {
        Look(theme: capabilities.colorDepth == .none ? .plain : .dark, isUnicode: capabilities.isUnicode)
    }

    private static func onOwnThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let thread = Thread {
                // From within: only so does the system know the name.
                Thread.current.name = "sluice.console"
                continuation.resume(with: Result { try body() })
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
