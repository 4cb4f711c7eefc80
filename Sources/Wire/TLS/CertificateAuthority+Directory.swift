extension CertificateAuthority {
    /// The file in a CA directory that holds certificate and key (mode 0600).
    package static let fileName = "ca.pem"
    /// The file in a CA directory that holds the certificate alone, to be given to clients.
    package static let certificateFileName = "ca-cert.pem"

    /// Loads the authority kept in a directory, or makes one at the first start.
    ///
    /// The directory is created where needed and made private (0700). However many processes start at once, they
    /// all end up with the same authority: the first one to link its file into place wins, the others load it.
    package static func open(directory: String) throws(CertificateFailure) -> CertificateAuthority {
        try CertificateFiles.makePrivateDirectory(directory)
        let file = "\(directory)/\(fileName)"
        let authority: CertificateAuthority
        if let stored = try stored(in: file) {
            authority = stored
        } else {
            let made = try generate()
            if try CertificateFiles.createSecret(file, made.pem(withKey: true)) {
                authority = made
            } else if let winner = try stored(in: file) {
                authority = winner
            } else {
                throw CertificateFailure(path: file, reason: "disappeared while it was read", advice: "Try again.")
            }
        }
        try publishCertificate(of: authority, in: directory)
        return authority
    }

    private static func stored(in file: String) throws(CertificateFailure) -> CertificateAuthority? {
        guard let content = try CertificateFiles.contentIfPresent(of: file) else { return nil }
        try CertificateFiles.restrict(file, to: 0o600)
        return try parse(content, path: file)
    }

    private static func publishCertificate(
        of authority: CertificateAuthority,
        in directory: String
    ) throws(CertificateFailure) {
        let file = "\(directory)/\(certificateFileName)"
        let content = authority.pem(withKey: false)
        if try CertificateFiles.contentIfPresent(of: file) == content { return }
        try CertificateFiles.replace(file, content)
    }
}
