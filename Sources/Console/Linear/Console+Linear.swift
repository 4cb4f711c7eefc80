import Foundation
import Sharing
import Terminal

extension Console {
    /// Opens the console without a screen: commands are read as lines, answers are written as lines.
    ///
    /// No sequence that moves a cursor or gives a colour is written. What a command asks for has been answered before the next
    /// line is read, so that a script on standard input does the same each time.
    ///
    /// - Parameters:
    ///   - source: what is looked at.
    ///   - input: where commands are read; the console ends with it.
    ///   - write: takes text, whole lines at a time.
    ///   - prepare: starts the proxy or opens the session; called once.
    /// - Returns: whether all commands were done.
    /// - Throws: what `prepare` throws.
    package static func runLinear(
        _ source: ConsoleModel.Source,
        input: Int32,
        write: @escaping @Sendable (String) -> Void,
        prepare: @escaping @Sendable () async throws -> ConsoleServices
    ) async throws -> Bool {
        try await onThread(prepare) { inbox, effects in
            let signals = try TerminalSignals([.terminate, .hangUp, .interrupt])
            let look = Look(theme: .plain, isUnicode: true)
            var model = ConsoleModel(source: source, size: Size(width: 100, height: 40), look: look)
            model.isLinear = true
            // What the session has at the beginning is not news.
            model.list.progress = 0
            return try LinearLoop(model, LinearInput(descriptor: input), signals, inbox, effects, write).run()
        }
    }
}
