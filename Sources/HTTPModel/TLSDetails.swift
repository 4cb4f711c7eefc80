package struct TLSDetails: Sendable, Hashable, Codable {
    /// As in OpenSSL: `TLSv1.3`.
    package var protocolVersion: String
    /// The IANA name: `TLS_AES_128_GCM_SHA256`.
    package var cipherSuite: String
    /// Server Name Indication.
    package var serverName: String?
    /// By ALPN (RFC 7301): `http/1.1`.
    package var applicationProtocol: String?
    package var resumed: Bool
    /// Leaf first; empty on the client leg.
    package var peerCertificates: [CertificateSummary]
    /// Why verification failed, if the connection continued nevertheless.
    package var verificationFailure: String?
    /// `nil` if the server did not request one, in this handshake or in that of the resumed session.
    package var clientCertificate: ClientCertificateDetails?

    package init(
        protocolVersion: String,
        cipherSuite: String,
        serverName: String? = nil,
        applicationProtocol: String? = nil,
        resumed: Bool = false,
        peerCertificates: [CertificateSummary] = [],
        verificationFailure: String? = nil
    ) {
        self.protocolVersion = protocolVersion
        self.cipherSuite = cipherSuite
        self.serverName = serverName
        self.applicationProtocol = applicationProtocol
        self.resumed = resumed
        self.peerCertificates = peerCertificates
        self.verificationFailure = verificationFailure
    }
}

package struct ClientCertificateDetails: Sendable, Hashable, Codable {
    /// The accepted authorities, each in one line.
    package var authorities: [String]
    package var name: String?
    package var sent: CertificateSummary?
    /// Whether the server requested it in the handshake of the resumed session.
    package var isResumed = false

    package init(authorities: [String], name: String? = nil, sent: CertificateSummary? = nil, isResumed: Bool = false) {
        (self.authorities, self.name, self.sent, self.isResumed) = (authorities, name, sent, isResumed)
    }

    private enum CodingKeys: String, CodingKey {
        case authorities, name, sent
        case isResumed = "resumed"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        authorities = try fields.decode([String].self, forKey: .authorities)
        name = try fields.decodeIfPresent(String.self, forKey: .name)
        sent = try fields.decodeIfPresent(CertificateSummary.self, forKey: .sent)
        isResumed = try fields.decodeIfPresent(Bool.self, forKey: .isResumed) ?? false
    }
}

package struct CertificateSummary: Sendable, Hashable, Codable {
    /// In one line (RFC 2253 order).
    package var subject: String
    /// In one line (RFC 2253 order).
    package var issuer: String
    /// Each as `DNS:…` or `IP:…`.
    package var alternativeNames: [String]
    /// Seconds since 1970.
    package var notBefore: Int64
    /// Seconds since 1970.
    package var notAfter: Int64
    /// SHA-256 over the DER form, in lower-case hexadecimal.
    package var fingerprint: String
    package var staple: StapledStatus?

    package init(
        subject: String,
        issuer: String,
        alternativeNames: [String],
        notBefore: Int64,
        notAfter: Int64,
        fingerprint: String,
        staple: StapledStatus? = nil
    ) {
        self.subject = subject
        self.issuer = issuer
        self.alternativeNames = alternativeNames
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.fingerprint = fingerprint
        self.staple = staple
    }
}
