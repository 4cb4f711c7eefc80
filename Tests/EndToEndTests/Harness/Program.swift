import Foundation
import Support
import Synchronization

/// A program that a test runs, with its output in files.
///
/// It is killed when nobody holds it any more.
final class Program: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How a program ended.
    struct Outcome: Sendable {
        let status: Int32
        let output: [UInt8]
        let errors: String
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    private let child: ChildProgram
    private let scratch: Scratch
    private let name: String

    var identifier: Int32 { child.identifier }

    /// Starts a program found in `PATH`, or at a path.
    init(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: [UInt8]? = nil,
        directory: String? = nil
    ) throws {
        self.name = name
        scratch = try Scratch()
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.lowercased().hasSuffix("_proxy") && $0.key != "SSLKEYLOGFILE"
        }
        variables.merge(environment) { $1 }
        var standardInput: FileHandle?
        if let input {
            try scratch.write("input", input)
            standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.path("input")))
        }
        child = try ChildProgram(
            try Program.path(of: name),
            arguments,
            environment: variables,
            directory: directory,
            input: standardInput,
            output: try scratch.newFile("output"),
            errors: try scratch.newFile("errors")
        )
    }

    /// Where a program lies; a tool that is missing fails the test that needs it.
    static func path(of name: String) throws -> String {
        if name.contains("/") { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for directory in path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"] {
            let candidate = "\(directory)/\(name)"
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw Failure(description: "These tests need the program '\(name)', which is not installed.")
    }

    var output: String { String(decoding: scratch.bytes("output"), as: UTF8.self) }
    var errors: String { String(decoding: scratch.bytes("errors"), as: UTF8.self) }

    /// The exit status (negative for a signal); `nil` while the program runs.
    var status: Int32? { child.status }

    func signal(_ number: Int32) { child.signal(number) }

    /// Waits for the end; a program that takes too long is killed, and the test fails.
    func outcome(within seconds: Double = 120) async throws -> Outcome {
        do {
            try await eventually("\(name) ends", within: seconds) { self.status != nil }
        } catch {
            signal(SIGKILL)
            throw Failure(description: "\(name) did not end within \(seconds) s; it said: \(output)\(errors)")
        }
        return Outcome(status: status ?? -1, output: scratch.bytes("output"), errors: errors)
    }

    /// Runs a program to its end.
    static func run(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: [UInt8]? = nil,
        directory: String? = nil,
        within seconds: Double = 120
    ) async throws -> Outcome {
        try await Program(name, arguments, environment: environment, input: input, directory: directory)
            .outcome(within: seconds)
    }

    /// Runs a program that must succeed.
    @discardableResult
    static func require(_ name: String, _ arguments: [String]) async throws -> Outcome {
        let outcome = try await run(name, arguments)
        guard outcome.status == 0 else {
            throw Failure(description: "\(name) \(arguments) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }
}

/// Waits until something holds; fails where it does not come about in time.
///
/// How long that is decides only when a test gives up: a machine may be busy with something else for many seconds.
func eventually(
    _ what: String,
    within seconds: Double = 60,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw Program.Failure(description: "not within \(seconds) s: \(what)")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// A directory that lasts as long as somebody holds it.
final class Scratch: Sendable {
    let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/sluice-e2e-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { remove() }

    private func remove() { try? FileManager.default.removeItem(atPath: directory) }

    private static let lasting = Mutex<[Scratch]>([])

    /// Keeps the directory until the tests end, and no longer.
    func removeAtExit() {
        let isFirst = Scratch.lasting.withLock { lasting in
            lasting.append(self)
            return lasting.count == 1
        }
        if isFirst { atexit { for scratch in Scratch.lasting.withLock({ $0 }) { scratch.remove() } } }
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func bytes(_ name: String) -> [UInt8] { FileManager.default.contents(atPath: path(name)).map { Array($0) } ?? [] }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    func newFile(_ name: String) throws -> FileHandle {
        try write(name, "")
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    }
}
