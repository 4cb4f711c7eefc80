internal import COpenSSL
internal import HTTPModel

/// Checks the OCSP answer that a server stapled to its certificate; contacts no responder.
enum StapleReader {
    /// The accepted clock difference in seconds.
    private static let skew = 300

    /// `nil` if the server sent no staple. A staple must be signed by a trusted authority (RFC 6960 section 3.2).
    static func status(of ssl: OpaquePointer) -> StapledStatus? {
        var bytes: UnsafePointer<UInt8>?
        let length = sluice_SSL_get_staple(ssl, &bytes)
        guard length > 0, let bytes else { return nil }
        ERR_clear_error()
        defer { ERR_clear_error() }
        var position: UnsafePointer<UInt8>? = bytes
        guard let response = d2i_OCSP_RESPONSE(nil, &position, length) else { return .unusable("it is malformed") }
        defer { OCSP_RESPONSE_free(response) }
        let outcome = OCSP_response_status(response)
        guard outcome == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            return .unusable("the responder answered '\(String(cString: OCSP_response_status_str(Int(outcome))))'")
        }
        guard let basic = OCSP_response_get1_basic(response) else { return .unusable("it is malformed") }
        defer { OCSP_BASICRESP_free(basic) }
        return status(in: basic, ssl)
    }

    private static func status(in basic: OpaquePointer, _ ssl: OpaquePointer) -> StapledStatus {
        // The verified chain also has the authority that the server did not send.
        let sent = SSL_get_peer_cert_chain(ssl)
        let chain = SSL_get0_verified_chain(ssl) ?? sent
        guard let leaf = sluice_sk_X509_value(sent, 0) else { return .unusable("there is no certificate") }
        guard let issuer = issuer(of: leaf, in: [chain, sent]) else {
            return .unusable("the authority that issued the certificate is not known")
        }
        guard let single = entry(for: leaf, issuer, in: basic) else {
            return .unusable("it is for a different certificate")
        }
        var reason: Int32 = 0
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var from: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var until: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let answer = OCSP_single_get0_status(single, &reason, &revokedAt, &from, &until)
        var status = StapledStatus(
            .unusable,
            validFrom: from.map { sluice_general_seconds($0) },
            validUntil: until.map { sluice_general_seconds($0) }
        )
        let store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl))
        guard OCSP_basic_verify(basic, chain, store, 0) == 1 else {
            status.reason = "its signature is not from a trusted authority"
            return status
        }
        guard OCSP_check_validity(from, until, skew, -1) == 1 else {
            status.reason = "it is out of date"
            return status
        }
        switch answer {
        case V_OCSP_CERTSTATUS_GOOD: status.state = .good
        case V_OCSP_CERTSTATUS_REVOKED:
            status.state = .revoked
            status.revokedAt = revokedAt.map { sluice_general_seconds($0) }
            // -1 means no reason.
            if reason >= 0 { status.reason = String(cString: OCSP_crl_reason_str(Int(reason))) }
        case V_OCSP_CERTSTATUS_UNKNOWN: status.state = .unknown
        default: status.reason = "it does not mention the certificate"
        }
        return status
    }

    private static func issuer(of leaf: OpaquePointer, in chains: [OpaquePointer?]) -> OpaquePointer? {
        chains.lazy.flatMap(certificates).first { X509_check_issued($0, leaf) == Int32(X509_V_OK) }
    }

    /// The entry for a certificate; its ID may use any digest.
    private static func entry(
        for leaf: OpaquePointer,
        _ issuer: OpaquePointer,
        in basic: OpaquePointer
    ) -> OpaquePointer? {
        for index in 0..<max(0, OCSP_resp_count(basic)) {
            guard let single = OCSP_resp_get0(basic, index), let named = OCSP_SINGLERESP_get0_id(single) else {
                continue
            }
            var digest: OpaquePointer?
            guard OCSP_id_get0_info(nil, &digest, nil, nil, named) == 1,
                let method = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(digest))),
                let wanted = OCSP_cert_to_id(method, leaf, issuer)
            else { continue }
            defer { OCSP_CERTID_free(wanted) }
            if OCSP_id_cmp(wanted, named) == 0 { return single }
        }
        return nil
    }
}

extension StapledStatus {
    fileprivate static func unusable(_ reason: String) -> StapledStatus { StapledStatus(.unusable, reason: reason) }
}
