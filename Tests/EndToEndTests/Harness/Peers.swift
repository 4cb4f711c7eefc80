import Foundation
import Support

/// The programs in Python with which these tests speak HTTP/2, gRPC and WebSocket.
enum Peers {
    /// Starts a script.
    static func start(_ name: String, _ arguments: [String], input: [UInt8]? = nil) throws -> Program {
        try Program(
            try PeerEnvironment.program("python"),
            [script(name)] + arguments,
            // Nothing is to be written beside the scripts.
            environment: ["PYTHONDONTWRITEBYTECODE": "1"],
            input: input
        )
    }

    /// Runs a script, which must succeed, and reads the one line of JSON that it prints.
    static func run<Result: Decodable>(
        _ name: String,
        _ arguments: [String],
        input: [UInt8]? = nil,
        within seconds: Double = 60,
        as type: Result.Type = Result.self
    ) async throws -> Result {
        let outcome = try await start(name, arguments, input: input).outcome(within: seconds)
        guard outcome.status == 0, let result = try? JSONDecoder().decode(type, from: Data(outcome.output)) else {
            throw Program.ProgramError(
                description: "\(name) \(arguments) ended with \(outcome.status): \(outcome.text)\(outcome.errors)"
            )
        }
        return result
    }
}

/// A server in Python that prints its ports, and then a line of JSON for each thing it sees.
final class PeerServer: Sendable {
    let ports: [Int]
    private let program: Program

    var port: Int { ports[0] }

    /// Starts it, with the good certificate unless it is to be plain.
    init(_ name: String, _ arguments: [String] = [], isSecure: Bool = true) async throws {
        var arguments = arguments
        if isSecure {
            let certificate = try await TestAuthority.shared.good
            arguments += ["--certificate", certificate.file, "--key", certificate.key]
        }
        let program = try Peers.start(name, arguments)
        self.program = program
        try await eventually("\(name) listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "\(name) ended with \(status): \(program.errors)")
            }
            return program.output.contains("\n")
        }
        ports = program.output.prefix { $0 != "\n" }.split(separator: " ").compactMap { Int($0) }
        guard !ports.isEmpty else { throw Program.ProgramError(description: "\(name) printed \(program.output)") }
    }

    /// What it has noted.
    struct Note: Decodable {
        /// The fields of a request, pseudo-headers first, in their order.
        var head: [[String]]?
        /// The number of the connection.
        var connection: Int?
        /// The code with which the client reset a stream.
        var reset: Int?
        /// What the client did wrong.
        var error: String?
        /// The path of a WebSocket.
        var path: String?
        /// The extensions of a WebSocket.
        var extensions: [String]?

        /// The values of a field.
        func values(_ name: String) -> [String] { (head ?? []).filter { $0[0] == name }.map { $0[1] } }
    }

    /// What it has noted so far, in order.
    var notes: [Note] {
        program.output.split(separator: "\n").dropFirst().compactMap {
            try? JSONDecoder().decode(Note.self, from: Data($0.utf8))
        }
    }

    /// What it has noted of requests for a path.
    func requests(_ path: String) -> [Note] { notes.filter { $0.values(":path") == [path] } }
}

/// A port whose connections are tunnels through a proxy, for clients that know none.
final class TunnelPort: Sendable {
    let port: Int
    private let listener: Origin

    /// Listens; each connection becomes a tunnel to the server's port.
    init(through sluice: SluiceProcess, to port: Int, host: String = "localhost") throws {
        listener = try Origin { _, client in
            let server = try sluice.tunnel(to: port, host: host)
            Thread.detachNewThread {
                try? TunnelPort.pump(from: server, to: client)
                client.interrupt()
            }
            try TunnelPort.pump(from: client, to: server)
        }
        self.port = listener.port
    }

    private static func pump(from source: Socket, to sink: Socket) throws {
        while true {
            let bytes = try source.receive()
            if bytes.isEmpty { return sink.finish() }
            try sink.send(bytes)
        }
    }
}
