import Foundation
package import Terminal

package enum Console {
    /// Opens the console on a terminal, and returns at its end.
    ///
    /// The first frame is drawn before `prepare` ends, so that a slow start is visible.
    ///
    /// - Parameters:
    ///   - terminal: makes the terminal, on the screen's own thread, to which it then belongs.
    ///   - prepare: starts the proxy or opens the session; called once, beside the drawing.
    ///   - configure: changes the model before the first frame, for example its keys.
    ///   - settings: where the user's view is kept; `nil` for nowhere.
    /// - Throws: ``ConsoleError`` if the terminal cannot be used; what `prepare` throws.
    package static func run(
        _ source: ConsoleModel.Source,
        on terminal: @escaping @Sendable () throws -> any TerminalDevice,
        prepare: @escaping @Sendable () async throws -> ConsoleServices,
        configure: @escaping @Sendable (inout ConsoleModel) -> Void = { _ in },
        settings: ViewSettingsFile? = nil
    ) async throws {
        try await onThread(prepare) { inbox, effects in
            let terminal = try terminal()
            let signals = try TerminalSignals()
            var model = ConsoleModel(source: source, size: terminal.size, look: look(terminal.capabilities))
            model.isMouseOnAtFirst = terminal.capabilities.sendsEscapeWithMouse
            model.isMouseOn = model.isMouseOnAtFirst
            configure(&model)
            settings?.configure(&model)
            try ConsoleLoop(model, terminal, signals, inbox, effects, settings).run()
        }
    }

    static func onThread<Value: Sendable>(
        _ prepare: @escaping @Sendable () async throws -> ConsoleServices,
        isLinear: Bool = false,
        _ body: @escaping @Sendable (MessageQueue, EffectRunner) throws -> Value
    ) async throws -> Value {
        // A pipe whose reader goes away, such as a clipboard's program, must not end the process.
        signal(SIGPIPE, SIG_IGN)
        let inbox = try MessageQueue()
        let (work, submission) = AsyncStream.makeStream(of: EffectRunner.Work.self)
        let effects = EffectRunner(inbox: inbox, isLinear: isLinear) { submission.yield($0) }
        defer { effects.removeFiles() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                // The screen's own thread never waits for other work.
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
                // Cancels what is still being prepared.
                if result != nil { group.cancelAll() }
            }
            guard let result else { throw ConsoleError("The console ended too early.") }
            return result
        }
    }

    package static func look(_ capabilities: TerminalCapabilities) -> Look {
        Look(
            theme: capabilities.colorDepth == .none ? .plain : .dark,
            isUnicode: capabilities.isUnicode,
            depth: capabilities.colorDepth
        )
    }

    private static func onOwnThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}

extension Console {
    /// Opens the console without a screen: it reads commands and writes answers as lines, without escape sequences.
    ///
    /// A command is answered before the next line is read, so that a script on standard input has the same result each
    /// time.
    ///
    /// - Parameters:
    ///   - input: where commands are read; its end ends the console.
    ///   - write: takes text, whole lines at a time.
    ///   - prepare: starts the proxy or opens the session; called once.
    ///   - configure: changes the model before the first line.
    /// - Returns: whether all commands succeeded.
    /// - Throws: what `prepare` throws.
    package static func runLinear(
        _ source: ConsoleModel.Source,
        input: Int32,
        write: @escaping @Sendable (String) -> Void,
        prepare: @escaping @Sendable () async throws -> ConsoleServices,
        configure: @escaping @Sendable (inout ConsoleModel) -> Void = { _ in }
    ) async throws -> Bool {
        try await onThread(prepare, isLinear: true) { inbox, effects in
            let signals = try TerminalSignals([.terminate, .hangUp, .interrupt])
            let look = Look(theme: .plain, isUnicode: true)
            var model = ConsoleModel(source: source, size: Size(width: 100, height: 40), look: look)
            model.isLinear = true
            // The exchanges that the session begins with are not news.
            model.list.progress = 0
            configure(&model)
            return try LinearLoop(model, LinearInput(descriptor: input), signals, inbox, effects, write).run()
        }
    }
}
