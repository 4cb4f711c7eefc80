import Foundation

/// Certificates of the `openssl` program, and servers with them.
package struct OpenSSLServer: Sendable {
    package let scratch: Scratch

    package init() async throws {
        scratch = try Scratch()
        try await Program.require(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", scratch.path("root.key"), "-out",
                scratch.path("root.pem"), "-days", "30", "-subj", "/CN=Probe root", "-addext",
                "keyUsage=critical,keyCertSign,cRLSign",
            ]
        )
    }

    /// The certificate of the root.
    package var root: String { scratch.path("root.pem") }

    /// Makes a certificate for localhost and 127.0.0.1 that `issuer` signs, with the serial number 4660 (0x1234).
    package func certificate(
        _ name: String = "leaf",
        key: String = "rsa:2048",
        issuer: String = "root",
        days: Int = 30,
        digest: String = "-sha256",
        extensions: String = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
    ) async throws {
        try await Program.require(
            "openssl",
            [
                "req", "-newkey", key, "-nodes", "-keyout", scratch.path("\(name).key"), "-out",
                scratch.path("\(name).csr"), "-subj", "/CN=\(name)",
            ]
        )
        try await Program.require(
            "openssl",
            [
                "x509", "-req", "-in", scratch.path("\(name).csr"), "-CA", scratch.path("\(issuer).pem"), "-CAkey",
                scratch.path("\(issuer).key"), "-set_serial", "4660", "-days", "\(days)", digest, "-out",
                scratch.path("\(name).pem"), "-extfile", try scratch.write("\(name).ext", extensions),
            ]
        )
    }

    /// Makes an answer about the leaf's revocation, signed by the root or by another certificate.
    package func staple(isRevoked: Bool, signer: String = "root") async throws -> String {
        let state = isRevoked ? "R\t351231235959Z\t261001120000Z,keyCompromise" : "V\t351231235959Z\t"
        let index = try scratch.write("index.txt", "\(state)\t1234\tunknown\t/CN=leaf\n")
        let answer = scratch.path("staple.der")
        try await Program.require(
            "openssl",
            [
                "ocsp", "-index", index, "-CA", scratch.path("root.pem"), "-rsigner", scratch.path("\(signer).pem"),
                "-rkey", scratch.path("\(signer).key"), "-issuer", scratch.path("root.pem"), "-cert",
                scratch.path("leaf.pem"), "-respout", answer, "-ndays", "7",
            ]
        )
        return answer
    }

    /// Starts `openssl s_server` on a free port.
    package func start(
        _ options: [String] = [],
        certificate name: String = "leaf",
        host: String = "127.0.0.1"
    ) async throws -> RunningServer {
        let program = try Program(
            "openssl",
            [
                "s_server", "-accept", "\(host):0", "-www", "-cert", scratch.path("\(name).pem"), "-key",
                scratch.path("\(name).key"),
            ] + options
        )
        try await eventually("s_server listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "s_server ended with \(status): \(program.errors)")
            }
            return program.output.contains("ACCEPT \(host):") && program.output.hasSuffix("\n")
        }
        let line = program.output.split(separator: "\n").first { $0.hasPrefix("ACCEPT") } ?? ""
        return RunningServer(program: program, port: line.split(separator: ":").last.flatMap { Int($0) } ?? 0)
    }

    package struct RunningServer: Sendable {
        package let program: Program
        package let port: Int
    }
}
