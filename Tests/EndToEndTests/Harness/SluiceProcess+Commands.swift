import Foundation
import Support

extension SluiceProcess {
    // MARK: - Commands to the running proxy

    /// Runs a command of sluice with this proxy's directories, to its end.
    func command(_ arguments: [String], environment: [String: String] = [:]) async throws -> Program.Outcome {
        try await Program.run(
            try SluiceProcess.executable(),
            arguments,
            environment: SluiceProcess.environment(scratch).merging(environment) { $1 }
        )
    }

    /// Runs a command of sluice that must succeed, and returns what it printed.
    @discardableResult
    func told(_ arguments: String...) async throws -> String {
        let outcome = try await command(arguments)
        guard outcome.status == 0 else {
            throw Program.ProgramError(
                description: "sluice \(arguments) ended with \(outcome.status): \(outcome.text)\(outcome.errors)"
            )
        }
        return outcome.text
    }

    // MARK: - Clients

    /// A response as curl had it.
    struct Answer: Sendable {
        /// curl's own status: 0 where it had a whole response.
        var exit = 0
        var status = 0
        var version = ""
        /// The head, with CRLF; empty where there was none.
        var head = ""
        var body: [UInt8] = []
        /// How long it took, in seconds, once there was a connection.
        var seconds = 0.0

        var text: String { latin1(body) }

        /// The values of a field.
        func values(_ name: String) -> [String] {
            head.split(separator: "\r\n").compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }

        /// The value of a field that may be there once; several are joined.
        func value(_ name: String) -> String { values(name).joined(separator: " | ") }
    }
}

extension SluiceProcess {
    /// A proxy with a profile in front of a server that reports what it got.
    static func reporting(
        _ options: [String] = [],
        files: [String: String] = [:],
        profile: (ReportingNginx) -> String
    ) async throws -> (nginx: ReportingNginx, sluice: SluiceProcess) {
        let nginx = try await ReportingNginx()
        let scratch = try Scratch()
        for (name, text) in files {
            let directory = URL(fileURLWithPath: scratch.path(name)).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try scratch.write(name, text)
        }
        let sluice = try await SluiceProcess(
            ["--upstream-ca", try await TestAuthority.shared.root] + options,
            profile: "version: 1\n" + profile(nginx) + "\n",
            scratch: scratch
        )
        return (nginx, sluice)
    }

    /// Waits for a message that is held, and returns its name.
    func held(_ url: String) async throws -> String {
        var name: String?
        try await eventually("a message of \(url) is held") {
            let lines = try await self.told("hold", "list", "--json").split(separator: "\n")
            name = try lines.map { try object(String($0)) }.first { $0["url"] as? String == url }?["id"] as? String
            return name != nil
        }
        return name ?? ""
    }
}

/// The versions of HTTP that curl speaks, by their options.
let bothVersions = ["--http1.1", "--http2"]
