import Foundation
import Support
import Testing

@testable import Wire

@Suite struct CertificateAuthorityTests {
    @Test("A new directory gets an authority that later starts load again")
    func persists() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let path = directory.path + "/config/sluice"
        let first = try CertificateAuthority.open(directory: path)
        let second = try CertificateAuthority.open(directory: path + "/")
        #expect(first.fingerprint == second.fingerprint)
        #expect(first.keyDER == second.keyDER)
        #expect(first.subject.hasPrefix("CN=Sluice CA "))
        #expect(directory.mode("config/sluice") == 0o700)
        #expect(directory.mode("config/sluice/ca.pem") == 0o600)
        let published = try String(contentsOfFile: path + "/ca-cert.pem", encoding: .utf8)
        #expect(published == first.certificatePEM)
        #expect(!published.contains("PRIVATE KEY"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["ca-cert.pem", "ca.pem"])
    }

    @Test("Loose permissions are tightened")
    func permissions() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        _ = try CertificateAuthority.open(directory: directory.path)
        let file = directory.path + "/ca.pem"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        _ = try CertificateAuthority.open(directory: directory.path)
        #expect(directory.mode() == 0o700)
        #expect(directory.mode("ca.pem") == 0o600)
    }

    @Test("Many starts at once make one authority")
    func concurrentStarts() async throws {
        for _ in 0..<5 {
            let directory = try Scratch()
            defer { directory.remove() }
            let path = directory.path + "/new"
            let fingerprints = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask { try CertificateAuthority.open(directory: path).fingerprint }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(fingerprints.count == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["ca-cert.pem", "ca.pem"])
        }
    }

    @Test("The root passes OpenSSL's strict verification and says what it should")
    func rootText() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let authority = try CertificateAuthority.generate()
        let file = try directory.write("ca.pem", authority.export(.pem))
        let verified = try openssl(["verify", "-x509_strict", "-CAfile", file, file])
        #expect(verified.status == 0, "\(verified.output)")
        let text = try openssl(["x509", "-in", file, "-noout", "-text", "-fingerprint", "-sha256"]).output
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Certificate Sign, CRL Sign"))
        #expect(text.contains("X509v3 Subject Key Identifier"))
        #expect(text.contains("NIST CURVE: P-256"))
        let fingerprint = text.lowercased().replacingOccurrences(of: ":", with: "")
        #expect(fingerprint.contains(authority.fingerprint))
        let days = Double(authority.notAfter - authority.notBefore) / 86_400
        #expect((3_650...3_655).contains(days))
    }

    @Test("PKCS#12 is readable by OpenSSL and by us, and only with its password")
    func pkcs12() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let authority = try CertificateAuthority.generate(label: "test")
        let file = try directory.write("ca.p12", authority.export(.p12, password: "secret"))
        let read = try openssl(["pkcs12", "-in", file, "-passin", "pass:secret", "-nodes"])
        #expect(read.status == 0)
        #expect(read.output.contains("BEGIN PRIVATE KEY"))
        let loaded = try CertificateAuthority.load(file: file, password: "secret")
        #expect(loaded.fingerprint == authority.fingerprint)
        #expect(loaded.keyDER == authority.keyDER)
        #expect(problem { try CertificateAuthority.load(file: file, password: "wrong") }.contains("password"))
        #expect(problem { try CertificateAuthority.load(file: file) }.contains("password"))
        let open = try directory.write("open.p12", authority.export(.p12))
        #expect(try CertificateAuthority.load(file: open).fingerprint == authority.fingerprint)
    }

    @Test("The configuration profile is a property list that holds the certificate, and is stable")
    func configurationProfile() throws {
        let authority = try CertificateAuthority.generate(label: "a & b")
        let profile = try authority.export(.mobileconfig)
        #expect(try authority.export(.mobileconfig) == profile)
        let list = try PropertyListSerialization.propertyList(from: Data(profile), format: nil)
        let root = try #require(list as? [String: Any])
        #expect(root["PayloadDisplayName"] as? String == "Sluice CA a & b")
        #expect(UUID(uuidString: try #require(root["PayloadUUID"] as? String)) != nil)
        let payload = try #require((root["PayloadContent"] as? [[String: Any]])?.first)
        #expect(payload["PayloadType"] as? String == "com.apple.security.root")
        #expect(payload["PayloadContent"] as? Data == Data(authority.certificateDER))
        #expect(payload["PayloadUUID"] as? String != root["PayloadUUID"] as? String)
    }

    @Test("Certificate and key may come in one PEM file or in two, the key encrypted or not")
    func pem() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let ca = try opensslAuthority(in: directory, "rsa:2048", "ca")
        #expect(try CertificateAuthority.load(file: ca.certificate, keyFile: ca.key).subject == "CN=ca")
        let both =
            try Array(Data(contentsOf: URL(fileURLWithPath: ca.key)))
            + Array(Data(contentsOf: URL(fileURLWithPath: ca.certificate)))
        let file = try directory.write("both.pem", both)
        #expect(try CertificateAuthority.load(file: file).subject == "CN=ca")
        let encrypted = directory.path + "/encrypted.key"
        _ = try openssl(["pkey", "-in", ca.key, "-aes256", "-passout", "pass:secret", "-out", encrypted])
        #expect(
            try CertificateAuthority.load(file: ca.certificate, keyFile: encrypted, password: "secret").subject
                == "CN=ca"
        )
        #expect(
            problem { try CertificateAuthority.load(file: ca.certificate, keyFile: encrypted) }.contains("password")
        )
    }

    @Test("What cannot be an authority is refused with path, reason and advice")
    func refusals() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let one = try opensslAuthority(in: directory, "rsa:2048", "one")
        let two = try opensslAuthority(in: directory, "rsa:2048", "two")
        let mismatch = problem { try CertificateAuthority.load(file: one.certificate, keyFile: two.key) }
        #expect(mismatch.contains("does not belong") && mismatch.contains(one.certificate))
        #expect(problem { try CertificateAuthority.load(file: one.certificate) }.contains("holds no private key"))
        #expect(problem { try CertificateAuthority.load(file: one.key) }.contains("holds no certificate"))
        let leaf = try opensslAuthority(in: directory, "rsa:2048", "leaf", isAuthority: false)
        #expect(
            problem { try CertificateAuthority.load(file: leaf.certificate, keyFile: leaf.key) }
                .contains("is not a certificate authority")
        )
        let absent = problem { try CertificateAuthority.load(file: directory.path + "/absent") }
        #expect(absent.contains("/absent: no such file"))
        let garbage = try directory.write("garbage", [1, 2, 3])
        #expect(problem { try CertificateAuthority.load(file: garbage) }.contains("neither PEM nor PKCS#12"))
        let empty = try directory.write("empty", [])
        #expect(problem { try CertificateAuthority.load(file: empty) }.contains("neither PEM nor PKCS#12"))
        #expect(problem { try CertificateAuthority.load(file: directory.path) }.contains("cannot be read"))
        #expect(problem { try CertificateAuthority.open(directory: garbage + "/x") }.contains("cannot be created"))
        try directory.write("ca.pem", Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8))
        #expect(problem { try CertificateAuthority.open(directory: directory.path) }.contains("holds no certificate"))
    }

    /// Makes a self-signed certificate with the `openssl` program.
    private func opensslAuthority(
        in directory: Scratch,
        _ algorithm: String,
        _ name: String,
        isAuthority: Bool = true
    ) throws -> (certificate: String, key: String) {
        let (certificate, key) = ("\(directory.path)/\(name).crt", "\(directory.path)/\(name).key")
        let made = try openssl([
            "req", "-x509", "-newkey", algorithm, "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=\(name)",
            "-addext", "keyUsage=critical,keyCertSign", "-addext",
            isAuthority ? "basicConstraints=critical,CA:TRUE" : "subjectAltName=DNS:x",
            "-config", try directory.write("req.cnf", Array("[req]\ndistinguished_name=d\n[d]\n".utf8)),
        ])
        #expect(made.status == 0, "\(made.output)")
        return (certificate, key)
    }

    private func problem(_ body: () throws -> CertificateAuthority) -> String {
        do {
            _ = try body()
            return "no failure"
        } catch {
            return "\(error)"
        }
    }
}
