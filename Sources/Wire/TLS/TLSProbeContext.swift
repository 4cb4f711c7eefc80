internal import COpenSSL
package import HTTPModel

package struct TLSProbeOffer: Sendable, Hashable {
    package var versions: ClosedRange<TLSVersion>
    /// The best first; `nil` for OpenSSL's own.
    package var ciphers: [TLSCipher]?
    /// By ALPN, the best first; empty for none.
    package var applicationProtocols: [String]
    /// Whether weak keys, signatures and ciphers are accepted (security level 0), as far as OpenSSL has them.
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

/// Makes TLS sessions that probe a server: they continue whatever the certificate, and note its faults. Belongs to one
/// task or event loop. A second session with the same offer resumes the first one.
package final class TLSProbeContext {
    private let context: TLSContextHandle
    private let sessions = TLSSessionCache(capacity: 4)

    /// Reads `trust` if that was not done before.
    package init(trust: TLSTrust) throws(TLSError) {
        context = try TLSContextHandle(leg: .upstream, keyLog: nil, distrusted: trust.distrusted)
        try trust.install(in: context.pointer)
        ERR_clear_error()
    }

    /// For example `OpenSSL 3.0.15`.
    package static var libraryName: String {
        LibraryVersions.openSSL.split(separator: " ").prefix(2).joined(separator: " ")
    }

    /// All cipher suites of this OpenSSL, those of TLS 1.3 first.
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
        // Browsers and apps have no shared keys or passwords.
        let usable = all.filter { !$0.name.contains("_PSK_") && !$0.name.contains("_SRP_") }
        return usable.filter(\.isTLS13) + usable.filter { !$0.isTLS13 }
    }

    private static let allSuites =
        "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256"
        + ":TLS_AES_128_CCM_8_SHA256"

    /// With `resumes`, offers an earlier session, and keeps this one. Throws `invalidHost` for a host that no
    /// certificate can name, `nothingShared` if OpenSSL cannot make the offer.
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
            // OpenSSL rejects an empty list. Without older ciphers, the callers offer TLS 1.3 only.
            if !others.isEmpty, SSL_set_cipher_list(ssl, others + (offer.isLenient ? ":@SECLEVEL=0" : "")) != 1 {
                return false
            }
        }
        return sluice_SSL_set_min_proto_version(ssl, Int32(offer.versions.lowerBound.rawValue)) == 1
            && sluice_SSL_set_max_proto_version(ssl, Int32(offer.versions.upperBound.rawValue)) == 1
    }

    /// Notes faults, and whether the server asks for a certificate; the handshake continues.
    private static func watch(_ ssl: OpaquePointer) {
        SSL_set_verify(ssl, SSL_VERIFY_NONE) { passed, store in
            guard let store, let session = TLSSession.of(verification: store) else { return 1 }
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

struct TLSProbeNotes {
    var problems: [ChainProblem] = []
    var isCertificateRequested = false
    var hasTicket = false
}

/// The findings of a probing session, complete or not.
package struct TLSProbeFindings: Sendable, Hashable {
    /// `nil` if the server chose none.
    package var version: TLSVersion?
    package var cipher: String?
    package var applicationProtocol: String?
    /// As sent, the server's own first; empty for a resumed session.
    package var certificates: [CertificateFacts] = []
    package var problems: [ChainProblem] = []
    package var staple: StapledStatus?
    package var isCertificateRequested = false
    package var hasTicket = false
    package var isResumed = false

    package static let none = TLSProbeFindings()
}

extension TLSSession {
    package var findings: TLSProbeFindings {
        let cipher = SSL_get_pending_cipher(ssl) ?? SSL_get_current_cipher(ssl)
        let version = cipher == nil ? nil : SSL_get_version(ssl).map { String(cString: $0) }
        return TLSProbeFindings(
            version: TLSVersion.allCases.first { $0.openSSLName == version },
            cipher: cipher.flatMap { SSL_CIPHER_standard_name($0) }.map { String(cString: $0) },
            applicationProtocol: applicationProtocol,
            // No honest chain is longer.
            certificates: certificates(in: SSL_get_peer_cert_chain(ssl)).prefix(20).map { CertificateFacts($0) },
            problems: probe?.problems ?? [],
            staple: StapleReader.status(of: ssl),
            isCertificateRequested: probe?.isCertificateRequested ?? false,
            hasTicket: probe?.hasTicket ?? false,
            isResumed: SSL_session_reused(ssl) == 1
        )
    }

    fileprivate func note(_ store: OpaquePointer) {
        let depth = max(0, Int(X509_STORE_CTX_get_error_depth(store)))
        let noted = ChainProblem(depth: depth, problem: problem(in: store))
        // OpenSSL may repeat a problem: an unverifiable signature follows from others.
        if probe?.problems.contains(noted) == false, probe?.problems.count ?? 0 < 20 { probe?.problems.append(noted) }
    }

    package var probeProgress: (hasTicket: Bool, isCertificateRequested: Bool) {
        (probe?.hasTicket ?? false, probe?.isCertificateRequested ?? false)
    }
}
