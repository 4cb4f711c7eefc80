import Foundation
import Support

/// Roots and certificates for the servers of these tests, made anew for each run by the `openssl` program.
actor TestAuthority {
    /// A certificate with its key.
    struct Certificate: Sendable {
        let file: String
        let key: String
    }

    /// Those of this run.
    static let shared = TestAuthority()

    private var made: Task<Scratch, any Error>?

    /// The directory with everything in it.
    private func directory() async throws -> Scratch {
        if let made { return try await made.value }
        let task = Task { try await TestAuthority.make() }
        made = task
        return try await task.value
    }

    /// The root that servers' certificates lead to.
    var root: String { get async throws { try await directory().path("root.pem") } }
    /// For localhost, 127.0.0.1 and *.sluice.test.
    var good: Certificate { get async throws { try await certificate("good") } }
    /// Like `good`, but its time is over.
    var expired: Certificate { get async throws { try await certificate("expired") } }
    /// For another name than the host's.
    var otherName: Certificate { get async throws { try await certificate("other") } }
    /// Like `good`, but of a root that nobody trusts.
    var unknownRoot: Certificate { get async throws { try await certificate("unknown") } }

    /// Of a client, with keys of both kinds, from the same root as `good`.
    var client: Certificate { get async throws { try await certificate("client") } }
    var clientRSA: Certificate { get async throws { try await certificate("client-rsa") } }
    /// Of a client, from the root that nobody trusts.
    var stranger: Certificate { get async throws { try await certificate("client-stranger") } }

    private func certificate(_ name: String) async throws -> Certificate {
        let scratch = try await directory()
        return Certificate(file: scratch.path(name + ".pem"), key: scratch.path(name + ".key"))
    }

    private static let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    private static func make() async throws -> Scratch {
        let scratch = try Scratch()
        scratch.removeAtExit()
        for root in ["root", "stranger"] {
            try await Program.require(
                "openssl",
                ["req", "-x509"] + curve + [
                    "-keyout", scratch.path(root + ".key"), "-out", scratch.path(root + ".pem"), "-days", "30",
                    "-subj", "/CN=Sluice test \(root)", "-addext", "keyUsage=critical,keyCertSign",
                ]
            )
        }
        let here = "DNS:localhost,DNS:*.sluice.test,IP:127.0.0.1"
        try await leaf("good", here, "root", "30", scratch)
        try await leaf("expired", here, "root", "-1", scratch)
        try await leaf("other", "DNS:other.example", "root", "30", scratch)
        try await leaf("unknown", here, "stranger", "30", scratch)
        try await leaf("client", "DNS:client", "root", "30", scratch, use: "clientAuth")
        let rsa = ["-newkey", "rsa:2048", "-nodes"]
        try await leaf("client-rsa", "DNS:client", "root", "30", scratch, key: rsa, use: "clientAuth")
        try await leaf("client-stranger", "DNS:client", "stranger", "30", scratch, use: "clientAuth")
        return scratch
    }

    private static func leaf(
        _ name: String,
        _ names: String,
        _ root: String,
        _ days: String,
        _ scratch: Scratch,
        key: [String] = curve,
        use: String = "serverAuth"
    ) async throws {
        let request = scratch.path(name + ".csr")
        try await Program.require(
            "openssl",
            ["req"] + key + ["-keyout", scratch.path(name + ".key"), "-out", request, "-subj", "/CN=\(name)"]
        )
        try await Program.require(
            "openssl",
            [
                "x509", "-req", "-in", request, "-CA", scratch.path(root + ".pem"), "-CAkey",
                scratch.path(root + ".key"),
                "-CAcreateserial", "-days", days, "-out", scratch.path(name + ".pem"),
                "-extfile", try scratch.write(name + ".ext", "subjectAltName=\(names)\nextendedKeyUsage=\(use)\n"),
            ]
        )
    }
}
