internal import COpenSSL

extension TrustStore {
    /// Oracle's attribute for a trusted certificate, which Java requires.
    private static let trustedKeyUsage = "2.16.840.1.113894.746875.1.1"
    /// Trusted for every use (`anyExtendedKeyUsage`, RFC 5280 section 4.2.1.12).
    private static let anyUsage = "2.5.29.37.0"
    /// Rounds of key derivation for the MAC: OpenSSL's default, under 2 ms for each start of Java.
    private static let rounds: Int32 = 2_048

    /// A PKCS#12 file for Java (`javax.net.ssl.trustStore`): unencrypted, with a MAC of SHA-1, which every Java since 8
    /// reads, while newer forms need 8u301 or 11.0.12.
    package func pkcs12(password: String) throws(CertificateError) -> [UInt8] {
        ERR_clear_error()
        let content = archive(password).map { archive in
            defer { PKCS12_free(archive) }
            return writtenToMemory { i2d_PKCS12_bio($0, archive) }
        }
        guard let content, !content.isEmpty else { throw .openSSL("no PKCS#12 trust store can be made") }
        return content
    }

    /// The caller must free the result.
    private func archive(_ password: String) -> OpaquePointer? {
        var bags: OpaquePointer?
        var safes: OpaquePointer?
        defer {
            OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) }
            OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) }
        }
        guard !entries.isEmpty, let usage = OBJ_txt2obj(Self.anyUsage, 1) else { return nil }
        defer { ASN1_OBJECT_free(usage) }
        bags = OPENSSL_sk_new_null()
        for entry in entries where !add(entry, usage, to: bags) { return nil }
        // -1 means no encryption.
        guard PKCS12_add_safe(&safes, bags, -1, 0, nil) == 1,
            let archive = PKCS12_add_safes(safes, NID_pkcs7_data)
        else { return nil }
        if PKCS12_set_mac(archive, password, -1, nil, 0, Self.rounds, EVP_sha1()) == 1 { return archive }
        PKCS12_free(archive)
        return nil
    }

    /// Puts a certificate into a bag as it is, because OpenSSL 3 takes up to a millisecond to read its key.
    private func add(_ entry: Entry, _ usage: OpaquePointer, to bags: OpaquePointer?) -> Bool {
        guard let value = decoded(entry.der, { d2i_ASN1_TYPE(nil, &$0, $1) }) else { return false }
        defer { ASN1_TYPE_free(value) }
        guard let bag = PKCS12_item_pack_safebag(value, ASN1_ANY_it(), NID_x509Certificate, NID_certBag) else {
            return false
        }
        guard OPENSSL_sk_push(bags, UnsafeRawPointer(bag)) > 0 else {
            PKCS12_SAFEBAG_free(bag)
            return false
        }
        // -1 means an ASN.1 object, not its bytes.
        let anyUsage = UnsafePointer<UInt8>(usage)
        return PKCS12_add_friendlyname_utf8(bag, entry.name, -1) == 1
            && PKCS12_add1_attr_by_txt(bag, Self.trustedKeyUsage, V_ASN1_OBJECT, anyUsage, -1) == 1
    }
}
