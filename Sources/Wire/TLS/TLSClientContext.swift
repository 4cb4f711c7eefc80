internal import COpenSSL
internal import HTTPModel

package enum TLSVerification: Sendable, Hashable {
    case full
    /// The handshake continues, and the details have the failure (`--insecure-host`).
    case recordOnly
}

/// Makes the TLS sessions of the upstream leg; belongs to one event loop.
package final class TLSClientContext {
    private let context: TLSContextHandle
    private let trust: TLSTrust
    private let sessions: TLSSessionCache
    private var isTrustInstalled = false

    private static let sessionCapacity = 1_000

    /// Does not read `trust` yet; `keyLog` receives the secrets of every handshake.
    package init(trust: TLSTrust = TLSTrust(), keyLog: TLSKeyLog? = nil) throws(TLSError) {
        context = try TLSContextHandle(leg: .upstream, keyLog: keyLog, distrusted: trust.distrusted)
        self.trust = trust
        sessions = TLSSessionCache(capacity: Self.sessionCapacity)
        // Called after the verification of the certificate, and before the end of our handshake.
        sluice_SSL_CTX_set_staple_callback(context.pointer) { ssl, _ in
            TLSSession.of(ssl)?.takeStaple() == false ? 0 : 1
        }
        ERR_clear_error()
    }

    /// Makes the session of one connection to a server; the first ``TLSSession/advance(into:limit:)`` makes the
    /// ClientHello. Reads the authorities if ``TLSTrust/load()`` was not called. The certificate must be for `host`; a
    /// name is also sent as server name (never an address, RFC 6066 section 3). `isLegacy` allows TLS 1.0, short keys,
    /// and servers without secure renegotiation. Sessions are resumed among connections with the same resumption key,
    /// host, verification, `isLegacy` and identity. Throws `invalidHost` if no certificate can name the host,
    /// `resource` if an extra file cannot be read.
    package func makeSession(
        host: String,
        applicationProtocols: [String] = ["http/1.1"],
        verification: TLSVerification = .full,
        isLegacy: Bool = false,
        identity: TLSClientIdentity? = nil,
        resumptionKey: String? = nil
    ) throws(TLSError) -> TLSSession {
        guard let name = HostName(host) else { throw TLSError(leg: .upstream, cause: .invalidHost, host: host) }
        if !isTrustInstalled {
            try trust.install(in: context.pointer, host: host)
            isTrustInstalled = true
        }
        let session = try TLSSession(context, .upstream, host: host, applicationProtocols) { ssl in
            SSL_set_connect_state(ssl)
            if isLegacy { Self.allowLegacy(ssl) }
            Self.verify(ssl, verification)
            sluice_SSL_request_staple(ssl)
            Self.awaitCertificateRequest(ssl)
            return Self.setHost(name, of: ssl) && Self.offer(applicationProtocols, by: ssl)
        }
        session.identity = identity
        if let resumptionKey {
            let key = TLSSessionCache.Key(
                host: name,
                caller: resumptionKey,
                verification: verification,
                isLegacy: isLegacy,
                identity: identity?.summary.fingerprint
            )
            session.resume(from: sessions, key: key)
        }
        return session
    }

    private static func allowLegacy(_ ssl: OpaquePointer) {
        SSL_set_security_level(ssl, 0)
        SSL_set_cipher_list(ssl, "ALL:@SECLEVEL=0")
        SSL_set_options(ssl, sluice_OP_LEGACY_SERVER_CONNECT)
        sluice_SSL_set_min_proto_version(ssl, TLS1_VERSION)
    }

    private static func verify(_ ssl: OpaquePointer, _ verification: TLSVerification) {
        // Without SSL_VERIFY_PEER OpenSSL verifies, too, but ignores the result.
        SSL_set_verify(ssl, verification == .full ? SSL_VERIFY_PEER : SSL_VERIFY_NONE) { passed, store in
            let session = TLSSession.of(verification: store)
            if passed == 1, session?.context.distrusted.refuse(currentOf: store) != true { return 1 }
            session?.reject(store)
            return 0
        }
    }

    private static func awaitCertificateRequest(_ ssl: OpaquePointer) {
        SSL_set_cert_cb(
            ssl,
            { ssl, _ in
                TLSSession.of(ssl)?.showCertificate()
                return 1
            },
            nil
        )
        TLSSession.noteSentCertificate(on: ssl)
    }

    static func setHost(_ name: HostName, of ssl: OpaquePointer) -> Bool {
        switch name {
        case .dns(let name):
            // RFC 9525 section 6.3: the common name does not count, and a wildcard is a whole label.
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            SSL_set_hostflags(ssl, UInt32(flags))
            return SSL_set1_host(ssl, name) == 1 && sluice_SSL_set_host_name(ssl, name) == 1
        case .address(let bytes): return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl), bytes, bytes.count) == 1
        }
    }

    static func offer(_ protocols: [String], by ssl: OpaquePointer) -> Bool {
        var list: [UInt8] = []
        for name in protocols where (1...255).contains(name.utf8.count) {
            list.append(UInt8(name.utf8.count))
            list.append(contentsOf: name.utf8)
        }
        // This function returns 0 for success.
        return list.isEmpty || SSL_set_alpn_protos(ssl, list, UInt32(list.count)) == 0
    }
}

extension TLSSession {
    /// Keeps the staple; returns whether the handshake may continue.
    fileprivate func takeStaple() -> Bool {
        staple = StapleReader.status(of: ssl)
        guard let staple, staple.state == .revoked, SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER != 0 else { return true }
        let problem = TLSError.CertificateProblem.revoked(staple.revokedAt ?? 0, reason: staple.reason)
        rejectedPeer = RejectedPeer(problem: problem, chain: summaries(of: SSL_get_peer_cert_chain(ssl)))
        return false
    }

    /// Keeps the fault of the server's chain, which OpenSSL has only during verification.
    fileprivate func reject(_ store: OpaquePointer?) {
        guard let store, rejectedPeer == nil else { return }
        let chain = summaries(of: X509_STORE_CTX_get0_untrusted(store))
        rejectedPeer = RejectedPeer(problem: problem(in: store), chain: chain)
    }
}
