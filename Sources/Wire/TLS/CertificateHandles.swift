internal import COpenSSL
internal import HTTPModel
internal import NIOCore

final class X509Handle {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    convenience init?(der: [UInt8]) {
        guard let parsed = decoded(der, { d2i_X509(nil, &$0, $1) }) else { return nil }
        self.init(owning: parsed)
    }

    var der: [UInt8] { encoded { i2d_X509(pointer, $0) } }

    /// Makes a connection show this certificate, with its key and issuers.
    func install(in ssl: OpaquePointer, _ key: PrivateKeyHandle, chain: some Sequence<X509Handle>) -> Bool {
        SSL_use_certificate(ssl, pointer) == 1 && SSL_use_PrivateKey(ssl, key.pointer) == 1
            && chain.allSatisfy { sluice_SSL_add1_chain_cert(ssl, $0.pointer) == 1 }
    }
}

final class PrivateKeyHandle {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    convenience init?(der: [UInt8]) {
        guard let parsed = decoded(der, { d2i_AutoPrivateKey(nil, &$0, $1) }) else { return nil }
        self.init(owning: parsed)
    }

    /// The first key of a PEM file; `nil` with the reason in OpenSSL's queue.
    convenience init?(pem: [UInt8], password: String?) {
        ERR_clear_error()
        let key = readingMemory(pem) { bio in
            // The empty password keeps OpenSSL from asking for one at the terminal.
            (password ?? "").withCString {
                PEM_read_bio_PrivateKey(bio, nil, nil, UnsafeMutableRawPointer(mutating: $0))
            }
        }
        guard let key else { return nil }
        self.init(owning: key)
    }

    static func generate(_ kind: LeafKey.Kind = .ecdsa) -> PrivateKeyHandle? {
        let made =
            switch kind {
            case .ecdsa: sluice_generate_P256()
            case .rsa: sluice_generate_RSA(2_048)
            }
        return made.map { PrivateKeyHandle(owning: $0) }
    }

    var forCertificates: PrivateKeyHandle {
        sluice_copy_as_EC_KEY(pointer).map { PrivateKeyHandle(owning: $0) } ?? self
    }

    var der: [UInt8] { encoded { i2d_PrivateKey(pointer, $0) } }

    var publicDER: [UInt8] { encoded { i2d_PUBKEY(pointer, $0) } }
}

final class PKCS12Archive {
    let pointer: OpaquePointer

    init?(_ content: [UInt8]) {
        guard let pointer = readingMemory(content, { d2i_PKCS12_bio($0, nil) }) else { return nil }
        self.pointer = pointer
    }

    deinit { PKCS12_free(pointer) }

    /// The archive's content; `nil` with the reason in OpenSSL's queue.
    func open(password: String?) -> (certificate: X509Handle?, key: PrivateKeyHandle?, chain: [X509Handle])? {
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        ERR_clear_error()
        guard PKCS12_parse(pointer, password, &key, &certificate, &others) == 1 else { return nil }
        defer { if let others { sluice_sk_X509_pop_free(others) } }
        let chain = certificates(in: others).compactMap { X509_up_ref($0) == 1 ? X509Handle(owning: $0) : nil }
        return (certificate.map { X509Handle(owning: $0) }, key.map { PrivateKeyHandle(owning: $0) }, chain)
    }
}

/// The certificates of one of OpenSSL's lists, which still owns them.
func certificates(in list: OpaquePointer?) -> [OpaquePointer] {
    (0..<max(0, sluice_sk_X509_num(list))).compactMap { sluice_sk_X509_value(list, $0) }
}

func decoded<Value>(_ der: [UInt8], _ decode: (inout UnsafePointer<UInt8>?, Int) -> Value?) -> Value? {
    der.withUnsafeBufferPointer { bytes in
        var position = bytes.baseAddress
        return decode(&position, bytes.count)
    }
}

private func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8] {
    var memory: UnsafeMutablePointer<UInt8>?
    let length = encode(&memory)
    guard length > 0, let memory else { return [] }
    defer { sluice_free(memory) }
    return Array(UnsafeBufferPointer(start: memory, count: Int(length)))
}

/// The SubjectPublicKeyInfo of a certificate.
func publicKeyDER(of certificate: OpaquePointer) -> [UInt8] {
    encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
}

/// The bytes that `write` writes to a BIO.
func writtenToMemory(_ write: (OpaquePointer) -> Void) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_mem()) else { return [] }
    defer { BIO_free(bio) }
    write(bio)
    var data: UnsafeMutablePointer<CChar>?
    let length = sluice_BIO_get_mem_data(bio, &data)
    return Array(UnsafeRawBufferPointer(start: data, count: max(0, length)))
}

func readingMemory<Result>(_ bytes: [UInt8], _ read: (OpaquePointer) -> Result?) -> Result? {
    bytes.withUnsafeBytes { raw in
        guard let bio = BIO_new_mem_buf(raw.baseAddress, Int32(clamping: raw.count)) else { return nil }
        defer { BIO_free(bio) }
        return read(bio)
    }
}

extension CertificateSummary {
    init(_ certificate: OpaquePointer) {
        self.init(
            subject: oneLine(X509_get_subject_name(certificate)),
            issuer: oneLine(X509_get_issuer_name(certificate)),
            alternativeNames: subjectAlternativeNames(of: certificate),
            notBefore: sluice_seconds(X509_get0_notBefore(certificate)),
            notAfter: sluice_seconds(X509_get0_notAfter(certificate)),
            fingerprint: hexadecimal(sha256(of: certificate))
        )
    }
}

func oneLine(_ name: OpaquePointer?) -> String {
    guard let name else { return "" }
    return String(decoding: writtenToMemory { X509_NAME_print_ex($0, name, 0, sluice_NAME_ONE_LINE) }, as: UTF8.self)
}

private func subjectAlternativeNames(of certificate: OpaquePointer) -> [String] {
    guard let names = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) else {
        return []
    }
    defer { GENERAL_NAMES_free(names) }
    return (0..<sluice_sk_GENERAL_NAME_num(names)).compactMap { index in
        guard let name = sluice_sk_GENERAL_NAME_value(names, index) else { return nil }
        switch name.pointee.type {
        case GEN_DNS: return "DNS:" + String(decoding: content(of: name.pointee.d.dNSName), as: UTF8.self)
        case GEN_IPADD: return "IP:" + addressText(content(of: name.pointee.d.iPAddress))
        default: return nil
        }
    }
}

func content(of string: UnsafePointer<ASN1_STRING>?) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
}

private func addressText(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
    return address?.ipAddress ?? hexadecimal(Array(bytes))
}

func sha256(of certificate: OpaquePointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    X509_digest(certificate, EVP_sha256(), &digest, nil)
    return digest
}

func sha256(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    return digest
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

/// A day in words, from seconds since 1970.
func date(_ seconds: Int64) -> String {
    var text = [CChar](repeating: 0, count: 32)
    sluice_date(seconds, &text)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func base64(_ bytes: [UInt8]) -> String {
    // OpenSSL writes a NUL after the text.
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
}

/// Names for sentences about a certificate.
enum CertificateName {
    /// The issuer's common name; without one, the whole name.
    static func issuer(of certificate: OpaquePointer) -> String { short(X509_get_issuer_name(certificate)) }

    static func subject(of certificate: OpaquePointer) -> String { short(X509_get_subject_name(certificate)) }

    /// The certificate at the beginning of these bytes, and its subject; `nil` if its parts are not those of RFC 5280 §4.1.
    /// They are passed over, because OpenSSL 3 takes up to a millisecond for the key.
    static func subject(ofDER bytes: [UInt8]) -> (der: [UInt8], subject: String)? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var place: UnsafePointer<UInt8>? = start
            var (length, tag, kind): (Int, CInt, CInt) = (0, 0, 0)
            var left: Int { bytes.count - (place.map { start.distance(to: $0) } ?? bytes.count) }
            func enter(_ wanted: CInt) -> Bool {
                // Neither an error nor BER's indefinite length.
                ASN1_get_object(&place, &length, &tag, &kind, left) & 0x81 == 0 && tag == wanted
            }
            func skip(_ wanted: CInt) -> Bool {
                guard enter(wanted) else { return false }
                place? += length
                return true
            }
            guard enter(V_ASN1_SEQUENCE), let end = place.map({ start.distance(to: $0) + length }),
                enter(V_ASN1_SEQUENCE), let content = place.map({ start.distance(to: $0) + length })
            else { return nil }
            // The version may be left out; then the serial number, the algorithm, the issuer and the validity.
            let version = place
            if !skip(0) { place = version }
            guard skip(V_ASN1_INTEGER), skip(V_ASN1_SEQUENCE), skip(V_ASN1_SEQUENCE), skip(V_ASN1_SEQUENCE),
                let name = d2i_X509_NAME(nil, &place, left)
            else { return nil }
            defer { X509_NAME_free(name) }
            // The key and extensions; then the algorithm and the signature.
            guard skip(V_ASN1_SEQUENCE), bytes.count - left <= content else { return nil }
            place = start + content
            guard skip(V_ASN1_SEQUENCE), skip(V_ASN1_BIT_STRING), bytes.count - left == end else { return nil }
            return (Array(bytes[..<end]), short(name))
        }
    }

    static func common(of certificate: OpaquePointer) -> String? { common(X509_get_subject_name(certificate)) }

    private static func short(_ name: OpaquePointer?) -> String { common(name) ?? oneLine(name) }

    private static func common(_ name: OpaquePointer?) -> String? {
        let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
        return String(decoding: content(of: X509_NAME_ENTRY_get_data(entry)), as: UTF8.self)
    }
}
