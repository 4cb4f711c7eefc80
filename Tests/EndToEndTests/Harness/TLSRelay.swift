import Foundation
import Support

/// Ends TLS in front of a port, so that whoever listens there still chooses every byte inside.
final class TLSRelay: Sendable {
    let port: Int
    private let program: Program

    /// Starts a relay to the origin's port.
    ///
    /// - Parameters:
    ///   - origin: whose bytes it carries.
    ///   - certificate: what it shows; the good one by default.
    ///   - protocols: the application protocols it accepts (ALPN).
    /// - Throws: where it does not start.
    convenience init(
        _ origin: Origin,
        certificate: TestAuthority.Certificate? = nil,
        protocols: [String] = ["http/1.1"]
    ) async throws {
        try await self.init(to: origin.port, certificate: certificate, protocols: protocols)
    }

    /// The same to any port of this machine.
    init(
        to target: Int,
        certificate: TestAuthority.Certificate? = nil,
        protocols: [String] = ["http/1.1"]
    ) async throws {
        var shown = certificate
        if shown == nil { shown = try await TestAuthority.shared.good }
        let program = try Program(
            "python3",
            [
                script("tls_relay.py"), shown?.file ?? "", shown?.key ?? "", String(target),
                protocols.joined(separator: ","),
            ]
        )
        self.program = program
        try await eventually("the relay listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "the relay ended with \(status): \(program.errors)")
            }
            return program.output.hasSuffix("\n")
        }
        port = Int(program.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// What the relay noted of each handshake: the server name, whether it was resumed, the application protocol.
    var handshakes: [String] { program.errors.split(separator: "\n").map(String.init) }
}

/// The path of a script beside these tests.
func script(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Scripts/\(name)").path
}
