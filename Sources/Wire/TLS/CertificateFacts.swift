internal import COpenSSL
package import HTTPModel

/// Facts for the check of a server's certificate, in addition to ``CertificateSummary``.
package struct CertificateFacts: Sendable, Hashable {
    package var summary: CertificateSummary
    /// The subject's common name; without one, the whole name.
    package var name: String
    /// The issuer's common name; without one, the whole name.
    package var issuerName: String
    /// `RSA`, `EC`, `Ed25519`, or OpenSSL's name.
    package var keyType: String
    /// For example `prime256v1`; `nil` for keys without a curve.
    package var curve: String?
    package var keyBits: Int
    /// For example `sha256WithRSAEncryption`.
    package var signatureAlgorithm: String
    /// For example `SHA256`; `nil` if the algorithm has none.
    package var signatureDigest: String?
    /// URLs of the issuer's certificate (AIA, RFC 5280 section 4.2.2.1).
    package var issuerURLs: [String] = []
    package var statusURLs: [String] = []
    package var isAuthority = false
    package var isSelfIssued = false
    /// Whether its extended key usage includes servers, or is missing (RFC 5280 section 4.2.1.12).
    package var isForServers = true
    /// Whether its extended key usage includes servers.
    package var namesServerUsage = true
    /// Whether the server must staple an OCSP answer (RFC 7633).
    package var demandsStaple = false
}

extension CertificateFacts {
    init(_ certificate: OpaquePointer) {
        let key = X509_get0_pubkey(certificate)
        let signature = X509_get_signature_nid(certificate)
        let accesses = AccessURLs(certificate)
        let flags = X509_get_extension_flags(certificate)
        // All bits are set if there is no such extension.
        let usages = X509_get_extended_key_usage(certificate)
        self.init(
            summary: CertificateSummary(certificate),
            name: CertificateName.subject(of: certificate),
            issuerName: CertificateName.issuer(of: certificate),
            keyType: CertificateFacts.keyType(key),
            curve: CertificateFacts.curve(key),
            keyBits: Int(key.map { EVP_PKEY_get_bits($0) } ?? 0),
            signatureAlgorithm: OBJ_nid2ln(signature).map { String(cString: $0) } ?? "unknown",
            signatureDigest: CertificateFacts.digest(certificate),
            issuerURLs: accesses.issuer,
            statusURLs: accesses.status,
            isAuthority: X509_check_ca(certificate) > 0,
            isSelfIssued: flags & UInt32(EXFLAG_SI) != 0,
            isForServers: usages & UInt32(XKU_SSL_SERVER | XKU_ANYEKU) != 0,
            namesServerUsage: usages != .max && usages & UInt32(XKU_SSL_SERVER) != 0,
            demandsStaple: X509_get_ext_by_NID(certificate, NID_tlsfeature, -1) >= 0
        )
        ERR_clear_error()
    }

    private static func keyType(_ key: OpaquePointer?) -> String {
        guard let key else { return "unknown" }
        return switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: "RSA"
        case EVP_PKEY_EC: "EC"
        case EVP_PKEY_ED25519: "Ed25519"
        case EVP_PKEY_ED448: "Ed448"
        case EVP_PKEY_DSA: "DSA"
        default: EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        }
    }

    private static func curve(_ key: OpaquePointer?) -> String? {
        guard let key, EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return nil }
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1, length < name.count else { return nil }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func digest(_ certificate: OpaquePointer) -> String? {
        var digest: Int32 = 0
        guard X509_get_signature_info(certificate, &digest, nil, nil, nil) == 1, digest != NID_undef else { return nil }
        return OBJ_nid2sn(digest).map { String(cString: $0) }
    }
}

struct AccessURLs {
    private(set) var issuer: [String] = []
    private(set) var status: [String] = []

    private static let limit = 4

    init(_ certificate: OpaquePointer) {
        guard let list = X509_get_ext_d2i(certificate, NID_info_access, nil, nil).map({ OpaquePointer($0) }) else {
            return
        }
        defer { AUTHORITY_INFO_ACCESS_free(list) }
        for index in 0..<max(0, sluice_sk_ACCESS_DESCRIPTION_num(list)) {
            guard let access = sluice_sk_ACCESS_DESCRIPTION_value(list, index), let place = access.pointee.location,
                place.pointee.type == GEN_URI
            else { continue }
            let text = String(decoding: content(of: place.pointee.d.uniformResourceIdentifier), as: UTF8.self)
            switch OBJ_obj2nid(access.pointee.method) {
            case NID_ad_ca_issuers where issuer.count < AccessURLs.limit: issuer.append(text)
            case NID_ad_OCSP where status.count < AccessURLs.limit: status.append(text)
            default: break
            }
        }
    }
}

package struct ChainProblem: Sendable, Hashable {
    /// The position in the chain; 0 is the server's own certificate.
    package var depth: Int
    package var problem: TLSError.CertificateProblem
}
