import Foundation
import Support

/// A real tinyproxy: an HTTP proxy that allows CONNECT to every port.
final class Tinyproxy: Sendable {
    let port: Int
    private let scratch: Scratch
    private let program: Program

    /// Starts it; with credentials it wants them, and it refuses the hosts of `refused`, a regular expression.
    init(user: String? = nil, password: String = "", refused: String? = nil) async throws {
        let (port, scratch) = (try unusedPort(), try Scratch())
        (self.port, self.scratch) = (port, scratch)
        var lines = [
            "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "MaxClients 50", "LogLevel Info",
            "LogFile \"\(scratch.path("log"))\"", "PidFile \"\(scratch.path("pid"))\"", "ViaProxyName \"tiny\"",
        ]
        if let user { lines.append("BasicAuth \(user) \(password)") }
        if let refused {
            try scratch.write("filter", refused + "\n")
            lines += ["Filter \"\(scratch.path("filter"))\"", "FilterExtended On"]
        }
        let file = try scratch.write("tinyproxy.conf", lines.joined(separator: "\n") + "\n")
        let program = try Program("tinyproxy", ["-d", "-c", file])
        self.program = program
        try await eventually("tinyproxy listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "tinyproxy ended with \(status): \(program.errors)")
            }
            return (try? Socket(port: port)) != nil
        }
    }

    /// The first lines of the requests that it got.
    var requests: [String] {
        scratch.text("log").split(separator: "\n").compactMap { line in
            guard line.contains("Request (file descriptor"), let mark = line.firstRange(of: "): ") else { return nil }
            return String(line[mark.upperBound...])
        }
    }

    deinit { program.signal(SIGTERM) }
}

/// A real microsocks: a SOCKS 5 proxy.
final class Microsocks: Sendable {
    let port: Int
    private let program: Program

    /// Starts it; with credentials it wants them.
    init(user: String? = nil, password: String = "") async throws {
        let port = try unusedPort()
        self.port = port
        let known = user.map { ["-u", $0, "-P", password] } ?? []
        let program = try Program("microsocks", ["-i", "127.0.0.1", "-p", String(port)] + known)
        self.program = program
        try await eventually("microsocks listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "microsocks ended with \(status): \(program.errors)")
            }
            return (try? Socket(port: port)) != nil
        }
    }

    deinit { program.signal(SIGTERM) }
}
