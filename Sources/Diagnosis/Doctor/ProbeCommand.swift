import Foundation
import Jobs
import Runner
import Synchronization

/// Programs of this machine that are asked something, each for a bounded time.
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

    /// The longest answer that is read, in bytes.
    private static let longest = 1 << 20

    /// Throws ``StartError`` where there is no folder for what they say.
    init(environment: [String: String], patience: Duration) throws(StartError) {
        (self.environment, self.patience) = (environment, patience)
        directory = try TemporaryDirectory("doctor")
    }

    func remove() { directory.remove() }

    /// Where a program lies; `nil` where there is none.
    func path(of name: String) -> String? {
        (try? ChildCommand([name], environment: environment))?.executable
    }

    /// Runs a program and returns what it printed. One that takes longer than there is patience is killed.
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
