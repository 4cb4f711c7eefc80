import Foundation
import HTTPModel
import NIOCore
import Recording
import Support

/// A running `sluice run` with directories of its own.
final class SluiceProcess: ProxyUnderTest {
    let port: Int
    let session: String
    let program: Program
    let scratch: Scratch

    /// How a run ended.
    struct End {
        let status: Int32
        let output: String
        let errors: String
    }

    /// The built executable, which lies beside the tests.
    static func executable() throws -> String {
        // The test bundle, or the tool that runs it, and the executable share the build directory.
        let places =
            [Bundle.main.executableURL, Bundle.main.bundleURL]
            + CommandLine.arguments.map {
                URL(fileURLWithPath: $0)
            }
        for place in places.compactMap(\.self) {
            var directory = place
            for _ in 0..<4 {
                directory.deleteLastPathComponent()
                let candidate = directory.appendingPathComponent("sluice").path
                var isDirectory: ObjCBool = false
                let exists = FileManager.default.fileExists(atPath: candidate, isDirectory: &isDirectory)
                if exists, !isDirectory.boolValue { return candidate }
            }
        }
        throw Program.ProgramError(description: "The executable sluice is not beside the tests; build it first.")
    }

    static func environment(_ scratch: Scratch) -> [String: String] {
        [
            "XDG_CONFIG_HOME": scratch.path("config"), "XDG_STATE_HOME": scratch.path("state"),
            "HOME": scratch.path("home"), "XDG_RUNTIME_DIR": scratch.path("runtime"),
        ]
    }

    /// Runs a command of sluice to its end.
    static func run(
        _ arguments: [String],
        scratch: Scratch,
        within seconds: Double = 120
    ) async throws -> Program.Outcome {
        try await Program.run(try executable(), arguments, environment: environment(scratch), within: seconds)
    }

    /// Starts a proxy on a free port and waits until it listens.
    ///
    /// - Parameters:
    ///   - options: further options of `sluice run`.
    ///   - environment: further environment variables.
    ///   - profile: the text of a rule profile.
    ///   - descriptors: how many descriptors it may have open.
    ///   - scratch: where everything lies; a new directory by default.
    ///   - command: the command, with its arguments.
    ///   - session: the name of the session that it records.
    /// - Throws: where it does not start; the error has its words.
    init(
        _ options: [String] = [],
        environment: [String: String] = [:],
        profile: String? = nil,
        descriptors: Int? = nil,
        scratch: Scratch? = nil,
        command: [String] = ["run"],
        session name: String = "session.sluice"
    ) async throws {
        let scratch = try scratch ?? Scratch()
        self.scratch = scratch
        session = scratch.path(name)
        var arguments = command + ["--listen", "127.0.0.1:0", "--session", session] + options
        if let profile { arguments += ["--profile", try scratch.write("profile.yaml", profile)] }
        var executable = try SluiceProcess.executable()
        if let descriptors {
            arguments = ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", executable] + arguments
            executable = "sh"
        }
        let program = try Program(
            executable,
            arguments,
            environment: SluiceProcess.environment(scratch).merging(environment) { $1 }
        )
        self.program = program
        try await eventually("sluice listens: \(program.errors)") {
            if let status = program.status {
                throw Program.ProgramError(description: "sluice ended with \(status): \(program.errors)")
            }
            return program.errors.contains("sluice: listening on ") && program.errors.contains("recording to")
        }
        let line = program.errors.split(separator: "\n").first { $0.contains("listening on") } ?? ""
        port = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }

    var url: String { "http://127.0.0.1:\(port)" }
    /// The certificate that clients must trust.
    var authority: String { scratch.path("config") + "/sluice/ca-cert.pem" }
    /// What it printed for people.
    var errors: String { program.errors }

    // MARK: - The session

    func reader() throws -> SessionReader { try SessionReader(path: session) }

    /// All that is recorded so far.
    func records() throws -> [ExchangeRecord] { try reader().records(limit: 10_000) }

    /// Waits for an exchange that has ended and of which something holds.
    func exchange(
        _ what: String = "an exchange is recorded",
        where condition: (ExchangeRecord) -> Bool = { _ in true }
    ) async throws -> RecordedExchange {
        var found: RecordedExchange?
        do {
            try await eventually(what) {
                let reader = try self.reader()
                let record = try reader.records(limit: 10_000).first { $0.state != .inFlight && condition($0) }
                found = try record.flatMap { try reader.exchange($0.id) }
                return found != nil
            }
        } catch {
            let all = try records().map { "\($0.id) \($0.kind) \($0.state) \($0.method) \($0.url) \($0.status)" }
            throw Program.ProgramError(description: "\(error); there is: \(all)")
        }
        guard let found else { throw Program.ProgramError(description: what) }
        return found
    }

    /// Waits for the exchange of a path.
    func exchange(path: String) async throws -> RecordedExchange {
        try await exchange("the exchange of \(path) is recorded") { $0.url.path == path }
    }

    /// A body's bytes.
    func bytes(_ exchange: RecordedExchange, _ side: BodySide) throws -> [UInt8] {
        Array(try reader().body(of: exchange.record.id, side: side, limit: 64 << 20).readableBytesView)
    }

    /// A body as text of one character per byte.
    func body(_ exchange: RecordedExchange, _ side: BodySide) throws -> String { latin1(try bytes(exchange, side)) }

    // MARK: - The process

    /// The most memory it has had so far, in bytes (Linux).
    func peakMemory() throws -> Int { try memory("VmHWM:") }
    /// The memory it has now, in bytes (Linux).
    func memory() throws -> Int { try memory("VmRSS:") }

    /// The processor time it has used so far, in seconds (Linux).
    func processorTime() throws -> Double {
        let facts = try String(contentsOfFile: "/proc/\(program.identifier)/stat", encoding: .utf8)
        // The name, which may have spaces, ends with the last parenthesis; user and system time are the 14th and 15th.
        let fields = facts.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw Program.ProgramError(description: "no times of process \(program.identifier)")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// How many descriptors it has open (Linux).
    func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.identifier)/fd").count
    }

    private func memory(_ key: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(program.identifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(key) }
        guard let number = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first,
            let size = Int(number)
        else { throw Program.ProgramError(description: "no \(key) of process \(program.identifier)") }
        return size << 10
    }

    /// Asks it to stop, and waits until it has.
    func stop(within seconds: Double = 60) async throws -> End {
        program.signal(SIGTERM)
        let outcome = try await program.outcome(within: seconds)
        return End(status: outcome.status, output: outcome.text, errors: outcome.errors)
    }

    // MARK: - Clients

    /// Speaks TLS through a tunnel, by the `openssl` program; sends bytes and reads to the end.
    func secureClient(
        to port: Int,
        name: String = "localhost",
        protocols: String? = "http/1.1",
        authority: String? = nil,
        sending bytes: [UInt8]
    ) async throws -> Program.Outcome {
        let alpn = protocols.map { ["-alpn", $0] } ?? []
        return try await Program.run(
            "openssl",
            [
                "s_client", "-quiet", "-verify_return_error", "-proxy", "127.0.0.1:\(self.port)", "-connect",
                "localhost:\(port)", "-servername", name, "-CAfile", authority ?? self.authority,
            ] + alpn,
            input: bytes
        )
    }

    /// Connects to the proxy.
    func connect() throws -> Socket { try Socket(port: port) }

    /// Opens a tunnel through the proxy.
    func tunnel(to port: Int, host: String = "127.0.0.1") throws -> Socket {
        let socket = try connect()
        try socket.send("CONNECT \(host):\(port) HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n")
        let head = try socket.readHead()
        guard head.hasPrefix("HTTP/1.1 200 ") else {
            throw Program.ProgramError(description: "CONNECT was answered: \(head)")
        }
        return socket
    }
}

extension RecordedExchange {
    var trace: String { messages.trace.map(\.text).joined(separator: "\n") }
    var failure: String { record.failure.map { "\($0.message) \($0.hint)" } ?? "" }
}
