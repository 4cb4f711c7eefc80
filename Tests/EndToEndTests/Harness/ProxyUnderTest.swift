import Foundation
import Support

/// A Sluice that clients of these tests go through.
protocol ProxyUnderTest: Sendable {
    /// Where it listens, as clients take it.
    var url: String { get }
    /// The certificate that clients must trust.
    var authority: String { get }
    /// Where its files lie.
    var scratch: Scratch { get }
    /// What is to be told where a client fails.
    var errors: String { get }
}

extension ProxyUnderTest {
    /// Runs curl through the proxy.
    func curl(
        _ arguments: [String],
        input: [UInt8]? = nil,
        within seconds: Double = 120
    ) async throws -> Program.Outcome {
        let common = [
            "-sS", "--noproxy", "", "--max-time", String(Int(seconds)), "--proxy", url, "--cacert", authority,
        ]
        return try await Program.run(
            "curl",
            common + arguments,
            environment: ["HOME": scratch.path, "CURL_HOME": scratch.path],
            input: input,
            within: seconds + 5
        )
    }

    /// Runs curl, which must succeed, and returns what it printed.
    func get(_ arguments: String...) async throws -> String {
        let outcome = try await curl(arguments)
        guard outcome.status == 0 else {
            throw Program.ProgramError(
                description: "curl \(arguments) ended with \(outcome.status): \(outcome.errors)\nsluice: \(errors)"
            )
        }
        return latin1(outcome.output)
    }

    /// Asks one URL with curl, and returns the whole response.
    func answer(_ arguments: String..., within seconds: Double = 120) async throws -> SluiceProcess.Answer {
        try await answers([arguments], within: seconds)[0]
    }

    /// Asks for one thing after the other with one curl, on lasting connections.
    func answers(_ requests: [[String]], within seconds: Double = 120) async throws -> [SluiceProcess.Answer] {
        let scratch = try Scratch()
        let format = "%{exitcode} %{http_code} %{http_version} %{time_total} %{time_pretransfer}\\n"
        let transfers = requests.enumerated().map { index, arguments in
            [
                "-sS", "--noproxy", "", "--max-time", "\(seconds)", "--proxy", url, "--cacert", authority,
                "--suppress-connect-headers", "-D", scratch.path("head\(index)"), "-o", scratch.path("body\(index)"),
                "-w", format,
            ] + arguments
        }
        let outcome = try await Program.run(
            "curl",
            Array(transfers.joined(separator: ["--next"])),
            environment: ["HOME": self.scratch.path, "CURL_HOME": self.scratch.path],
            within: seconds + 5
        )
        let lines = outcome.text.split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count == requests.count, lines.allSatisfy({ $0.count == 5 }) else {
            throw Program.ProgramError(description: "curl said \(outcome.text)\(outcome.errors)")
        }
        return lines.enumerated().map { index, line in
            SluiceProcess.Answer(
                exit: Int(line[0]) ?? -1,
                status: Int(line[1]) ?? 0,
                version: String(line[2]),
                head: latin1(scratch.bytes("head\(index)")),
                body: scratch.bytes("body\(index)"),
                seconds: Double(line[3]) ?? 0
            )
        }
    }

    /// What the server saw of a request that curl sent.
    func report(_ arguments: String...) async throws -> ReportingNginx.Report {
        let answer = try await answers([["--compressed"] + arguments])[0]
        guard answer.status == 200 else {
            throw Program.ProgramError(description: "\(arguments): \(answer.head)\(answer.text)\n\(errors)")
        }
        return ReportingNginx.Report(answer.text)
    }
}
