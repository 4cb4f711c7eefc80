import Foundation
import Glibc

/// A program that is measured, with what the kernel says about it and its children.
final class ChildProcess {
    let id: pid_t
    private var hasEnded = false

    /// Starts a program; what it prints goes to a file.
    init(_ path: String, _ arguments: [String], log: String, environment: [String: String] = [:]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var started: pid_t = 0
        let result = withStrings([path] + arguments) { arguments in
            withStrings(variables) { posix_spawn(&started, path, &actions, nil, arguments, $0) }
        }
        guard result == 0 else { throw BenchmarkError("\(path) cannot be started: errno \(result)") }
        id = started
    }

    deinit { stop() }

    /// Asks it to end, and waits until it has; after some seconds it is ended without being asked.
    func stop() {
        guard !hasEnded else { return }
        hasEnded = true
        kill(id, SIGTERM)
        var status: CInt = 0
        for _ in 0..<1_000 {
            guard waitpid(id, &status, WNOHANG) == 0 else { return }
            usleep(10_000)
        }
        kill(id, SIGKILL)
        waitpid(id, &status, 0)
    }

    /// Waits until a port of it accepts connections; returns the seconds that took.
    @discardableResult
    func waitUntilAccepting(port: UInt16) throws -> Double {
        let start = ContinuousClock.now
        while !isAccepting(port: port) {
            var status: CInt = 0
            guard waitpid(id, &status, WNOHANG) == 0 else {
                hasEnded = true
                throw BenchmarkError("the program on port \(port) ended at once; see its log")
            }
            guard ContinuousClock.now - start < .seconds(20) else {
                throw BenchmarkError("nobody accepts on port \(port)")
            }
            usleep(200)
        }
        return (ContinuousClock.now - start).inSeconds
    }

    /// The seconds of CPU, user and system, that it and its children have used, to the nanosecond.
    var cpuSeconds: Double {
        family.reduce(0) { sum, id in
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return sum }
            return sum + Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    /// The memory that it and its children have in RAM, in bytes.
    var residentBytes: Int { status("VmRSS:") }

    /// The most memory that it and its children ever had in RAM, in bytes.
    var peakResidentBytes: Int { status("VmHWM:") }

    private var family: [pid_t] {
        let children = (try? String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)) ?? ""
        return [id] + children.split(separator: " ").compactMap { pid_t($0) }
    }

    private func status(_ key: String) -> Int {
        family.reduce(0) { sum, id in
            let text = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
            return sum + (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
        }
    }
}

extension Duration {
    /// As a number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Calls with the strings as C wants them: a list that ends with a null pointer.
private func withStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
) rethrows -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return try body(pointers + [nil])
}

/// Runs a program to its end.
func run(_ path: String, _ arguments: [String], log: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [path] + arguments
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let output = FileHandle(forWritingAtPath: log)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw BenchmarkError("\(path) \(arguments.joined(separator: " ")) failed: \(text)")
    }
}
