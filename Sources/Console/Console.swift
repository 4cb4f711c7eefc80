import Foundation
import Jobs
package import Terminal

package enum Console {
    /// Runs the console on a terminal until it ends. Only the screen's own thread uses the terminal.
    ///
    /// The first frame is drawn before `prepare` has started the proxy or opened the session, so that a slow start is
    /// visible. Throws ``ConsoleError`` if the terminal cannot be used, and errors of `prepare`.
    package static func run(
        _ source: ConsoleModel.Source,
        on terminal: @escaping @Sendable () throws -> any TerminalDevice,
        prepare: @escaping @Sendable () async throws -> ConsoleServices,
        configure: @escaping @Sendable (inout ConsoleModel) -> Void = { _ in },
        settings: ViewSettingsFile? = nil
    ) async throws {
        try await onThread(prepare) { effects in
            let terminal = try terminal()
            var model = ConsoleModel(source: source, size: terminal.size, look: look(terminal.capabilities))
            model.isMouseOnAtFirst = terminal.capabilities.sendsEscapeWithMouse
            model.isMouseOn = model.isMouseOnAtFirst
            configure(&model)
            settings?.configure(&model)
            try ConsoleLoop(model, terminal, effects, settings).run()
        }
    }

    static func onThread<Value: Sendable>(
        _ prepare: @escaping @Sendable () async throws -> ConsoleServices,
        isLinear: Bool = false,
        _ body: @escaping @Sendable (EffectRunner) throws -> Value
    ) async throws -> Value {
        // A closed pipe, for example to a clipboard program, must not end the process.
        signal(SIGPIPE, SIG_IGN)
        let inbox = try MessageQueue()
        let (work, submission) = AsyncStream.makeStream(of: EffectRunner.Work.self)
        let effects = EffectRunner(inbox: inbox, isLinear: isLinear) { submission.yield($0) }
        defer { effects.removeFiles() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                // The screen's own thread never waits for other work.
                try await OwnThread.run { () throws in
                    defer { submission.finish() }
                    return try body(effects)
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
                if result != nil { group.cancelAll() }
            }
            guard let result else { throw ConsoleError("The console ended too early.") }
            return result
        }
    }

    package static func look(_ capabilities: TerminalCapabilities) -> Look {
        let depth = capabilities.colorDepth
        return Look(theme: depth == .none ? .plain : .dark, isUnicode: capabilities.isUnicode, depth: depth)
    }
}

extension Console {
    /// Opens the console without a screen: it reads commands and writes answers as lines, without escape sequences.
    ///
    /// A command is answered before the next line is read, so that a script on standard input has the same result each
    /// time. `write` gets whole lines. Returns whether all commands succeeded, and throws the errors of `prepare`.
    package static func runLinear(
        _ source: ConsoleModel.Source,
        input: Int32,
        write: @escaping @Sendable (String) -> Void,
        prepare: @escaping @Sendable () async throws -> ConsoleServices,
        configure: @escaping @Sendable (inout ConsoleModel) -> Void = { _ in }
    ) async throws -> Bool {
        try await onThread(prepare, isLinear: true) { effects in
            let look = Look(theme: .plain, isUnicode: true)
            var model = ConsoleModel(source: source, size: Size(width: 100, height: 40), look: look)
            model.isLinear = true
            // Exchanges from before the start are not reported as new.
            model.list.progress = 0
            configure(&model)
            return try LinearLoop(model, input: input, effects, write).run()
        }
    }
}
