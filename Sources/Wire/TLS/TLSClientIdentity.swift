internal import COpenSSL
package import HTTPModel

/// A client certificate with its key, for servers that request one; a plain value whose key never leaves the module.
package struct TLSClientIdentity: Sendable, Hashable {
    package let name: String
    package let summary: CertificateSummary
    private let certificateDER: [UInt8]
    private let keyDER: [UInt8]
    private let chainDER: [[UInt8]]

    package enum Problem: Error, Sendable, Hashable {
        /// No password was given for an encrypted key.
        case needsPassword(path: String)
        case unusable(CertificateError)
        case wrongPassword(CertificateError)
    }

    /// Reads a certificate with its issuers and its key: PKCS #12, or PEM in one file or in two.
    package static func load(
        name: String,
        file: String,
        keyFile: String? = nil,
        password: String? = nil
    ) throws(Problem) -> TLSClientIdentity {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let parts: Parts
        let content = try read(file)
        if content.isPEM {
            parts = try pem(content, file, keyFile, password)
        } else if let keyFile {
            let advice = "Name it under 'file' if it is PKCS #12, without \(keyFile)."
            throw unusable(file, "is not a certificate in PEM", advice)
        } else {
            parts = try pkcs12(content, file, password)
        }
        return try TLSClientIdentity(name, parts, file, keyFile)
    }

    private typealias Parts = (certificate: X509Handle, key: PrivateKeyHandle, chain: [X509Handle])

    private init(_ name: String, _ parts: Parts, _ file: String, _ keyFile: String?) throws(Problem) {
        let certificate = parts.certificate.pointer
        guard X509_check_private_key(certificate, parts.key.pointer) == 1 else {
            let text = "the key\(keyFile.map { " in \($0)" } ?? "") does not belong to the certificate"
            throw Self.unusable(file, text, "Give the key of this certificate.")
        }
        summary = CertificateSummary(certificate)
        let now = sluice_now()
        guard summary.notAfter >= now else {
            let text = "the certificate of \(summary.subject) expired on \(date(summary.notAfter))"
            throw Self.unusable(file, text, "Renew it.")
        }
        guard summary.notBefore <= now else {
            let text = "the certificate of \(summary.subject) is valid only from \(date(summary.notBefore))"
            throw Self.unusable(file, text, "Check this machine's clock.")
        }
        self.name = name
        (certificateDER, keyDER, chainDER) = (parts.certificate.der, parts.key.der, parts.chain.map(\.der))
    }

    private static func read(_ path: String) throws(Problem) -> [UInt8] {
        do throws(CertificateError) {
            return try CertificateFiles.content(of: path)
        } catch {
            throw .unusable(error)
        }
    }

    private static func unusable(_ path: String, _ reason: String, _ advice: String) -> Problem {
        .unusable(CertificateError(path: path, reason: reason, advice: advice))
    }

    private static func pem(
        _ content: [UInt8],
        _ file: String,
        _ keyFile: String?,
        _ password: String?
    ) throws(Problem) -> Parts {
        let certificates = TrustStore.certificates(pem: content).compactMap { X509Handle(der: $0) }
        guard let certificate = certificates.first else {
            let advice = "Give the certificate in PEM form, or PKCS #12."
            throw unusable(file, "holds no certificate that can be read", advice)
        }
        let keyPath = keyFile ?? file
        let keyContent = try keyFile.map(read) ?? content
        guard keyContent.contains("PRIVATE KEY-----") else {
            throw unusable(keyPath, "holds no private key", "Name the file with the key: 'certificate' and 'key'.")
        }
        let isEncrypted = keyContent.contains("ENCRYPTED")
        if isEncrypted, password == nil { throw .needsPassword(path: keyPath) }
        guard let key = PrivateKeyHandle(pem: keyContent, password: password) else {
            let reason = OpenSSLErrors.take().text
            if isEncrypted { throw wrongPassword(keyPath, "the password is wrong for the private key (\(reason))") }
            throw unusable(keyPath, "the private key cannot be read (\(reason))", "Convert it to PEM.")
        }
        // Some files have the issuers first.
        let own = certificates.first { X509_check_private_key($0.pointer, key.pointer) == 1 } ?? certificate
        ERR_clear_error()
        return (own, key, certificates.filter { $0 !== own })
    }

    private static func wrongPassword(_ path: String, _ reason: String) -> Problem {
        let advice = "Check the password in 'password-file'; its first line counts."
        return .wrongPassword(CertificateError(path: path, reason: reason, advice: advice))
    }

    private static func pkcs12(_ content: [UInt8], _ path: String, _ password: String?) throws(Problem) -> Parts {
        guard let archive = PKCS12Archive(content) else {
            let forms = "Give the certificate and its key as PKCS #12 (.p12, .pfx) or in PEM form."
            throw unusable(path, "is neither PEM nor PKCS #12", forms)
        }
        let pointer = archive.pointer
        ERR_clear_error()
        if password == nil, PKCS12_mac_present(pointer) == 1, PKCS12_verify_mac(pointer, nil, 0) != 1,
            PKCS12_verify_mac(pointer, "", 0) != 1
        {
            throw .needsPassword(path: path)
        }
        guard let parts = archive.open(password: password ?? "") else {
            let text = OpenSSLErrors.take().text
            if text.contains("unsupported") {
                let advice = "Convert it: openssl pkcs12 -legacy -in OLD.p12 -nodes -out NEW.pem, and name NEW.pem."
                throw unusable(path, "it uses an old cipher that OpenSSL no longer reads (\(text))", advice)
            }
            throw wrongPassword(path, "the password is wrong (\(text))")
        }
        guard let certificate = parts.certificate, let key = parts.key else {
            let advice = "Export it again, the certificate together with its key."
            throw unusable(path, "lacks the certificate or the private key", advice)
        }
        return (certificate, key, parts.chain)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(summary.fingerprint) }

    func install(in ssl: OpaquePointer) -> Bool {
        guard let certificate = X509Handle(der: certificateDER), let key = PrivateKeyHandle(der: keyDER) else {
            return false
        }
        return certificate.install(in: ssl, key, chain: chainDER.lazy.compactMap { X509Handle(der: $0) })
    }
}

extension TLSSession {
    func showCertificate() {
        certificateAuthorities = authorityNames
        certificateAsked = true
        if let identity, !identity.install(in: ssl) { ERR_clear_error() }
    }

    private static let mostAuthorities = 100

    /// The authorities that the server accepts; empty if it does not say.
    private var authorityNames: [String] {
        let list = SSL_get0_peer_CA_list(ssl)
        let count = min(Int(max(0, sluice_sk_X509_NAME_num(list))), Self.mostAuthorities)
        return (0..<count).compactMap { index in
            sluice_sk_X509_NAME_value(list, CInt(index)).map { oneLine($0) }
        }
    }
}
