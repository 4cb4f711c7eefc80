import Foundation
import Jobs
import Synchronization

/// A started command, in our process group, with our standard streams and terminal.
///
/// Foundation's `Process` gives a command its own process group, which cannot read the terminal and gets no Ctrl-C.
package final class ChildProcess: Sendable {
    /// Not for `kill`: after the process has ended, another process may have this number.
    let pid: pid_t
    /// `nil` after the process has ended.
    private let running: Mutex<pid_t?>

    private init(_ pid: pid_t) {
        self.pid = pid
        running = Mutex(pid)
    }

    package struct Streams: Sendable {
        var input: String?
        var output: String?
        var errors: String?

        package init(input: String? = nil, output: String? = nil, errors: String? = nil) {
            (self.input, self.output, self.errors) = (input, output, errors)
        }
    }

    /// Throws an error with exit code 126 if the system cannot start the command.
    package static func start(
        _ command: ChildCommand,
        environment: [String: String],
        streams: Streams = Streams()
    ) throws(ChildError) -> ChildProcess {
        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
        var (pid, error) = spawn(command.executable, command.words, variables, streams)
        if error == ENOEXEC {
            // A script without `#!`: POSIX has it run by the shell (execvp).
            let words = ["/bin/sh", command.executable] + command.words.dropFirst()
            (pid, error) = spawn("/bin/sh", words, variables, streams)
        }
        switch error {
        case 0: return ChildProcess(pid)
        case ENOENT:
            let hint = "It is there, but not the interpreter that its first line names, or its dynamic loader."
            throw .notExecutable(command.executable, String(cString: strerror(error)), hint: hint)
        default: throw .notExecutable(command.executable, String(cString: strerror(error)))
        }
    }

    package func send(_ signal: Int32) {
        running.withLock { if let pid = $0 { kill(pid, signal) } }
    }

    package func exitCode() async -> Int32 { await OwnThread.run { self.wait() } }

    private func wait() -> Int32 {
        // The process stays a zombie (WNOWAIT), and so keeps its number, until ``send(_:)`` no longer uses the number.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return running.withLock { running in
            running = nil
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 {
                if errno != EINTR { return 1 }
            }
            return ChildProcess.exitCode(status)
        }
    }

    /// From a status of `waitpid`; 128 and the signal's number if a signal ended the process.
    static func exitCode(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    static func spawn(
        _ file: String,
        _ words: [String],
        _ variables: [String],
        _ streams: Streams = Streams()
    ) -> (pid: pid_t, error: Int32) {
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
        #else
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input = streams.input {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        }
        for (descriptor, path) in [(STDOUT_FILENO, streams.output), (STDERR_FILENO, streams.errors)] {
            guard let path else { continue }
            posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        let failure = posix_spawnattr_init(&attributes)
        guard failure == 0 else { return (0, failure) }
        defer { posix_spawnattr_destroy(&attributes) }
        // Commands expect the default actions of SIGPIPE and SIGCHLD, which Sluice has changed, and no blocked signals.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        sigaddset(&defaults, SIGCHLD)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        keepSockets()
        return withCStrings(words) { words in
            withCStrings(variables) { variables in
                var pid: pid_t = 0
                let error = posix_spawn(&pid, file, &actions, &attributes, words, variables)
                return (pid, error)
            }
        }
    }

    /// The command inherits neither our sockets, which would keep connections open, nor the descriptors of event loops,
    /// which have no file type. It inherits all others, such as the pipe of `make`'s job server.
    private static func keepSockets() {
        for descriptor in 3..<max(3, min(getdtablesize(), 65_536)) {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, [0, S_IFSOCK].contains(facts.st_mode & S_IFMT) else { continue }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
