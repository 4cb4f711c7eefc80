internal import COpenSSL

/// The private key that all minted certificates of one run share, to save time.
package struct LeafKey: Sendable {
    package enum Kind: Sendable, Hashable {
        /// On the curve P-256.
        case ecdsa
        /// With 2,048 bits, for clients without ECDSA.
        case rsa
    }

    let kind: Kind
    let der: [UInt8]

    /// Makes a new key; RSA takes some 100 ms.
    package init(_ kind: Kind = .ecdsa) throws(CertificateError) {
        ERR_clear_error()
        guard let key = PrivateKeyHandle.generate(kind) else { throw .openSSL("no key can be made") }
        self.kind = kind
        der = key.der
    }

    /// The SHA-256 of the SubjectPublicKeyInfo (RFC 7469 section 2.4).
    package var publicKeyHash: [UInt8]? { PrivateKeyHandle(der: der).map { sha256(of: $0.publicDER) } }
}

/// A certificate for one host; belongs to its mint's event loop.
package final class LeafCertificate {
    /// In seconds since 1970, including the last second.
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

    func install(in ssl: OpaquePointer) -> Bool { certificate.install(in: ssl, key, chain: chain) }
}

/// Makes certificates for requested hosts, and keeps the latest; belongs to one event loop.
package final class CertificateMint {
    private let authority: X509Handle
    private let authorityKey: PrivateKeyHandle
    private let authorityNotAfter: Int64
    private let chain: [X509Handle]
    private let cacheCapacity: Int
    private var leaves: [LeafKey.Kind: Leaves] = [:]

    private struct Leaves {
        let key: PrivateKeyHandle
        let commonExtensions: [CertificateExtension]
        var cache: RecencyCache<HostName, LeafCertificate>
    }

    private static let day: Int64 = 86_400
    /// Browsers refuse certificates that are valid for more than 398 days, and from March 2026 on for more than 200.
    private static let validDays: Int64 = 180

    /// Keeps `cacheCapacity` certificates for each kind of key.
    package init(
        authority: CertificateAuthority,
        leafKey: LeafKey,
        cacheCapacity: Int = 1_000
    ) throws(CertificateError) {
        ERR_clear_error()
        let chain = authority.chainDER.compactMap { X509Handle(der: $0) }
        guard let certificate = X509Handle(der: authority.certificateDER),
            let authorityKey = PrivateKeyHandle(der: authority.keyDER)
        else { throw .openSSL("the CA cannot be used") }
        self.authority = certificate
        self.authorityKey = authorityKey
        self.chain = chain
        self.cacheCapacity = cacheCapacity
        authorityNotAfter = authority.notAfter
        try use(leafKey)
    }

    package func has(_ kind: LeafKey.Kind) -> Bool { leaves[kind] != nil }

    /// Adds a key to mint with; only the first key of each kind is used.
    package func use(_ leafKey: LeafKey) throws(CertificateError) {
        if has(leafKey.kind) { return }
        guard let key = PrivateKeyHandle(der: leafKey.der), let extensions = commonExtensions(leafKey.kind, key) else {
            throw .openSSL("the CA cannot be used")
        }
        leaves[leafKey.kind] = Leaves(
            key: leafKey.kind == .ecdsa ? key.forCertificates : key,
            commonExtensions: extensions,
            cache: RecencyCache(capacity: cacheCapacity)
        )
        ERR_clear_error()
    }

    /// The certificate for a DNS name or an IP address. Throws for text that no certificate can name: empty, too long,
    /// with white space or control characters. `now` is in seconds since 1970; the clock may be set back.
    package func certificate(
        for host: String,
        key: LeafKey.Kind = .ecdsa,
        now: Int64? = nil
    ) throws(CertificateError) -> LeafCertificate {
        let now = now ?? sluice_now()
        guard let name = HostName(host) else {
            throw CertificateError(reason: "no certificate can be made for the host name '\(host.prefix(300))'")
        }
        if let kept = leaves[key]?.cache.value(for: name), kept.validity.lowerBound <= now,
            kept.validity.upperBound > now + Self.day
        {
            return kept
        }
        guard let minting = leaves[key] else { throw CertificateError(reason: "the mint has no key of this kind") }
        let minted = try mint(name, with: minting, now: now)
        leaves[key]?.cache.store(minted, for: name)
        return minted
    }

    private func mint(_ name: HostName, with leaves: Leaves, now: Int64) throws(CertificateError) -> LeafCertificate {
        // In the past for clients whose clock is slow.
        let start = now - Self.day
        // RFC 5280 section 4.1.2.5 includes the last second.
        let end = min(start + Self.validDays * Self.day - 1, authorityNotAfter)
        guard var builder = CertificateBuilder(key: leaves.key, validFrom: start, to: end) else {
            throw .openSSL("no certificate can be made")
        }
        // A common name has at most 64 characters; without one the alternative name is critical (RFC 5280 4.2.1.6).
        var commonName: String?
        if case .dns(let text) = name, text.utf8.count <= 64 { commonName = text }
        builder.setSubject(commonName: commonName)
        builder.setIssuer(authority.pointer)
        for prepared in leaves.commonExtensions { builder.add(prepared) }
        builder.addAlternativeName(name, isCritical: commonName == nil)
        guard let certificate = builder.signed(by: authorityKey) else { throw .openSSL("no certificate can be made") }
        // The authority may have expired in the meantime.
        let validity = start...max(start, end)
        return LeafCertificate(certificate: certificate, key: leaves.key, chain: chain, validity: validity)
    }

    private func commonExtensions(_ kind: LeafKey.Kind, _ key: PrivateKeyHandle) -> [CertificateExtension]? {
        // A sample certificate is enough: the subject key identifier needs only the key.
        guard let pointer = X509_new() else { return nil }
        let sample = X509Handle(owning: pointer)
        guard X509_set_pubkey(pointer, key.pointer) == 1 else { return nil }
        var values = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            // Old clients encrypt to an RSA key.
            (NID_key_usage, "critical,digitalSignature" + (kind == .rsa ? ",keyEncipherment" : "")),
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
