internal import COpenSSL

/// The private key that all minted certificates of one run share: a new one per host would cost time and win nothing.
package struct LeafKey: Sendable {
    let der: [UInt8]

    /// Creates a new key on the curve P-256.
    package init() throws(CertificateError) {
        ERR_clear_error()
        guard let key = PrivateKeyHandle.generate() else {
            throw CertificateError(reason: "no key can be made (\(OpenSSLErrors.take().text))")
        }
        der = key.der
    }

    /// The SHA-256 of the public key as certificates have it (SubjectPublicKeyInfo, RFC 7469 section 2.4).
    package var publicKeyHash: [UInt8]? {
        guard let key = PrivateKeyHandle(der: der) else { return nil }
        let information = key.publicDER
        var (digest, length) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
        guard EVP_Digest(information, information.count, &digest, &length, EVP_sha256(), nil) == 1 else { return nil }
        return Array(digest.prefix(Int(length)))
    }
}

/// A certificate for one host, ready to be shown to a client.
///
/// It belongs to its mint's event loop.
package final class LeafCertificate {
    /// The first and the last second in which it is valid, since 1970.
    let validity: ClosedRange<Int64>
    private let certificate: X509Handle
    private let key: PrivateKeyHandle
    private let chain: [X509Handle]

    init(certificate: X509Handle, key: PrivateKeyHandle, chain: [X509Handle], validity: ClosedRange<Int64>) {
        self.certificate = certificate
        self.key = key
        self.chain = chain
        self.validity = validity
    }

    package var der: [UInt8] { certificate.der }

    /// Makes one connection show this certificate and its chain.
    func install(in ssl: OpaquePointer) -> Bool {
        SSL_use_certificate(ssl, certificate.pointer) == 1
            && SSL_use_PrivateKey(ssl, key.pointer) == 1
            && chain.allSatisfy { sluice_SSL_add1_chain_cert(ssl, $0.pointer) == 1 }
    }
}

/// Makes certificates for the hosts that a client asks for, and keeps the latest.
///
/// It belongs to one event loop.
package final class CertificateMint {
    private let authority: X509Handle
    private let authorityKey: PrivateKeyHandle
    private let authorityNotAfter: Int64
    private let chain: [X509Handle]
    private let leafKey: PrivateKeyHandle
    /// The extensions that are the same in every leaf.
    private let commonExtensions: [CertificateExtension]
    private var cache: RecencyCache<HostName, LeafCertificate>

    private static let day: Int64 = 86_400
    /// Browsers refuse certificates that are valid for more than 398 days.
    private static let validDays: Int64 = 397

    /// Makes a mint that keeps `cacheCapacity` certificates, all with the key `leafKey`.
    package init(
        authority: CertificateAuthority,
        leafKey: LeafKey,
        cacheCapacity: Int = 1_000
    ) throws(CertificateError) {
        ERR_clear_error()
        let chain = authority.chainDER.compactMap { X509Handle(der: $0) }
        guard let certificate = X509Handle(der: authority.certificateDER),
            let authorityKey = PrivateKeyHandle(der: authority.keyDER),
            let key = PrivateKeyHandle(der: leafKey.der),
            let extensions = Self.commonExtensions(authority: certificate, key: key)
        else { throw CertificateError(reason: "the CA cannot be used (\(OpenSSLErrors.take().text))") }
        self.authority = certificate
        self.authorityKey = authorityKey
        self.chain = chain
        self.leafKey = key.forCertificates
        authorityNotAfter = authority.notAfter
        commonExtensions = extensions
        cache = RecencyCache(capacity: cacheCapacity)
        ERR_clear_error()
    }

    /// The certificate for a DNS name or an IP address, from the cache or newly minted.
    ///
    /// Throws for text that no certificate can name: empty, too long, with white space or control characters.
    package func certificate(for host: String) throws(CertificateError) -> LeafCertificate {
        try certificate(for: host, now: sluice_now())
    }

    /// The same at a moment, in seconds since 1970; it may lie before the last one, where the clock was set back.
    func certificate(for host: String, now: Int64) throws(CertificateError) -> LeafCertificate {
        guard let name = HostName(host) else {
            throw CertificateError(reason: "no certificate can be made for the host name '\(host.prefix(300))'")
        }
        if let kept = cache.value(for: name), kept.validity.lowerBound <= now,
            kept.validity.upperBound > now + Self.day
        {
            return kept
        }
        let minted = try mint(name, now: now)
        cache.store(minted, for: name)
        return minted
    }

    private func mint(_ name: HostName, now: Int64) throws(CertificateError) -> LeafCertificate {
        // The start lies in the past for clients whose clock is slow.
        let start = now - Self.day
        // The last second counts as valid (RFC 5280 section 4.1.2.5).
        let end = min(start + Self.validDays * Self.day - 1, authorityNotAfter)
        guard var builder = CertificateBuilder(key: leafKey, validFrom: start, to: end) else {
            throw CertificateError(reason: "no certificate can be made (\(OpenSSLErrors.take().text))")
        }
        // A common name has at most 64 characters; the alternative name is what counts anyway. Without a subject
        // that one is critical (RFC 5280 section 4.2.1.6).
        var commonName: String?
        if case .dns(let text) = name, text.utf8.count <= 64 { commonName = text }
        builder.setSubject(commonName: commonName)
        builder.setIssuer(authority.pointer)
        for prepared in commonExtensions { builder.add(prepared) }
        builder.addAlternativeName(name, isCritical: commonName == nil)
        guard let certificate = builder.signed(by: authorityKey) else {
            throw CertificateError(reason: "no certificate can be made (\(OpenSSLErrors.take().text))")
        }
        // An authority may have expired while Sluice runs.
        let validity = start...max(start, end)
        return LeafCertificate(certificate: certificate, key: leafKey, chain: chain, validity: validity)
    }

    private static func commonExtensions(authority: X509Handle, key: PrivateKeyHandle) -> [CertificateExtension]? {
        // The subject key identifier is a hash of the key, so a certificate with nothing but the key will do.
        guard let pointer = X509_new() else { return nil }
        let sample = X509Handle(owning: pointer)
        guard X509_set_pubkey(pointer, key.pointer) == 1 else { return nil }
        var values = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_key_identifier, "hash"),
        ]
        if X509_get0_subject_key_id(authority.pointer) != nil {
            values.append((NID_authority_key_identifier, "keyid"))
        }
        let made = values.compactMap {
            CertificateExtension($0.0, $0.1, subject: sample.pointer, issuer: authority.pointer)
        }
        return made.count == values.count ? made : nil
    }
}
