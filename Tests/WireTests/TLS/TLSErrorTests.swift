import COpenSSL
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Wire

@Suite struct TLSFailureTests {
    @Test(
        "An unknown issuer fails upstream and is a refused certificate at the client leg",
        arguments: [0x0303, 0x0304]
    )
    func unknownAuthority(version: Int32) throws {
        var pair = try TLSFixture(trusted: false).pair()
        pair.client.limit(to: version)
        pair.run()
        let upstream = try #require(pair.client.state.failure)
        guard case .certificate(.unknownIssuer(let issuer)) = upstream.cause else {
            Issue.record("\(upstream)")
            return
        }
        #expect(issuer == "Sluice CA test")
        #expect(upstream.explanation.contains("--upstream-ca FILE"))
        #expect(upstream.explanation.contains("--insecure-host www.example.com"))
        #expect(!upstream.clientRefusedCertificate)
        #expect(pair.client.details.peerCertificates.count == 1)
        let client = try #require(pair.server.state.failure)
        #expect(client.cause == .peerAlert("unknown_ca"))
        #expect(client.clientRefusedCertificate)
        #expect(client.explanation.contains("sluice ca export --format trust-help"))
        #expect(throws: client) { try pair.server.write(ByteBuffer(string: "x")) }
    }

    @Test("A certificate for other names fails, and the failure lists them")
    func otherNames() throws {
        var pair = try TLSFixture().pair(host: "www.example.com", shown: "other.example.net")
        pair.run()
        let failure = try #require(pair.client.state.failure)
        #expect(failure.cause == .certificate(.nameMismatch(["DNS:other.example.net"])))
        #expect(failure.explanation.contains("DNS:other.example.net"))
    }

    @Test("IP addresses are verified as addresses and never sent as server name", arguments: ["127.0.0.1", "[::1]"])
    func addresses(host: String) throws {
        let fixture = try TLSFixture()
        var pair = try fixture.pair(host: host)
        pair.run()
        #expect(pair.client.state == .open)
        #expect(pair.server.details.serverName == nil)
        #expect(pair.client.details.peerCertificates.first?.alternativeNames.first?.hasPrefix("IP:") == true)
        var wrong = try fixture.pair(host: host, shown: "10.9.8.7")
        wrong.run()
        #expect(wrong.client.state.failure?.cause == .certificate(.nameMismatch(["IP:10.9.8.7"])))
    }

    @Test("An insecure host goes on, and the details say why it should not have")
    func recordOnly() throws {
        var pair = try TLSFixture(trusted: false).pair(verification: .recordOnly)
        pair.run()
        #expect(pair.client.state == .open)
        #expect(pair.client.details.verificationFailure?.contains("issuer") == true)
        var mismatch = try TLSFixture().pair(shown: "other.example.net", verification: .recordOnly)
        mismatch.run()
        #expect(mismatch.client.state == .open)
        #expect(mismatch.client.details.verificationFailure?.lowercased().contains("hostname mismatch") == true)
    }

    @Test("A certificate outside its time, or self-signed, has its own words")
    func timesAndSelfSigned() throws {
        let fixture = try TLSFixture()
        let day: Int64 = 86_400
        let now = sluice_now()
        let expired = try handshake(fixture, from: now - 9 * day, to: now - 2 * day)
        #expect(expired.cause == .certificate(.expired(now - 2 * day)))
        #expect(expired.explanation.contains("expired on 20"))
        let future = try handshake(fixture, from: now + 2 * day, to: now + 9 * day)
        #expect(future.cause == .certificate(.notYetValid(now + 2 * day)))
        let selfSigned = try handshake(fixture, from: now - day, to: now + day, selfSigned: true)
        #expect(selfSigned.cause == .certificate(.selfSigned))
        #expect(selfSigned.explanation.contains("self-signed"))
    }

    private func handshake(
        _ fixture: TLSFixture,
        from start: Int64,
        to end: Int64,
        selfSigned: Bool = false
    ) throws -> TLSError {
        let host = "www.example.com"
        let key = try #require(PrivateKeyHandle.generate())
        var builder = try #require(CertificateBuilder(key: key, validFrom: start, to: end))
        let issuer = try #require(X509Handle(der: fixture.authority.certificateDER))
        let issuerKey = try #require(PrivateKeyHandle(der: fixture.authority.keyDER))
        builder.setSubject(commonName: host)
        if selfSigned { builder.setIssuerToSubject() } else { builder.setIssuer(issuer.pointer) }
        builder.addAlternativeName(.dns(host), isCritical: false)
        let signed = builder.signed(by: selfSigned ? key : issuerKey)
        let certificate = try #require(signed)
        let leaf = LeafCertificate(certificate: certificate, key: key, chain: [], validity: start...end)
        var pair = TLSPair(
            client: try fixture.client.makeSession(host: host),
            server: try fixture.server.makeSession(certificate: leaf)
        )
        pair.run()
        return try #require(pair.client.state.failure)
    }

    @Test("Client and proxy that share no version or suite are known as such, and the words fit a client of today")
    func nothingShared() throws {
        func failure(_ change: (TLSSession) -> Void) throws -> TLSError {
            var pair = try TLSFixture().pair()
            change(pair.client)
            pair.run()
            return try #require(pair.server.state.failure)
        }
        let old = try failure {
            $0.accept(from: TLS1_VERSION)
            $0.limit(to: TLS1_1_VERSION)
        }
        #expect(old.cause == .unsupportedVersion && old.clientSharesNothing)
        #expect(old.explanation.contains("Update the client"))
        let rsa = try failure {
            $0.limit(to: TLS1_2_VERSION)
            SSL_set_cipher_list($0.ssl, "aRSA")
        }
        #expect(rsa.cause == .nothingShared && rsa.clientSharesNothing && !rsa.clientRefusedCertificate)
        #expect(!rsa.explanation.contains("Update"))
        let refused = TLSError(leg: .client, cause: .peerAlert("unknown_ca"))
        #expect(!refused.clientSharesNothing)
        #expect(!TLSError(leg: .upstream, cause: .nothingShared).clientSharesNothing)
    }

    @Test(
        "A chain with an authority whose private key is public is refused, whatever is trusted; a host may be let through"
    )
    func compromisedAuthority() throws {
        let fixture = try TLSFixture(distrusted: { authority in
            let key = X509Handle(der: authority.certificateDER).map { sha256(of: publicKeyDER(of: $0.pointer)) }
            return DistrustedKeys(hashes: [hexadecimal(key ?? [])])
        })
        var pair = try fixture.pair()
        pair.run()
        let failure = try #require(pair.client.state.failure)
        #expect(failure.cause == .certificate(.compromisedAuthority("Sluice CA test")))
        #expect(
            failure.explanation.contains("'Sluice CA test'") && failure.explanation.contains("private key is public")
        )
        var open = try fixture.pair(verification: .recordOnly)
        open.run()
        #expect(open.client.state == .open)
        #expect(open.client.details.verificationFailure == "certificate revoked")
    }

    @Test("The keys of eMudhra's authorities that became public are known by their certificates' public keys")
    func compromisedKeys() throws {
        // EM DV TLS CA - G3B.
        let encoded =
            "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE557ZwEqXc8RzXlERHahawr1eZKs3S4DhLLwgOOweTw47gS/JhZ4eZ6+wTi+LyX90hbplqpEe6KTk"
            + "W2LVzAPVa+Z4s8OMtNyTfKJGDiOEU8iSk10p1E+R4VYGtjzO2rRo"
        let bytes = Array(try #require(Data(base64Encoded: encoded)))
        let key = bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_PUBKEY(nil, &position, buffer.count)
        }
        let certificate = X509Handle(owning: try #require(X509_new()))
        let owned = PrivateKeyHandle(owning: try #require(key))
        #expect(X509_set_pubkey(certificate.pointer, owned.pointer) == 1)
        #expect(DistrustedKeys.compromised.contain(keyOf: certificate.pointer))
        let other = try #require(X509Handle(der: TLSFixture().authority.certificateDER))
        #expect(!DistrustedKeys.compromised.contain(keyOf: other.pointer))
    }

    @Test("A client that closes after it saw our certificate refused it; one that closes before did not")
    func silentRefusal() throws {
        let fixture = try TLSFixture()
        let pair = try fixture.pair()
        var buffer = ByteBuffer()
        _ = pair.client.advance(into: &buffer)
        pair.server.receive(try #require(pair.client.takeOutput()))
        #expect(pair.server.advance(into: &buffer) == .needsInput)
        pair.server.receiveEOF()
        #expect(pair.server.advance(into: &buffer) == .ended)
        let refused = try #require(pair.server.state.failure)
        #expect(refused.cause == .closedDuringHandshake)
        #expect(refused.clientRefusedCertificate)

        let early = try fixture.pair().server
        early.receiveEOF()
        #expect(early.advance(into: &buffer) == .ended)
        #expect(early.state.failure?.cause == .closedDuringHandshake)
        #expect(early.state.failure?.clientRefusedCertificate == false)
    }

    @Test("Plain HTTP is named as such on both legs")
    func plainHTTP() throws {
        let pair = try TLSFixture().pair()
        var buffer = ByteBuffer()
        pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
        #expect(pair.server.advance(into: &buffer) == .ended)
        #expect(pair.server.state.failure?.cause == .plainHTTP)
        _ = pair.client.advance(into: &buffer)
        for byte in "HTTP/1.1 400 Bad Request\r\n\r\n".utf8 {
            pair.client.receive(ByteBuffer(bytes: [byte]))
            _ = pair.client.advance(into: &buffer)
        }
        #expect(pair.client.state.failure?.cause == .plainHTTP)
        #expect(pair.client.state.failure?.explanation.contains("plain HTTP") == true)
    }

    @Test("A server that answers with anything else is said to speak no TLS, and no failure is told twice")
    func noTLS() throws {
        let pair = try TLSFixture().pair()
        var buffer = ByteBuffer()
        _ = pair.client.advance(into: &buffer)
        pair.client.receive(ByteBuffer(string: "220 mail.example ESMTP ready\r\n"))
        _ = pair.client.advance(into: &buffer)
        let failure = try #require(pair.client.state.failure)
        #expect(failure.explanation.contains("speaks no TLS on this port"), "\(failure.explanation)")
        let other = TLSError(leg: .upstream, cause: .protocolViolation("bad"), host: "h.example")
        #expect(other.explanation == "OpenSSL says: bad.")
    }

    @Test("Garbage fails with a reason and never crashes")
    func garbage() throws {
        let fixture = try TLSFixture()
        var generator = SplitMix(0x510C_E005)
        for round in 0..<200 {
            var bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            if round.isMultiple(of: 2) { bytes.replaceSubrange(0..<6, with: [22, 3, 1, 0, 200, 1]) }
            let server = try fixture.pair().server
            var buffer = ByteBuffer()
            server.receive(ByteBuffer(bytes: bytes))
            server.receiveEOF()
            #expect(server.advance(into: &buffer) == .ended)
            #expect(server.state.failure != nil, "\(bytes)")
        }
    }

    @Test("Every cause has an explanation on both legs")
    func explanations() {
        let causes: [TLSError.Cause] = [
            .peerAlert("handshake_failure"), .peerAlert("internal_error"), .certificate(.expired(0)),
            .certificate(.notYetValid(0)), .certificate(.selfSigned), .certificate(.unknownIssuer("")),
            .certificate(.missingIssuer("Middle", url: "http://a.example/middle.crt")),
            .certificate(.revoked(1_700_000_000, reason: "keyCompromise")),
            .certificate(.nameMismatch(["DNS:a"])), .certificate(.noHostName(commonName: "", addresses: [])),
            .certificate(.compromisedAuthority("Middle")), .certificate(.tooWeak("ee key too small")),
            .certificate(.other("x")),
            .closedDuringHandshake, .plainHTTP, .legacyRenegotiation, .dhKeyTooSmall, .unsupportedVersion,
            .nothingShared, .protocolViolation("bad"), .invalidHost, .alreadyShutDown, .resource("none"),
        ]
        for cause in causes {
            for leg in [TLSError.Leg.client, .upstream] {
                let text = TLSError(leg: leg, cause: cause, host: "h.example").explanation
                #expect(text.hasSuffix(".") && !text.contains("unknown reason") || leg == .client, "\(text)")
            }
        }
        for cause in [TLSError.Cause.legacyRenegotiation, .dhKeyTooSmall, .certificate(.tooWeak("x"))] {
            let failure = TLSError(leg: .upstream, cause: cause, host: "h.example")
            #expect(failure.explanation.contains("`--tls-legacy h.example`"))
        }
    }

    @Test("A host that cannot be named is refused before the handshake", arguments: ["", "a b", "a\u{0}b"])
    func invalidHost(host: String) throws {
        let fixture = try TLSFixture()
        #expect(throws: TLSError(leg: .upstream, cause: .invalidHost, host: host)) {
            _ = try fixture.client.makeSession(host: host)
        }
        #expect(throws: CertificateError.self) { _ = try fixture.mint.certificate(for: host) }
    }
}
