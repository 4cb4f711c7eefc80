import Foundation
import Sharing
import Terminal

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
