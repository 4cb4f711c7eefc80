import COpenSSL
import Testing

@testable import Wire

@Suite("Which host a certificate is for (RFC 9525)")
struct TLSNameTests {
    /// What comes of a handshake with a server that shows such a certificate.
    private func outcome(host: String, commonName: String?, alternativeNames: String?) throws -> TLSState {
        let fixture = try TLSFixture()
        let key = try #require(PrivateKeyHandle.generate())
        let now = sluice_now()
        var builder = try #require(CertificateBuilder(key: key, validFrom: now - 86_400, to: now + 86_400))
        builder.setSubject(commonName: commonName)
        let issuer = try #require(X509Handle(der: fixture.authority.certificateDER))
        withExtendedLifetime(issuer) { builder.setIssuer(issuer.pointer) }
        if let alternativeNames { builder.add(NID_subject_alt_name, alternativeNames) }
        let signed = builder.signed(by: try #require(PrivateKeyHandle(der: fixture.authority.keyDER)))
        let leaf = LeafCertificate(
            certificate: try #require(signed),
            key: key,
            chain: [],
            validity: now - 86_400...now + 86_400
        )
        var pair = TLSPair(
            client: try fixture.client.makeSession(host: host),
            server: try fixture.server.makeSession(certificate: leaf)
        )
        pair.run()
        return pair.client.state
    }

    @Test(
        "A certificate whose subjectAltName has the host is accepted",
        arguments: [
            ("www.example.com", "DNS:www.example.com"), ("WWW.Example.com", "DNS:www.example.COM"),
            ("www.example.com.", "DNS:www.example.com"), ("www.example.com", "DNS:*.example.com"),
            ("bücher.example.com", "DNS:*.example.com"), ("bücher.example", "DNS:xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "DNS:xn--bcher-kva.example"), ("127.0.0.1", "IP:127.0.0.1"),
            ("[::1]", "DNS:localhost,IP:0:0:0:0:0:0:0:1"),
        ]
    )
    func accepted(host: String, names: String) throws {
        #expect(try outcome(host: host, commonName: nil, alternativeNames: names) == .open)
    }

    @Test(
        "A certificate for other names is refused, whatever its common name and however alike they look",
        arguments: [
            ("www.example.com", "DNS:example.com"), ("example.com", "DNS:*.example.com"),
            ("a.b.example.com", "DNS:*.example.com"), ("foo.example.com", "DNS:f*.example.com"),
            ("foo.example.com", "DNS:*o.example.com"), ("foo.example.com", "DNS:f*o.example.com"),
            ("foo.bar.example.com", "DNS:foo.*.example.com"), ("xn--bcher-kva.example.com", "DNS:xn--*.example.com"),
            ("bücher.example", "DNS:bucher.example"), ("127.0.0.1", "DNS:127.0.0.1"), ("127.0.0.1", "DNS:localhost"),
            ("127.0.0.1", "IP:127.0.0.2"), ("[::ffff:127.0.0.1]", "IP:127.0.0.1"),
        ]
    )
    func refused(host: String, names: String) throws {
        let failure = try outcome(host: host, commonName: host, alternativeNames: names).failure
        guard case .certificate(.nameMismatch(let shown))? = failure?.cause else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(shown == [names])
        #expect(failure?.explanation.contains("is for \(names), not for this host") == true)
    }

    @Test(
        "A common name names no host, and the failure says so",
        arguments: [
            ("www.example.com", nil, []), ("www.example.com", "IP:10.0.0.1", ["IP:10.0.0.1"]),
            ("www.example.com", "email:a@example.com,URI:https://www.example.com/", []), ("127.0.0.1", nil, []),
        ]
    )
    func commonNameOnly(host: String, names: String?, addresses: [String]) throws {
        let failure = try #require(try outcome(host: host, commonName: host, alternativeNames: names).failure)
        #expect(failure.cause == .certificate(.noHostName(commonName: host, addresses: addresses)))
        let text = failure.explanation
        #expect(text.contains("names no host in its subjectAltName"), "\(text)")
        #expect(text.contains("common name '\(host)' does not count"), "\(text)")
        #expect(text.contains("`--insecure-host \(host)`"), "\(text)")
        for address in addresses { #expect(text.contains("only \(address)"), "\(text)") }
        let bare = try #require(try outcome(host: host, commonName: nil, alternativeNames: names).failure)
        #expect(!bare.explanation.contains("ommon name"), "\(bare.explanation)")
    }
}
