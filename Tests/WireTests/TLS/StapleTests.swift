import COpenSSL
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Wire

@Suite("What servers staple about revocation") struct StapleTests {
    /// An answer of an authority; times in seconds from now.
    struct Answer {
        var status = V_OCSP_CERTSTATUS_GOOD
        var reason = OCSP_REVOKED_STATUS_NOSTATUS
        var from = -3_600
        var until: Int? = 3_600
        /// The certificate that it is about, and whose key signs; by default the server's, and the authority's.
        var isAboutAnother = false
        var isForged = false
        var digest = EVP_sha1()
    }

    private let fixture: TLSFixture
    private let host = "www.example.com"

    init() throws { fixture = try TLSFixture() }

    private func time(_ offset: Int) -> UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? {
        ASN1_GENERALIZEDTIME_set(nil, time_t(sluice_now()) + offset)
    }

    /// The answer in DER form.
    private func made(_ answer: Answer) throws -> [UInt8] {
        let issuer = try #require(X509Handle(der: fixture.authority.certificateDER))
        let leaf = try fixture.mint.certificate(for: answer.isAboutAnother ? "other.example.com" : host)
        let subject = try #require(X509Handle(der: leaf.der))
        let authority = answer.isForged ? try CertificateAuthority.generate(label: "test") : fixture.authority
        let signer = try #require(X509Handle(der: authority.certificateDER))
        let key = try #require(PrivateKeyHandle(der: authority.keyDER))
        let basic = try #require(OCSP_BASICRESP_new())
        defer { OCSP_BASICRESP_free(basic) }
        let identifier = try #require(OCSP_cert_to_id(answer.digest, subject.pointer, issuer.pointer))
        defer { OCSP_CERTID_free(identifier) }
        let revokedAt = answer.status == V_OCSP_CERTSTATUS_REVOKED ? time(-86_400) : nil
        let (from, until) = (time(answer.from), answer.until.flatMap { time($0) })
        defer { for time in [revokedAt, from, until] { ASN1_GENERALIZEDTIME_free(time) } }
        #expect(OCSP_basic_add1_status(basic, identifier, answer.status, answer.reason, revokedAt, from, until) != nil)
        #expect(OCSP_basic_sign(basic, signer.pointer, key.pointer, EVP_sha256(), nil, 0) == 1)
        let response = try #require(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
        defer { OCSP_RESPONSE_free(response) }
        return der(response)
    }

    private func der(_ response: OpaquePointer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(max(0, i2d_OCSP_RESPONSE(response, nil))))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            _ = i2d_OCSP_RESPONSE(response, &position)
        }
        return bytes
    }

    /// The client's end of a connection to a server that staples these bytes.
    private func client(
        _ staple: [UInt8],
        verification: TLSVerification = .full,
        version: Int32 = TLS1_3_VERSION,
        fixture other: TLSFixture? = nil
    ) throws -> TLSSession {
        var pair = try (other ?? fixture).pair(host: host, verification: verification)
        pair.client.limit(to: version)
        let ssl = pair.server.ssl
        // 0 says that there is something to send.
        sluice_SSL_CTX_set_staple_callback(SSL_get_SSL_CTX(ssl)) { _, _ in 0 }
        let memory = try #require(CRYPTO_malloc(max(1, staple.count), "", 0))
        memory.copyMemory(from: staple, byteCount: staple.count)
        // OpenSSL takes the memory over.
        #expect(SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_OCSP_RESP, staple.count, memory) == 1)
        pair.run()
        return pair.client
    }

    private func status(_ answer: Answer) throws -> StapledStatus {
        let client = try client(try made(answer))
        #expect(client.state == .open)
        return try #require(client.details.peerCertificates.first?.staple)
    }

    @Test("A good one is kept with the certificate, whatever digest names it", arguments: [false, true])
    func good(isSHA256: Bool) throws {
        let status = try status(Answer(digest: isSHA256 ? EVP_sha256() : EVP_sha1()))
        #expect(status.state == .good)
        let now = sluice_now()
        #expect(abs((status.validFrom ?? 0) - (now - 3_600)) < 120)
        #expect(abs((status.validUntil ?? 0) - (now + 3_600)) < 120)
        #expect(status.revokedAt == nil && status.reason == nil)
    }

    @Test("Without an end it is good as well, and without any staple there is no status")
    func endless() throws {
        #expect(try status(Answer(until: nil)).validUntil == nil)
        var pair = try fixture.pair(host: host)
        pair.run()
        #expect(pair.client.state == .open)
        #expect(pair.client.details.peerCertificates.first?.staple == nil)
    }

    @Test("A revoked certificate is refused, in both versions", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func revoked(version: Int32) throws {
        let answer = Answer(status: V_OCSP_CERTSTATUS_REVOKED, reason: OCSP_REVOKED_STATUS_KEYCOMPROMISE)
        let client = try client(try made(answer), version: version)
        let failure = try #require(client.state.failure)
        guard case .certificate(.revoked(let moment, let reason)) = failure.cause else {
            Issue.record("\(failure)")
            return
        }
        #expect(reason == "keyCompromise")
        #expect(abs(moment - (sluice_now() - 86_400)) < 120)
        #expect(failure.explanation.contains("revoked") && failure.explanation.contains("--insecure-host"))
        #expect(client.details.peerCertificates.first?.staple?.state == .revoked)
    }

    @Test("Where verification only records, a revoked certificate passes and is recorded")
    func recordOnly() throws {
        let staple = try made(Answer(status: V_OCSP_CERTSTATUS_REVOKED))
        let client = try client(staple, verification: .recordOnly)
        #expect(client.state == .open)
        #expect(client.details.verificationFailure?.contains("revoked") == true)
        #expect(client.details.peerCertificates.first?.staple?.reason == nil)
    }

    @Test("An authority that does not know the certificate is no reason to refuse it")
    func unknown() throws { #expect(try status(Answer(status: V_OCSP_CERTSTATUS_UNKNOWN)).state == .unknown) }

    @Test("What proves nothing refuses nothing, though it says revoked")
    func unusable() throws {
        let revoked = Answer(status: V_OCSP_CERTSTATUS_REVOKED)
        var (old, early, another, forged) = (revoked, revoked, revoked, revoked)
        (old.from, old.until) = (-7_200, -3_600)
        (early.from, early.until) = (3_600, 7_200)
        another.isAboutAnother = true
        forged.isForged = true
        for (answer, words) in [
            (old, "out of date"), (early, "out of date"), (another, "different certificate"),
            (forged, "not from a trusted authority"),
        ] {
            let status = try status(answer)
            #expect(status.state == .unusable)
            #expect(status.reason?.contains(words) == true, "\(status)")
        }
    }

    @Test("A chain that is not trusted makes its staple worth nothing")
    func untrusted() throws {
        let stranger = try TLSFixture(trusted: false)
        let client = try client(try made(Answer()), verification: .recordOnly, fixture: stranger)
        #expect(client.state == .open)
        #expect(client.details.peerCertificates.first?.staple?.state == .unusable)
    }

    @Test("A responder's refusal, garbage and mutated answers neither crash nor refuse")
    func malformed() throws {
        let refusal = try #require(OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, nil))
        defer { OCSP_RESPONSE_free(refusal) }
        let late = try client(der(refusal))
        #expect(late.details.peerCertificates.first?.staple?.reason?.contains("trylater") == true)
        var random = SplitMix(0x0C59)
        let revoked = try made(Answer(status: V_OCSP_CERTSTATUS_REVOKED))
        for round in 0..<150 {
            var bytes = revoked
            if round.isMultiple(of: 3) {
                bytes = Array(revoked.prefix(Int(random.next() % UInt64(revoked.count))))
            } else {
                let place = Int(random.next() % UInt64(bytes.count))
                bytes[place] ^= UInt8(1 + random.next() % 255)
            }
            guard !bytes.isEmpty, bytes != revoked else { continue }
            let client = try client(bytes)
            let staple = client.details.peerCertificates.first?.staple
            // A byte outside what is signed may change nothing.
            #expect(client.state == .open || staple?.state == .revoked, "round \(round): \(client.state)")
        }
    }
}
