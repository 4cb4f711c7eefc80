extension CertificateAuthority {
    /// With certificate and key (mode 0600).
    package static let fileName = "ca.pem"
    /// With the certificate alone, for clients.
    package static let certificateFileName = "ca-cert.pem"

    /// Loads the authority of a directory, which is made private (0700), or makes one. Of processes that start at once,
    /// the first one to link its file into place wins, and the others load that one.
    package static func open(directory: String) throws(CertificateError) -> CertificateAuthority {
        try CertificateFiles.makePrivateDirectory(directory)
        let authority = try storedOrMade(in: "\(directory)/\(fileName)")
        let content = authority.pem(withKey: false)
        let file = "\(directory)/\(certificateFileName)"
        if try CertificateFiles.contentIfPresent(of: file) != content { try CertificateFiles.replace(file, content) }
        return authority
    }

    private static func storedOrMade(in file: String) throws(CertificateError) -> CertificateAuthority {
        if let stored = try stored(in: file) { return stored }
        let made = try generate()
        if try CertificateFiles.createSecret(file, made.pem(withKey: true)) { return made }
        if let winner = try stored(in: file) { return winner }
        throw CertificateError(path: file, reason: "disappeared while it was read", advice: "Try again.")
    }

    private static func stored(in file: String) throws(CertificateError) -> CertificateAuthority? {
        guard let content = try CertificateFiles.contentIfPresent(of: file) else { return nil }
        try CertificateFiles.restrict(file, to: 0o600)
        return try parse(content, path: file)
    }
}
