internal import COpenSSL

/// Why a TLS connection failed, and on which of the proxy's two legs.
package struct TLSError: Error, Sendable, Hashable {
    /// On the client leg we are the TLS server.
    package enum Leg: Sendable, Hashable { case client, upstream }

    package enum Cause: Sendable, Hashable {
        /// With the name of the alert as in RFC 8446 section 6, for example `unknown_ca`.
        case peerAlert(String)
        case certificate(CertificateProblem)
        case closedDuringHandshake, plainHTTP
        /// No secure renegotiation (RFC 5746).
        case legacyRenegotiation
        case dhKeyTooSmall, unsupportedVersion
        /// No common cipher suite, group or signature algorithm.
        case nothingShared
        /// With OpenSSL's reason.
        case protocolViolation(String)
        case invalidHost
        /// Written after our own close.
        case alreadyShutDown
        case resource(String)
    }

    /// Times are in seconds since 1970; `expired` has the end, and `notYetValid` the start of the validity.
    package enum CertificateProblem: Sendable, Hashable {
        case expired(Int64)
        case notYetValid(Int64)
        case selfSigned
        /// With the untrusted authority at the end of the chain.
        case unknownIssuer(String)
        /// With the authority whose certificate was not sent and is not trusted here, and the URL of that certificate.
        case missingIssuer(String, url: String)
        /// According to the server's own OCSP staple; with the time, and a reason if the staple gives one.
        case revoked(Int64, reason: String?)
        case nameMismatch([String])
        /// No host in subjectAltName, maybe addresses; the common name does not count (RFC 9525 section 6.3).
        case noHostName(commonName: String, addresses: [String])
        /// With an authority of the chain whose private key is public.
        case compromisedAuthority(String)
        /// With OpenSSL's reason, for example `ee key too small`.
        case tooWeak(String)
        case other(String)
    }

    package var leg: Leg
    package var cause: Cause
    package var host: String?
    package var openSSLText: String
    package var certificateSent: Bool
    package var certificateAsked = false
    /// The user's name for the client certificate, even if it was not sent.
    package var certificateName: String?

    package init(leg: Leg, cause: Cause, host: String? = nil, openSSLText: String = "", certificateSent: Bool = false) {
        self.leg = leg
        self.cause = cause
        self.host = host
        self.openSSLText = openSSLText
        self.certificateSent = certificateSent
    }

    /// Whether the client probably rejected our certificate: some send an alert, others close the connection.
    package var clientRefusedCertificate: Bool {
        guard leg == .client else { return false }
        switch cause {
        case .peerAlert(let name): return Self.certificateAlerts.contains(name)
        case .closedDuringHandshake: return certificateSent
        default: return false
        }
    }

    /// Whether the client and Sluice share no protocol version, cipher suite or signature algorithm.
    package var clientSharesNothing: Bool {
        guard leg == .client else { return false }
        switch cause {
        case .unsupportedVersion, .nothingShared: return true
        case .peerAlert(let name):
            return ["handshake_failure", "protocol_version", "insufficient_security"].contains(name)
        default: return false
        }
    }

    private static let certificateAlerts: Set<String> = [
        "bad_certificate", "unsupported_certificate", "certificate_revoked", "certificate_expired",
        "certificate_unknown", "unknown_ca",
    ]
}

extension TLSError {
    init(leg: Leg, host: String?, errors: OpenSSLErrors, certificateSent: Bool) {
        let reasons = errors.tlsReasons
        let alert = reasons.lazy.compactMap(Self.alertName).first.map { Cause.peerAlert($0) }
        let cause = alert ?? reasons.lazy.compactMap { Self.knownReasons[$0] }.first ?? .protocolViolation(errors.text)
        self.init(leg: leg, cause: cause, host: host, openSSLText: errors.text, certificateSent: certificateSent)
    }

    private static let knownReasons: [Int32: Cause] = [
        SSL_R_HTTP_REQUEST: .plainHTTP,
        SSL_R_HTTPS_PROXY_REQUEST: .plainHTTP,
        SSL_R_UNSAFE_LEGACY_RENEGOTIATION_DISABLED: .legacyRenegotiation,
        SSL_R_DH_KEY_TOO_SMALL: .dhKeyTooSmall,
        SSL_R_EE_KEY_TOO_SMALL: .certificate(.tooWeak("ee key too small")),
        SSL_R_CA_KEY_TOO_SMALL: .certificate(.tooWeak("ca key too small")),
        SSL_R_UNSUPPORTED_PROTOCOL: .unsupportedVersion,
        SSL_R_WRONG_SSL_VERSION: .unsupportedVersion,
        SSL_R_VERSION_TOO_LOW: .unsupportedVersion,
        SSL_R_NO_PROTOCOLS_AVAILABLE: .unsupportedVersion,
        SSL_R_NO_SHARED_CIPHER: .nothingShared,
        SSL_R_NO_SUITABLE_KEY_SHARE: .nothingShared,
        SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM: .nothingShared,
        SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS: .nothingShared,
    ]

    private static func alertName(_ reason: Int32) -> String? {
        let alert = Int(reason - SSL_AD_REASON_OFFSET)
        guard (1...255).contains(alert) else { return nil }
        return alertNames[alert] ?? "alert_\(alert)"
    }

    /// RFC 8446 section 6 and, for alerts that TLS 1.3 dropped, RFC 5246 section 7.2.
    private static let alertNames: [Int: String] = [
        10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow",
        30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate", 42: "bad_certificate",
        43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
        50: "decode_error", 51: "decrypt_error", 60: "export_restriction", 70: "protocol_version",
        71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
        100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
        111: "certificate_unobtainable", 112: "unrecognized_name", 113: "bad_certificate_status_response",
        114: "bad_certificate_hash_value", 115: "unknown_psk_identity", 116: "certificate_required",
        120: "no_application_protocol",
    ]
}

extension TLSError.CertificateProblem {
    init(code: Int, certificate: OpaquePointer?, names: [String], distrusted: DistrustedKeys) {
        if let certificate, distrusted.contain(keyOf: certificate) {
            self = .compromisedAuthority(CertificateName.subject(of: certificate))
            return
        }
        let text = String(cString: X509_verify_cert_error_string(code))
        switch Int32(truncatingIfNeeded: code) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            self = .expired(certificate.map { sluice_seconds(X509_get0_notAfter($0)) } ?? 0)
        case X509_V_ERR_CERT_NOT_YET_VALID:
            self = .notYetValid(certificate.map { sluice_seconds(X509_get0_notBefore($0)) } ?? 0)
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            self = .unknownIssuer(certificate.map { CertificateName.issuer(of: $0) } ?? "")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            let issuer = certificate.map { CertificateName.issuer(of: $0) } ?? ""
            let url = certificate.flatMap { AccessURLs($0).issuer.first }
            self = url.map { .missingIssuer(issuer, url: $0) } ?? .unknownIssuer(issuer)
        case X509_V_ERR_HOSTNAME_MISMATCH where !names.contains { $0.hasPrefix("DNS:") },
            X509_V_ERR_IP_ADDRESS_MISMATCH where names.isEmpty:
            let commonName = certificate.flatMap { CertificateName.common(of: $0) }
            self = .noHostName(commonName: commonName ?? "", addresses: names)
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .nameMismatch(names)
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: self = .tooWeak(text)
        default: self = .other(text)
        }
    }
}
