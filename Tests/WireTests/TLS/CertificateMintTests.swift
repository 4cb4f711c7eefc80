import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Wire

@Suite struct CertificateMintTests {
    @Test("A minted chain passes OpenSSL's strict verification and says what it should")
    func chain() throws {
        for host in [
            "www.example.com", "127.0.0.1", "2001:db8::1", String(repeating: "a123456.", count: 9) + "example",
        ] {
            let text = try verifiedText(host)
            #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature"))
            #expect(text.contains("TLS Web Server Authentication"))
            #expect(text.contains("CA:FALSE"))
            #expect(text.contains("X509v3 Subject Key Identifier"))
            #expect(text.contains("X509v3 Authority Key Identifier"))
        }
        #expect(try verifiedText("www.example.com").contains("DNS:www.example.com"))
        #expect(try verifiedText("www.example.com").contains("Subject: CN = www.example.com"))
        #expect(try verifiedText("127.0.0.1").contains("IP Address:127.0.0.1"))
        #expect(try verifiedText("[2001:db8::1]").contains("IP Address:2001:DB8:0:0:0:0:0:1"))
        let long = String(repeating: "a123456.", count: 9) + "example"
        let text = try verifiedText(long)
        #expect(text.contains("DNS:" + long))
        #expect(!text.contains("CN = " + long))
        #expect(text.contains("X509v3 Subject Alternative Name: critical"))
    }

    @Test(
        "Names are brought into the form that a certificate has",
        arguments: [
            ("WWW.Example.COM.", "www.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("MÜNCHEN.de", "xn--mnchen-3ya.de"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("under_score.example", "under_score.example"),
            ("*.example.com", "*.example.com"),
        ]
    )
    func names(host: String, expected: String) {
        #expect(HostName(host) == .dns(expected))
    }

    @Test("Addresses are known in every spelling, and nothing else is one")
    func addresses() {
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        for text in ["::1", "[::1]", "0:0:0:0:0:0:0:1", "::1%lo"] {
            #expect(HostName(text) == .address(loopback), "\(text)")
        }
        #expect(HostName("10.1.2.3") == .address([10, 1, 2, 3]))
        #expect(HostName("10.1.2.300") == .dns("10.1.2.300"))
        #expect(HostName("cafe") == .dns("cafe"))
        for text in ["", ".", "a b", "a\n", String(repeating: "a", count: 254)] {
            #expect(HostName(text) == nil, "\(text)")
        }
    }

    @Test("The validity is at most 180 days, begins in the past and ends with the authority")
    func validity() throws {
        let mint = try TLSFixture().mint
        let summary = try summary(mint.certificate(for: "a.example"))
        #expect(summary.notAfter - summary.notBefore + 1 <= 180 * 86_400)
        #expect(summary.notBefore < Int64(Date().timeIntervalSince1970) - 3_600)
    }

    @Test("A certificate is made anew where the one that is kept has not begun, or ends within a day")
    func clockThatIsSet() throws {
        let mint = try TLSFixture().mint
        let now = Int64(Date().timeIntervalSince1970)
        let first = try mint.certificate(for: "a.example", now: now)
        #expect(try mint.certificate(for: "a.example", now: now - 80_000) === first)
        #expect(try mint.certificate(for: "a.example", now: now + 170 * 86_400) === first)
        let past = try mint.certificate(for: "a.example", now: now - 2 * 86_400)
        #expect(try summary(past).notBefore == now - 3 * 86_400)
        #expect(try mint.certificate(for: "a.example", now: now - 2 * 86_400) === past)
        let later = try mint.certificate(for: "a.example", now: now + 180 * 86_400)
        #expect(try summary(later).notBefore == now + 179 * 86_400)
    }

    @Test("A mint keeps the latest certificates and forgets the least used")
    func cache() throws {
        let authority = try CertificateAuthority.generate()
        let mint = try CertificateMint(authority: authority, leafKey: LeafKey(), cacheCapacity: 2)
        let a = try mint.certificate(for: "a.example")
        #expect(try mint.certificate(for: "A.example.") === a)
        _ = try mint.certificate(for: "b.example")
        #expect(try mint.certificate(for: "a.example") === a)
        _ = try mint.certificate(for: "c.example")
        #expect(try mint.certificate(for: "a.example") === a)
        let again = try CertificateMint(authority: authority, leafKey: LeafKey()).certificate(for: "a.example")
        #expect(again.der != a.der)
    }

    @Test("A certificate with an RSA key is made beside the usual one, for clients that encrypt to it, too")
    func rsa() throws {
        let mint = try TLSFixture().mint
        #expect(!mint.has(.rsa))
        #expect(throws: CertificateError.self) { try mint.certificate(for: "a.example", key: .rsa) }
        try mint.use(LeafKey(.rsa))
        let leaf = try mint.certificate(for: "a.example", key: .rsa)
        #expect(try mint.certificate(for: "a.example", key: .rsa) === leaf)
        // Another key of the same kind changes nothing.
        try mint.use(LeafKey(.rsa))
        #expect(try mint.certificate(for: "a.example", key: .rsa) === leaf)
        let certificate = try #require(X509Handle(der: mint.certificate(for: "a.example").der))
        let usual = CertificateFacts(certificate.pointer)
        #expect((usual.keyType, usual.keyBits) == ("EC", 256))
        let directory = try Scratch()
        defer { directory.remove() }
        let file = try directory.write("leaf.der", leaf.der)
        let text = try openssl(["x509", "-inform", "der", "-in", file, "-noout", "-text"]).output
        #expect(text.contains("Public-Key: (2048 bit)"))
        #expect(text.contains("Digital Signature, Key Encipherment"))
    }

    @Test("An RSA authority and an intermediate one work as well")
    func otherAuthorities() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let path = directory.path
        let configuration = """
            [req]
            distinguished_name=d
            [d]
            [ca]
            basicConstraints=critical,CA:TRUE
            keyUsage=critical,keyCertSign
            subjectKeyIdentifier=hash
            """
        let file = try directory.write("req.cnf", Array(configuration.utf8))
        let common = ["-nodes", "-config", file, "-extensions", "ca"]
        let root = try openssl(
            ["req", "-x509", "-newkey", "rsa:2048", "-keyout", "\(path)/root.key", "-out", "\(path)/root.pem"]
                + ["-subj", "/CN=root"] + common
        )
        #expect(root.status == 0, "\(root.output)")
        _ = try openssl(
            ["req", "-newkey", "rsa:2048", "-keyout", "\(path)/sub.key", "-out", "\(path)/sub.csr"]
                + ["-subj", "/CN=sub", "-nodes", "-config", file]
        )
        let signed = try openssl([
            "x509", "-req", "-in", "\(path)/sub.csr", "-CA", "\(path)/root.pem", "-CAkey", "\(path)/root.key",
            "-CAcreateserial", "-out", "\(path)/sub.pem", "-extfile", file, "-extensions", "ca",
        ])
        #expect(signed.status == 0, "\(signed.output)")
        let trust = TLSTrust(includesSystem: false, extraFiles: ["\(path)/root.pem"])
        let client = try TLSClientContext(trust: trust)
        let server = try TLSServerContext()
        for name in ["root", "sub"] {
            let authority = try CertificateAuthority.load(file: "\(path)/\(name).pem", keyFile: "\(path)/\(name).key")
            let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
            var pair = TLSPair(
                client: try client.makeSession(host: "a.example"),
                server: try server.makeSession(certificate: mint.certificate(for: "a.example"))
            )
            pair.run()
            #expect(pair.client.state == .open, "\(name)")
            #expect(pair.client.details.peerCertificates.count == (name == "sub" ? 2 : 1))
        }
    }

    private func summary(_ leaf: LeafCertificate) throws -> CertificateSummary {
        let certificate = try #require(X509Handle(der: leaf.der))
        return CertificateSummary(certificate.pointer)
    }

    /// Verifies the host's certificate with the `openssl` program and returns its text.
    private func verifiedText(_ host: String) throws -> String {
        let directory = try Scratch()
        defer { directory.remove() }
        let authority = try CertificateAuthority.generate(label: "test")
        let leaf = try CertificateMint(authority: authority, leafKey: LeafKey()).certificate(for: host)
        let root = try directory.write("root.pem", authority.export(.pem))
        let der = try directory.write("leaf.der", leaf.der)
        let pem = directory.path + "/leaf.pem"
        let text = try openssl(["x509", "-inform", "der", "-in", der, "-text", "-out", pem])
        #expect(text.status == 0, "\(text.output)")
        let verified = try openssl(["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", root, pem])
        #expect(verified.status == 0, "\(verified.output)")
        return try String(contentsOfFile: pem, encoding: .utf8)
    }
}
