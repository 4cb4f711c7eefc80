/// What one TLS handshake came to: the facts that a session file keeps for a leg.
package struct TLSDetails: Sendable, Hashable, Codable {
    /// The protocol version as OpenSSL names it, for example `TLSv1.3`.
    package var protocolVersion: String
    /// The cipher suite's standard (IANA) name, for example `TLS_AES_128_GCM_SHA256`.
    package var cipherSuite: String
    /// The name sent in (client leg) or by us (upstream leg) as Server Name Indication; `nil` if none was.
    package var serverName: String?
    /// The protocol chosen by ALPN (RFC 7301), for example `http/1.1`; `nil` if none was.
    package var applicationProtocol: String?
    package var resumed: Bool
    /// The peer's certificates, leaf first; empty on the client leg, if no certificate is asked for.
    package var peerCertificates: [CertificateSummary]
    /// Why verification of the peer failed although the connection was allowed to go on; `nil` when it passed.
    package var verificationFailure: String?
    /// That the server asked for a certificate of ours, and what it got, in this handshake or in the one that it
    /// resumed; `nil` if it did not ask.
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

/// The client certificate that a server asked for and received.
package struct ClientCertificateDetails: Sendable, Hashable, Codable {
    /// The names of the authorities whose certificates it takes, each in one line; empty if it did not say.
    package var authorities: [String]
    /// What the profile calls the certificate that was sent; `nil` if none was.
    package var name: String?
    /// The certificate that was sent.
    package var sent: CertificateSummary?
    /// Whether all that was in the handshake whose session this one resumed: nothing was asked or sent again.
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

/// The parts of a certificate that interest developers.
package struct CertificateSummary: Sendable, Hashable, Codable {
    /// The subject in one line (RFC 2253 order).
    package var subject: String
    /// The issuer in one line (RFC 2253 order).
    package var issuer: String
    /// The subject alternative names, each as `DNS:…` or `IP:…`.
    package var alternativeNames: [String]
    /// Start of validity, seconds since 1970.
    package var notBefore: Int64
    /// End of validity, seconds since 1970.
    package var notAfter: Int64
    /// SHA-256 over the DER form, in lower-case hexadecimal.
    package var fingerprint: String
    /// What the server stapled to this certificate about its revocation; `nil` if it stapled nothing.
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
