internal import COpenSSL

/// Builds and signs one certificate. ``signed(by:)`` fails if a step before it failed.
struct CertificateBuilder {
    private let certificate: X509Handle
    private var succeeded = true

    /// Begins a certificate (version 3) with a random serial number of 128 bits.
    init?(key: PrivateKeyHandle, validFrom start: Int64, to end: Int64) {
        ERR_clear_error()
        guard let pointer = X509_new() else { return nil }
        certificate = X509Handle(owning: pointer)
        check(X509_set_version(pointer, 2))
        check(X509_set_pubkey(pointer, key.pointer))
        check(ASN1_TIME_set(X509_getm_notBefore(pointer), Int(start)))
        check(ASN1_TIME_set(X509_getm_notAfter(pointer), Int(end)))
        setRandomSerial()
    }

    private mutating func setRandomSerial() {
        let number = BN_new()
        defer { BN_free(number) }
        // With the highest bit the number has its full length; RFC 5280 allows 20 bytes.
        check(BN_rand(number, 128, Int32(BN_RAND_TOP_ONE), Int32(BN_RAND_BOTTOM_ANY)))
        check(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.pointer)))
    }

    mutating func setSubject(commonName: String?, organization: String? = nil) {
        let name = X509_get_subject_name(certificate.pointer)
        for (field, value) in [(NID_organizationName, organization), (NID_commonName, commonName)] {
            guard let value else { continue }
            let bytes = Array(value.utf8)
            check(X509_NAME_add_entry_by_NID(name, field, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0))
        }
    }

    mutating func setIssuer(_ issuer: OpaquePointer) {
        check(X509_set_issuer_name(certificate.pointer, X509_get_subject_name(issuer)))
    }

    mutating func setIssuerToSubject() { setIssuer(certificate.pointer) }

    /// Adds an extension in the form of OpenSSL's configuration files; by default this certificate is the issuer.
    mutating func add(_ identifier: Int32, _ value: String, issuer: OpaquePointer? = nil) {
        let subject = certificate.pointer
        guard let made = CertificateExtension(identifier, value, subject: subject, issuer: issuer ?? subject) else {
            succeeded = false
            return
        }
        add(made)
    }

    mutating func add(_ prepared: CertificateExtension) {
        check(X509_add_ext(certificate.pointer, prepared.pointer, -1))
    }

    mutating func addAlternativeName(_ host: HostName, isCritical: Bool) {
        guard let names = GENERAL_NAMES_new(), let name = GENERAL_NAME_new(), let string = ASN1_STRING_new() else {
            succeeded = false
            return
        }
        defer { GENERAL_NAMES_free(names) }
        check(sluice_sk_GENERAL_NAME_push(names, name))
        let (kind, bytes) =
            switch host {
            case .dns(let text): (GEN_DNS, Array(text.utf8))
            case .address(let address): (GEN_IPADD, address)
            }
        check(ASN1_STRING_set(string, bytes, Int32(bytes.count)))
        GENERAL_NAME_set0_value(name, kind, string)
        let value = UnsafeMutableRawPointer(names)
        let flags = UInt(X509V3_ADD_DEFAULT)
        check(X509_add1_ext_i2d(certificate.pointer, NID_subject_alt_name, value, isCritical ? 1 : 0, flags))
    }

    /// `nil` if this or an earlier step failed, with the reason in OpenSSL's queue.
    mutating func signed(by key: PrivateKeyHandle) -> X509Handle? {
        guard succeeded else { return nil }
        // Ed25519 and the like have no separate digest.
        var recommended: Int32 = 0
        let isFixed = EVP_PKEY_get_default_digest_nid(key.pointer, &recommended) == 2 && recommended == NID_undef
        guard X509_sign(certificate.pointer, key.pointer, isFixed ? nil : EVP_sha256()) > 0 else { return nil }
        return certificate
    }

    private mutating func check(_ result: Int32) {
        if result <= 0 { succeeded = false }
    }

    private mutating func check(_ result: UnsafeMutablePointer<ASN1_STRING>?) {
        if result == nil { succeeded = false }
    }
}

final class CertificateExtension {
    let pointer: OpaquePointer

    /// `value` has the form of OpenSSL's configuration files.
    init?(_ identifier: Int32, _ value: String, subject: OpaquePointer, issuer: OpaquePointer) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, subject, nil, nil, 0)
        guard let pointer = X509V3_EXT_nconf_nid(nil, &context, identifier, value) else { return nil }
        self.pointer = pointer
    }

    deinit { X509_EXTENSION_free(pointer) }
}
