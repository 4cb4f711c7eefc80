internal import COpenSSL
package import HTTPModel

/// The offer of a probing client in one handshake.
package struct TLSProbeOffer: Sendable, Hashable {
    package var versions: ClosedRange<TLSVersion>
    /// The cipher suites, the best first; `nil` for those that OpenSSL offers by itself.
    package var ciphers: [TLSCipher]?
    /// What is offered by ALPN, the best first; empty for no such extension.
    package var applicationProtocols: [String]
    /// Whether weak keys, signatures and ciphers are taken as well (security level 0), as far as OpenSSL has them.
    package var isLenient: Bool

    package init(
        _ versions: ClosedRange<TLSVersion>,
        ciphers: [TLSCipher]? = nil,
        applicationProtocols: [String] = [],
        isLenient: Bool = true
    ) {
        self.versions = versions
        self.ciphers = ciphers
        self.applicationProtocols = applicationProtocols
        self.isLenient = isLenient
    }
}

/// Makes TLS sessions that look at a server: each goes on whatever the certificate, and notes what is wrong with it.
///
/// It belongs to one task or event loop. A second session with the same offer resumes what the first one left.
package final class TLSProbeContext {
    private let context: TLSContextHandle
    private let sessions = TLSSessionCache(capacity: 4)

    /// Creates a context that verifies against `trust`, which is read here unless it was before.
    package init(trust: TLSTrust) throws(TLSError) {
        context = try TLSContextHandle(leg: .upstream, keyLog: nil, distrusted: trust.distrusted)
        do throws(CertificateError) {
            try trust.load()
        } catch {
            throw TLSError(leg: .upstream, cause: .resource(error.description))
        }
        trust.install(in: context.pointer)
        sluice_SSL_CTX_set_session_cache_mode(context.pointer, sluice_CACHE_CLIENT_EXTERNAL)
        SSL_CTX_sess_set_new_cb(context.pointer) { ssl, session in
            guard let session, let owner = TLSSession.of(ssl) else { return 0 }
            owner.probe?.hasTicket = true
            return owner.remember(session) ? 1 : 0
        }
        ERR_clear_error()
    }

    /// The name and version of the library that speaks TLS here, for example `OpenSSL 3.0.15`.
    package static var libraryName: String {
        let words = String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ")
        return words.prefix(2).joined(separator: " ")
    }

    /// All cipher suites that this OpenSSL can speak, those of TLS 1.3 first.
    package func ciphers() -> [TLSCipher] {
        guard let ssl = SSL_new(context.pointer) else { return [] }
        defer { SSL_free(ssl) }
        SSL_set_security_level(ssl, 0)
        SSL_set_cipher_list(ssl, "ALL:COMPLEMENTOFALL:@SECLEVEL=0")
        SSL_set_ciphersuites(ssl, TLSProbeContext.allSuites)
        ERR_clear_error()
        let list = SSL_get_ciphers(ssl)
        let all = (0..<max(0, sluice_sk_SSL_CIPHER_num(list))).compactMap { index in
            sluice_sk_SSL_CIPHER_value(list, index).flatMap { TLSCipher($0) }
        }
        // Keys that both sides know beforehand, passwords and the like are nothing that a browser or an app has.
        let usable = all.filter { !$0.name.contains("_PSK_") && !$0.name.contains("_SRP_") }
        return usable.filter(\.isTLS13) + usable.filter { !$0.isTLS13 }
    }

    private static let allSuites =
        "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256"
        + ":TLS_AES_128_CCM_8_SHA256"

    /// Makes the session of one connection.
    ///
    /// - Parameters:
    ///   - host: the name or address that the certificate must have; a name is also sent as server name.
    ///   - offer: what is offered.
    ///   - resumes: whether what an earlier session left is offered, and what this one gets is kept.
    /// - Throws: `invalidHost` for a host that no certificate can name, `nothingShared` where OpenSSL cannot offer
    ///   what it should.
    package func makeSession(host: String, offer: TLSProbeOffer, resumes: Bool = false) throws(TLSError) -> TLSSession {
        guard let name = HostName(host) else { throw TLSError(leg: .upstream, cause: .invalidHost, host: host) }
        var isOffered = true
        let session = try TLSSession(context, .upstream, host: host, offer.applicationProtocols) { ssl in
            SSL_set_connect_state(ssl)
            isOffered = Self.offer(offer, by: ssl)
            sluice_SSL_request_staple(ssl)
            Self.watch(ssl)
            return TLSClientContext.setHost(name, of: ssl)
                && TLSClientContext.offer(offer.applicationProtocols, by: ssl)
        }
        guard isOffered else { throw TLSError(leg: .upstream, cause: .nothingShared, host: host) }
        session.probe = TLSProbeNotes()
        if resumes {
            let key = TLSSessionCache.Key(host: name, caller: "probe", verification: .recordOnly, isLegacy: false)
            session.resume(from: sessions, key: key)
        }
        return session
    }

    private static func offer(_ offer: TLSProbeOffer, by ssl: OpaquePointer) -> Bool {
        if offer.isLenient {
            SSL_set_security_level(ssl, 0)
            SSL_set_options(ssl, sluice_OP_LEGACY_SERVER_CONNECT)
            SSL_set_cipher_list(ssl, "ALL:COMPLEMENTOFALL:@SECLEVEL=0")
        }
        if let ciphers = offer.ciphers {
            let suites = ciphers.filter(\.isTLS13).map(\.name).joined(separator: ":")
            let others = ciphers.filter { !$0.isTLS13 }.map(\.openSSLName).joined(separator: ":")
            guard SSL_set_ciphersuites(ssl, suites) == 1 else { return false }
            // An empty list is an error to OpenSSL, and no cipher of older versions can be chosen without one.
            if !others.isEmpty, SSL_set_cipher_list(ssl, others + (offer.isLenient ? ":@SECLEVEL=0" : "")) != 1 {
                return false
            }
        }
        return sluice_SSL_set_min_proto_version(ssl, Int32(offer.versions.lowerBound.rawValue)) == 1
            && sluice_SSL_set_max_proto_version(ssl, Int32(offer.versions.upperBound.rawValue)) == 1
    }

    /// Notes what is wrong, and that a certificate of ours is asked for; the handshake goes on.
    private static func watch(_ ssl: OpaquePointer) {
        SSL_set_verify(ssl, SSL_VERIFY_NONE) { passed, store in
            let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
            guard let store, let session = TLSSession.of(ssl.map { OpaquePointer($0) }) else { return 1 }
            if passed == 1, !session.context.distrusted.refuse(currentOf: store) { return 1 }
            session.note(store)
            return 1
        }
        SSL_set_cert_cb(
            ssl,
            { ssl, _ in
                TLSSession.of(ssl)?.probe?.isCertificateRequested = true
                return 1
            },
            nil
        )
    }
}

/// The findings of a probing session.
struct TLSProbeNotes {
    var problems: [ChainProblem] = []
    var isCertificateRequested = false
    var hasTicket = false
}

/// What a session that looked at a server found, whether it came to its end or not.
package struct TLSProbeFindings: Sendable, Hashable {
    /// The version and cipher suite that the server chose; `nil` if it did not come to that.
    package var version: TLSVersion?
    package var cipher: String?
    package var applicationProtocol: String?
    /// The certificates as sent, the server's own first; empty for a resumed session.
    package var certificates: [CertificateFacts]
    /// All verification errors.
    package var problems: [ChainProblem]
    /// The server's OCSP staple.
    package var staple: StapledStatus?
    /// Whether the server asked for a client certificate.
    package var isCertificateRequested: Bool
    /// Whether the server sent a session ticket.
    package var hasTicket: Bool
    /// Whether this session resumed another.
    package var isResumed: Bool

    package init(
        version: TLSVersion? = nil,
        cipher: String? = nil,
        applicationProtocol: String? = nil,
        certificates: [CertificateFacts] = [],
        problems: [ChainProblem] = [],
        staple: StapledStatus? = nil,
        isCertificateRequested: Bool = false,
        hasTicket: Bool = false,
        isResumed: Bool = false
    ) {
        self.version = version
        self.cipher = cipher
        self.applicationProtocol = applicationProtocol
        self.certificates = certificates
        self.problems = problems
        self.staple = staple
        self.isCertificateRequested = isCertificateRequested
        self.hasTicket = hasTicket
        self.isResumed = isResumed
    }
}

extension TLSSession {
    /// The findings of a session so far.
    package var findings: TLSProbeFindings {
        let cipher = SSL_get_pending_cipher(ssl) ?? SSL_get_current_cipher(ssl)
        var findings = TLSProbeFindings(
            cipher: SSL_CIPHER_standard_name(cipher).map { String(cString: $0) },
            applicationProtocol: applicationProtocol,
            certificates: certificateFacts,
            problems: probe?.problems ?? [],
            staple: StapleReader.status(of: ssl),
            isCertificateRequested: probe?.isCertificateRequested ?? false,
            hasTicket: probe?.hasTicket ?? false,
            isResumed: SSL_session_reused(ssl) == 1
        )
        if cipher == nil {
            findings.cipher = nil
        } else if let name = SSL_get_version(ssl) {
            findings.version = TLSVersion(openSSLName: String(cString: name))
        }
        return findings
    }

    private var certificateFacts: [CertificateFacts] {
        let chain = SSL_get_peer_cert_chain(ssl)
        // No honest chain is longer.
        return (0..<min(20, max(0, sluice_sk_X509_num(chain)))).compactMap { index in
            sluice_sk_X509_value(chain, index).map { CertificateFacts($0) }
        }
    }

    fileprivate func note(_ store: OpaquePointer) {
        let code = X509_STORE_CTX_get_error(store)
        let certificate = X509_STORE_CTX_get_current_cert(store)
        let leaf = sluice_sk_X509_value(X509_STORE_CTX_get0_untrusted(store), 0)
        let problem = TLSError.CertificateProblem(
            code: Int(code),
            certificate: certificate,
            names: leaf.map { CertificateSummary($0).alternativeNames } ?? [],
            distrusted: context.distrusted
        )
        let noted = ChainProblem(depth: max(0, Int(X509_STORE_CTX_get_error_depth(store))), problem: problem)
        // OpenSSL may find the same again by another way: that a signature cannot be checked follows from the rest.
        if probe?.problems.contains(noted) == false, probe?.problems.count ?? 0 < 20 { probe?.problems.append(noted) }
    }
}

extension TLSSession {
    /// Whether the server gave something by which to resume, and whether it asked for a certificate of the client.
    package var probeProgress: (hasTicket: Bool, isCertificateRequested: Bool) {
        (probe?.hasTicket ?? false, probe?.isCertificateRequested ?? false)
    }
}
