internal import CSpawn
package import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that a test runs; it is killed when nobody holds it any more.
///
/// Foundation's `Process` is not used because it learns of a program's end from the end of a socket. A program that is
/// started at the same moment may inherit that socket, and then the first program seems to run as long as the second.
/// Here a thread waits for the process itself, and a program inherits nothing but its standard streams.
package final class ChildProgram: Sendable {
    /// Why a program could not be started.
    package struct ProgramError: Error, CustomStringConvertible {
        /// What is wrong, in words.
        package let description: String
    }

    /// How a program ended, and what it printed.
    package struct Outcome: Sendable {
        /// The exit status; negative for the signal that ended it.
        package let status: Int32
        /// What it wrote to its standard output.
        package let output: Data
        /// What it wrote to its standard error.
        package let errors: Data
        /// The output as text.
        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    private struct State {
        var status: Int32?
    }

    /// The number of the process.
    package let identifier: Int32
    private let state = Mutex(State())
    private let end = DispatchGroup()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: where it lies.
    ///   - arguments: its arguments, without its name.
    ///   - environment: all of its environment; that of the tests by default.
    ///   - directory: where it runs; where the tests run by default.
    ///   - input: its standard input; nothing by default. So are the output and the errors thrown away by default.
    ///   - output: its standard output.
    ///   - errors: its standard error.
    ///   - terminal: the path of the terminal that controls it and is at those of its streams that nothing else is;
    ///     none by default.
    /// - Throws: ``Failure`` where the system refuses.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        directory: String? = nil,
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        errors: FileHandle? = nil,
        terminal: String? = nil
    ) throws {
        let streams = [input, output, errors]
        let (number, error) = ChildProgram.spawn(
            path,
            [path] + arguments,
            environment.map { "\($0.key)=\($0.value)" },
            directory,
            streams.map { $0?.fileDescriptor },
            terminal
        )
        // The descriptors must last until here.
        withExtendedLifetime(streams) {}
        guard error == 0 else {
            throw ProgramError(description: "\(path) cannot be started: \(String(cString: strerror(error)))")
        }
        identifier = number
        end.enter()
        // It is not held by its thread, so that it can be killed when nobody else holds it.
        Thread.detachNewThread { [weak self, end] in
            // It stays a zombie, and so keeps its number, until it gets no more signals.
            var information = siginfo_t()
            while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            if let self {
                self.state.withLock { $0.status = ChildProgram.reap(number) }
            } else {
                _ = ChildProgram.reap(number)
            }
            end.leave()
        }
    }

    deinit {
        if status == nil { kill(identifier, SIGKILL) }
    }

    /// The exit status, negative for a signal; `nil` while the program runs.
    package var status: Int32? { state.withLock { $0.status } }

    /// Sends a signal, unless the program has ended.
    package func signal(_ number: Int32) {
        state.withLock { state in
            if state.status == nil { kill(identifier, number) }
        }
    }

    /// Waits for the end, and keeps the thread waiting.
    ///
    /// - Returns: the exit status, negative for a signal.
    @discardableResult
    package func wait() -> Int32 {
        end.wait()
        return status ?? -1
    }

    /// Runs a program of `PATH` to its end, and keeps the thread waiting.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - arguments: its arguments.
    ///   - input: what its standard input has.
    /// - Returns: how it ended, and what it printed.
    /// - Throws: ``Failure`` where it cannot be started.
    package static func run(_ name: String, _ arguments: [String], input: Data = Data()) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-program-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, not pipes: a program that prints a lot on both never waits for a reader.
        let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
        for file in files { try (file == files[0] ? input : Data()).write(to: file) }
        let program = try ChildProgram(
            "/usr/bin/env",
            [name] + arguments,
            input: try FileHandle(forReadingFrom: files[0]),
            output: try FileHandle(forWritingTo: files[1]),
            errors: try FileHandle(forWritingTo: files[2])
        )
        let status = program.wait()
        return Outcome(status: status, output: try Data(contentsOf: files[1]), errors: try Data(contentsOf: files[2]))
    }

    private static func reap(_ number: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0 {
            if errno != EINTR { return -1 }
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }

    private static func spawn(
        _ path: String,
        _ words: [String],
        _ variables: [String],
        _ directory: String?,
        _ streams: [Int32?],
        _ terminal: String?
    ) -> (pid_t, error: Int32) {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let closesRest = Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let closesRest: Int16 = 0
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own, so that a Ctrl-C for the tests is not also one for their programs; no signal is blocked.
        let group = terminal == nil ? Int16(POSIX_SPAWN_SETPGROUP) : sluice_spawn_session()
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | group | closesRest
        )
        for (number, stream) in streams.enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), terminal ?? "/dev/null", O_RDWR, 0)
            }
        }
        _ = sluice_spawn_closing_rest(&actions)
        if let directory { _ = sluice_spawn_in(&actions, directory) }
        return withCStrings(words) { words in
            withCStrings(variables) { variables in
                var number: pid_t = 0
                let error = posix_spawn(&number, path, &actions, &attributes, words, variables)
                return (number, error)
            }
        }
    }

    /// Runs `body` with the strings in the form of `argv`.
    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
