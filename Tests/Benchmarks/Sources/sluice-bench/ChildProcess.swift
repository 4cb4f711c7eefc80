import Foundation
import Glibc

/// A running program, with the kernel's figures of it and its children.
final class ChildProcess {
    let id: pid_t
    private let program: String
    private let start: ContinuousClock.Instant
    /// The file of its output.
    private let log: String
    private var hasEnded = false

    /// Starts a program; its output is appended to a file.
    init(_ path: String, _ arguments: [String], log: String, environment: [String: String] = [:]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        self.log = log
        program = path
        var started: pid_t = 0
        start = ContinuousClock.now
        let result = withStrings([path] + arguments) { arguments in
            withStrings(variables) { posix_spawn(&started, path, &actions, nil, arguments, $0) }
        }
        guard result == 0 else { throw BenchmarkError("\(path) cannot be started: errno \(result)") }
        id = started
    }

    deinit { stop() }

    /// Stops it with SIGTERM, after ten seconds with SIGKILL, and waits until it has ended.
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

    /// Waits until it ends; returns the seconds since its start.
    ///
    /// - Throws: if its exit code is not 0.
    func waitUntilExit() throws -> Double {
        var status: CInt = 0
        waitpid(id, &status, 0)
        let seconds = (ContinuousClock.now - start).inSeconds
        hasEnded = true
        guard status == 0 else { throw BenchmarkError("\(program) failed: \(output)") }
        return seconds
    }

    /// Waits until it accepts connections on a port; returns the seconds since its start.
    @discardableResult
    func waitUntilAccepting(port: UInt16) throws -> Double {
        while !isAccepting(port: port) {
            var status: CInt = 0
            guard waitpid(id, &status, WNOHANG) == 0 else {
                hasEnded = true
                throw BenchmarkError("\(program) ended at once: \(output)")
            }
            guard ContinuousClock.now - start < .seconds(20) else {
                throw BenchmarkError("\(program) does not accept connections on port \(port): \(output)")
            }
            usleep(200)
        }
        return (ContinuousClock.now - start).inSeconds
    }

    /// The end of its output so far.
    private var output: String { String((try? String(contentsOfFile: log, encoding: .utf8))?.suffix(500) ?? "") }

    /// The seconds of CPU, user and system, that it and its children have used, to the nanosecond.
    var cpuSeconds: Double {
        family.reduce(0) { sum, id in
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return sum }
            return sum + Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    /// The memory of it and its children that is in RAM, in bytes.
    var residentBytes: Int { status("VmRSS:") }

    /// The highest value that `residentBytes` had, in bytes.
    var peakResidentBytes: Int { status("VmHWM:") }

    /// Its identifier, with those of its children, their children, and so on.
    private var family: [pid_t] {
        var family = [id]
        var index = 0
        while index < family.count {
            family += ChildProcess.children(of: family[index])
            index += 1
        }
        return family
    }

    private static func children(of id: pid_t) -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        return threads.flatMap { thread in
            let list = (try? String(contentsOfFile: "/proc/\(id)/task/\(thread)/children", encoding: .utf8)) ?? ""
            return list.split(separator: " ").compactMap { pid_t($0) }
        }
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
    /// The number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Calls with the strings as C strings, in a list that ends with a null pointer.
private func withStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
) rethrows -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return try body(pointers + [nil])
}

/// Runs a program to its end; its output is written to a file.
func runProgram(_ path: String, _ arguments: [String], log: String) throws {
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

/// Runs a program to its end, and returns its output.
func output(of path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
}
