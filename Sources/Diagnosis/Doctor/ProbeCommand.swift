import Foundation
import Jobs
import Runner
import Synchronization

/// Runs other programs, each for a bounded time.
final class ProbeCommand: Sendable {
    enum Answer: Sendable, Equatable {
        case text(String)
        /// With the exit code.
        case failed(Int32)
        case late
    }

    let environment: [String: String]
    let patience: Duration
    private let directory: TemporaryDirectory
    private let count = Atomic(0)

    /// In bytes.
    private static let longest = 1 << 20

    /// Throws ``StartError`` if there is no folder for the programs' output.
    init(environment: [String: String], patience: Duration) throws(StartError) {
        (self.environment, self.patience) = (environment, patience)
        directory = try TemporaryDirectory(.doctor)
    }

    func remove() { directory.remove() }

    func path(of name: String) -> String? { (try? ChildCommand([name], environment: environment))?.executable }

    /// Runs a program and returns its output; kills it after ``patience``.
    func ask(_ words: [String], variables: [String: String] = [:]) async -> Answer {
        let file = "\(directory.path)/\(count.add(1, ordering: .relaxed).newValue)"
        guard let command = try? ChildCommand(words, environment: environment),
            let child = try? ChildProcess.start(
                command,
                environment: environment.merging(variables) { $1 },
                streams: ChildProcess.Streams(input: "/dev/null", output: file, errors: "/dev/null")
            )
        else { return .failed(127) }
        let code = await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await child.exitCode() }
            group.addTask {
                try? await Task.sleep(for: self.patience)
                return nil
            }
            let first = await group.next() ?? nil
            if first == nil { child.send(SIGKILL) }
            group.cancelAll()
            return first
        }
        guard let code else { return .late }
        guard code == 0 else { return .failed(code) }
        guard let handle = FileHandle(forReadingAtPath: file) else { return .text("") }
        let bytes = (try? handle.read(upToCount: Self.longest)) ?? Data()
        return .text(String(decoding: bytes, as: UTF8.self))
    }
}
