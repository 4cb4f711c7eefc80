import Foundation

/// A program that a test runs, with its output in files.
///
/// It is killed when nobody holds it any more.
package final class Program: Sendable {
    package struct ProgramError: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// How a program ended.
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: [UInt8]
        package let errors: String
        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    private let child: ChildProgram
    private let scratch: Scratch
    private let name: String

    package var identifier: Int32 { child.identifier }

    /// Starts a program found in `PATH`, or at a path.
    package init(
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
    package static func path(of name: String) throws -> String {
        if name.contains("/") { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for directory in path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"] {
            let candidate = "\(directory)/\(name)"
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw ProgramError(description: "These tests need the program '\(name)', which is not installed.")
    }

    package var output: String { String(decoding: scratch.bytes("output"), as: UTF8.self) }
    package var errors: String { String(decoding: scratch.bytes("errors"), as: UTF8.self) }

    /// The exit status (negative for a signal); `nil` while the program runs.
    package var status: Int32? { child.status }

    package func signal(_ number: Int32) { child.signal(number) }

    /// Waits for the end; a program that takes too long is killed, and the test fails.
    package func outcome(within seconds: Double = 120) async throws -> Outcome {
        do {
            try await eventually("\(name) ends", within: seconds) { self.status != nil }
        } catch {
            signal(SIGKILL)
            throw ProgramError(description: "\(name) did not end within \(seconds) s; it said: \(output)\(errors)")
        }
        return Outcome(status: status ?? -1, output: scratch.bytes("output"), errors: errors)
    }

    /// Runs a program to its end.
    package static func run(
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
    package static func require(_ name: String, _ arguments: [String]) async throws -> Outcome {
        let outcome = try await run(name, arguments)
        guard outcome.status == 0 else {
            throw ProgramError(description: "\(name) \(arguments) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }
}
