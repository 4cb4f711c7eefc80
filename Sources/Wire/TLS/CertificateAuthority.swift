internal import COpenSSL
internal import HTTPModel

/// The certificate and key that sign certificates for clients; a plain value for all event loops.
package struct CertificateAuthority: Sendable {
    package let subject: String
    /// In seconds since 1970, as is `notAfter`.
    package let notBefore: Int64
    package let notAfter: Int64
    /// SHA-256 of the DER form, in lower-case hexadecimal.
    package let fingerprint: String
    package let certificateDER: [UInt8]
    /// Leaves the module only as PKCS#12 (``export(_:password:)``).
    let keyDER: [UInt8]
    /// The certificates between an intermediate authority and its root; sent with every leaf.
    let chainDER: [[UInt8]]

    /// Makes a new root: P-256, valid for ten years, with a `label` (by default the machine's name) to tell it from
    /// others.
    package static func generate(label: String? = nil) throws(CertificateError) -> CertificateAuthority {
        ERR_clear_error()
        let now = sluice_now()
        let day: Int64 = 86_400
        guard let key = PrivateKeyHandle.generate(),
            // In the past for clients whose clock is slow.
            var builder = CertificateBuilder(key: key, validFrom: now - day, to: now + 3_652 * day)
        else { throw .openSSL("no CA can be made") }
        let shortID = hexadecimal(randomBytes(4))
        let name = label ?? CertificateFiles.machineName
        // A common name has at most 64 characters (RFC 5280, ub-common-name).
        let commonName = "Sluice CA " + (name.isEmpty ? shortID : "\(name.prefix(40))")
        builder.setSubject(commonName: commonName, organization: "Sluice")
        builder.setIssuerToSubject()
        builder.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        builder.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        builder.add(NID_subject_key_identifier, "hash")
        guard let certificate = builder.signed(by: key) else { throw .openSSL("no CA can be made") }
        return try CertificateAuthority(certificate, key, chain: [], path: nil)
    }

    /// Loads a user's authority: PEM (certificate and key in one file or in two) or PKCS#12; a pipe such as the shell's
    /// `<(…)` may be silent for five seconds. Throws if a file cannot be read, the key does not belong to the
    /// certificate, or the certificate is not an authority or has expired.
    package static func load(
        file: String,
        keyFile: String? = nil,
        password: String? = nil
    ) throws(CertificateError) -> CertificateAuthority {
        let content = try CertificateFiles.content(of: file, takesPipes: true)
        let keyContent = try keyFile.map { path throws(CertificateError) in
            try CertificateFiles.content(of: path, takesPipes: true)
        }
        return try parse(content, path: file, keyContent: keyContent, keyPath: keyFile, password: password)
    }

    static func parse(
        _ content: [UInt8],
        path: String,
        keyContent: [UInt8]? = nil,
        keyPath: String? = nil,
        password: String? = nil
    ) throws(CertificateError) -> CertificateAuthority {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard content.isPEM else { return try parsePKCS12(content, path: path, password: password) }
        let certificates = TrustStore.certificates(pem: content).compactMap { X509Handle(der: $0) }
        let keySource = keyContent ?? content
        guard let certificate = certificates.first else {
            throw CertificateError(path: path, reason: "holds no certificate", advice: usableForms)
        }
        guard let key = PrivateKeyHandle(pem: keySource, password: password) else {
            let errors = OpenSSLErrors.take().text
            let isMissing = !keySource.contains("PRIVATE KEY-----")
            throw CertificateError(
                path: keyPath ?? path,
                reason: isMissing ? "holds no private key" : "the private key cannot be read (\(errors))",
                advice: isMissing
                    ? "Append the CA's key in PEM form, or give it in a separate file."
                    : "If it is encrypted, give its password."
            )
        }
        return try CertificateAuthority(certificate, key, chain: Array(certificates.dropFirst()), path: path)
    }

    private static let usableForms = "Give a PEM file with the CA's certificate and key, or a PKCS#12 file."

    private static func parsePKCS12(
        _ content: [UInt8],
        path: String,
        password: String?
    ) throws(CertificateError) -> CertificateAuthority {
        guard let archive = PKCS12Archive(content) else {
            throw CertificateError(path: path, reason: "is neither PEM nor PKCS#12", advice: usableForms)
        }
        guard let parts = archive.open(password: password) else {
            let text = OpenSSLErrors.take().text
            let advice =
                text.contains("unsupported")
                ? "It uses an old cipher: convert it with `openssl pkcs12 -legacy -in FILE -nodes -out ca.pem`."
                : "Check its password."
            throw CertificateError(path: path, reason: "the archive cannot be opened (\(text))", advice: advice)
        }
        guard let certificate = parts.certificate, let key = parts.key else {
            let reason = "lacks the certificate or the private key"
            throw CertificateError(path: path, reason: reason, advice: "Export the CA again together with its key.")
        }
        return try CertificateAuthority(certificate, key, chain: parts.chain, path: path)
    }

    private init(
        _ certificate: X509Handle,
        _ key: PrivateKeyHandle,
        chain: [X509Handle],
        path: String?
    ) throws(CertificateError) {
        let summary = CertificateSummary(certificate.pointer)
        if let (reason, advice) = Self.problem(certificate.pointer, key.pointer, summary) {
            throw CertificateError(path: path, reason: reason, advice: advice)
        }
        subject = summary.subject
        notBefore = summary.notBefore
        notAfter = summary.notAfter
        fingerprint = summary.fingerprint
        certificateDER = certificate.der
        keyDER = key.der
        let isRoot = X509_self_signed(certificate.pointer, 0) == 1
        // A root is not sent, because clients have it.
        chainDER = isRoot ? [] : [certificate.der] + chain.filter { X509_self_signed($0.pointer, 0) != 1 }.map(\.der)
        ERR_clear_error()
    }

    /// Why the certificate cannot sign others with this key.
    private static func problem(
        _ certificate: OpaquePointer,
        _ key: OpaquePointer,
        _ summary: CertificateSummary
    ) -> (reason: String, advice: String)? {
        if X509_check_private_key(certificate, key) != 1 {
            let reason = "the private key does not belong to the certificate '\(summary.subject)'"
            return (reason, "Give the certificate and the key that were made together.")
        }
        // 1 means basic constraints; clients accept no weaker mark of an authority.
        if X509_check_ca(certificate) != 1 || X509_get_key_usage(certificate) & UInt32(KU_KEY_CERT_SIGN) == 0 {
            let reason = "the certificate '\(summary.subject)' is not a certificate authority"
            return (reason, "Give a certificate with the basic constraint CA:TRUE and the key usage keyCertSign.")
        }
        if summary.notAfter <= sluice_now() {
            let reason = "the CA certificate '\(summary.subject)' has expired"
            return (reason, "Give a valid one, or remove the file and Sluice makes a new one.")
        }
        return nil
    }
}

extension [UInt8] {
    /// Text may precede the first block.
    var isPEM: Bool { contains("-----BEGIN ") }

    func contains(_ text: String) -> Bool {
        let text = [UInt8](text.utf8)
        guard let first = text.first else { return true }
        var rest = self[...]
        while let position = rest.firstIndex(of: first) {
            if rest[position...].starts(with: text) { return true }
            rest = rest[(position + 1)...]
        }
        return false
    }
}
