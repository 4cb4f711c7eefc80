/// What one TLS handshake came to: the facts that a session file keeps for a leg.
public struct TLSDetails: Sendable, Hashable, Codable {
    /// The protocol version as OpenSSL names it, for example `TLSv1.3`.
    public var protocolVersion: String
    /// The cipher suite's standard (IANA) name, for example `TLS_AES_128_GCM_SHA256`.
    public var cipherSuite: String
    /// The name sent in (client leg) or by us (upstream leg) as Server Name Indication; `nil` where none was.
    public var serverName: String?
    /// The protocol chosen by ALPN (RFC 7301), for example `http/1.1`; `nil` where none was.
    public var applicationProtocol: String?
    /// Whether the handshake resumed an earlier session.
    public var resumed: Bool
    /// The peer's certificates, leaf first; empty on the client leg, where no certificate is asked for.
    public var peerCertificates: [CertificateSummary]
    /// Why verification of the peer failed although the connection was allowed to go on; `nil` when it passed.
    public var verificationFailure: String?

    /// Creates the facts of one handshake.
    public init(
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

/// The parts of a certificate that a developer looks for.
public struct CertificateSummary: Sendable, Hashable, Codable {
    /// The subject in one line (RFC 2253 order).
    public var subject: String
    /// The issuer in one line (RFC 2253 order).
    public var issuer: String
    /// The subject alternative names, each as `DNS:…` or `IP:…`.
    public var alternativeNames: [String]
    /// Start of validity, seconds since 1970.
    public var notBefore: Int64
    /// End of validity, seconds since 1970.
    public var notAfter: Int64
    /// SHA-256 over the DER form, in lower-case hexadecimal.
    public var fingerprint: String

    /// Creates a summary.
    public init(
        subject: String,
        issuer: String,
        alternativeNames: [String],
        notBefore: Int64,
        notAfter: Int64,
        fingerprint: String
    ) {
        self.subject = subject
        self.issuer = issuer
        self.alternativeNames = alternativeNames
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.fingerprint = fingerprint
    }
}
