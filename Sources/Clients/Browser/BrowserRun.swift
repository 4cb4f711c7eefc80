import Foundation
import Jobs
import Runner
import Synchronization

/// A browser behind the proxy, with a temporary profile.
package final class BrowserRun: Sendable {
    private let child: ChildProcess
    private let profile: BrowserProfile
    private let name: String
    private let relaysSignals: Bool
    private let isAwaited = Atomic(false)

    private static let shownLines = 5

    /// `isAlone`: the browser has our streams, and gets our signals. Throws ``StartError`` or ``ChildError``.
    package static func start(
        _ browser: InstalledBrowser,
        _ proxy: BrowserProxy,
        urls: [String],
        further: [String],
        inherited: [String: String],
        isAlone: Bool
    ) throws -> BrowserRun {
        let profile = try BrowserProfile(browser, proxy, urls: urls, further: further)
        do {
            let command = try ChildCommand([browser.executable] + profile.arguments, environment: inherited)
            var variables = inherited.merging(profile.variables) { $1 }
            for name in ClientVariable.removed { variables[name] = nil }
            let streams = ChildProcess.Streams(
                input: isAlone ? nil : "/dev/null",
                output: isAlone ? nil : "/dev/null",
                errors: "\(profile.directory.path)/errors.txt"
            )
            func child() throws(ChildError) -> ChildProcess {
                try ChildProcess.start(command, environment: variables, streams: streams)
            }
            return BrowserRun(try isAlone ? SignalRelay.add(child) : child(), profile, browser.executable, isAlone)
        } catch {
            profile.directory.remove()
            throw error
        }
    }

    private init(_ child: ChildProcess, _ profile: BrowserProfile, _ name: String, _ relaysSignals: Bool) {
        (self.child, self.profile, self.name) = (child, profile, name)
        self.relaysSignals = relaysSignals
    }

    package func stop() { child.send(SIGTERM) }

    /// Waits for the browser's end and removes its profile; `nil` if another caller waits. `words` are its errors.
    package func outcome() async -> (exitCode: Int32, words: String)? {
        guard !isAwaited.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
        let code = await child.exitCode()
        if relaysSignals { SignalRelay.remove(child) }
        var words = ""
        if code != 0 {
            let said = FileManager.default.contents(atPath: "\(profile.directory.path)/errors.txt") ?? Data()
            let lines = String(decoding: said.suffix(16_384), as: UTF8.self).split(separator: "\n")
            words = "\(name) ended with \(code)" + lines.suffix(Self.shownLines).map { "\n  \($0)" }.joined()
        }
        await removeProfile()
        return (code, words)
    }

    /// Other processes of the browser may write for a moment after the first one has ended.
    private func removeProfile() async {
        for _ in 0..<20 {
            profile.directory.remove()
            if !FileManager.default.fileExists(atPath: profile.directory.path) { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
