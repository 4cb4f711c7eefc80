internal import COpenSSL
import Text

extension CertificateAuthority {
    /// `p12` is PKCS#12 with the private key; `mobileconfig` a configuration profile for iOS and macOS.
    package enum ExportFormat: String, Sendable, CaseIterable { case pem, der, p12, mobileconfig }

    package var certificatePEM: String { String(decoding: pem(withKey: false), as: UTF8.self) }

    /// The password protects the key in a PKCS#12 file.
    package func export(_ format: ExportFormat, password: String = "") throws(CertificateError) -> [UInt8] {
        switch format {
        case .pem: pem(withKey: false)
        case .der: certificateDER
        case .p12: try pkcs12(password: password)
        case .mobileconfig: Array(configurationProfile.utf8)
        }
    }

    /// The stored form: the certificate, its chain, the key.
    func pem(withKey: Bool) -> [UInt8] {
        writtenToMemory { bio in
            let certificates = withKey ? [certificateDER] + chainDER.filter { $0 != certificateDER } : [certificateDER]
            for der in certificates {
                guard let certificate = X509Handle(der: der) else { continue }
                PEM_write_bio_X509(bio, certificate.pointer)
            }
            if withKey, let key = PrivateKeyHandle(der: keyDER) {
                PEM_write_bio_PrivateKey(bio, key.pointer, nil, nil, 0, nil, nil)
            }
        }
    }

    private func pkcs12(password: String) throws(CertificateError) -> [UInt8] {
        ERR_clear_error()
        guard let certificate = X509Handle(der: certificateDER), let key = PrivateKeyHandle(der: keyDER),
            // AES-256-CBC and PBKDF2, OpenSSL's defaults.
            let archive = PKCS12_create(password, "Sluice CA", key.pointer, certificate.pointer, nil, 0, 0, 0, 0, 0)
        else { throw .openSSL("no PKCS#12 archive can be made") }
        defer { PKCS12_free(archive) }
        return writtenToMemory { i2d_PKCS12_bio($0, archive) }
    }

    /// A profile with `com.apple.security.root`. Its identifiers come from the fingerprint, so a new installation
    /// replaces an earlier one.
    private var configurationProfile: String {
        let name = (subject.split(separator: ",").first.map { String($0.dropFirst(3)) } ?? subject).markupEscaped
        let short = fingerprint.prefix(16)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>PayloadType</key><string>Configuration</string>
                <key>PayloadVersion</key><integer>1</integer>
                <key>PayloadIdentifier</key><string>sluice.ca.\(short)</string>
                <key>PayloadUUID</key><string>\(identifier(from: fingerprint.prefix(32)))</string>
                <key>PayloadDisplayName</key><string>\(name)</string>
                <key>PayloadDescription</key><string>Lets this device trust the certificates that Sluice makes. \
            After installing, turn on full trust for it in Settings, General, About.</string>
                <key>PayloadContent</key>
                <array>
                    <dict>
                        <key>PayloadType</key><string>com.apple.security.root</string>
                        <key>PayloadVersion</key><integer>1</integer>
                        <key>PayloadIdentifier</key><string>sluice.ca.\(short).certificate</string>
                        <key>PayloadUUID</key><string>\(identifier(from: fingerprint.suffix(32)))</string>
                        <key>PayloadDisplayName</key><string>\(name)</string>
                        <key>PayloadCertificateFileName</key><string>sluice-ca.cer</string>
                        <key>PayloadContent</key>
                        <data>\(base64(certificateDER))</data>
                    </dict>
                </array>
            </dict>
            </plist>

            """
    }

    /// A UUID (RFC 9562, version 8: custom content) of 32 hexadecimal digits.
    private func identifier(from digits: Substring) -> String {
        var text = Array(digits.uppercased())
        text[12] = "8"
        text[16] = "A"
        for position in [20, 16, 12, 8] { text.insert("-", at: position) }
        return String(text)
    }
}
