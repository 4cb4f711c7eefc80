import HTTPModel
package import Wire

/// What a client would meet at a server: the outcome of `sluice tls`.
package struct TLSReport: Sendable {
    /// What kind of finding keeps clients away; the words of the JSON.
    package enum Code: String, Sendable, Hashable {
        case unreachable, silent, closed, tls, revoked, expired, other
        case plainHTTP = "plain-http"
        case clientCertificate = "client-certificate"
        case notYetValid = "not-yet-valid"
        case selfSigned = "self-signed"
        case unknownIssuer = "unknown-issuer"
        case missingIssuer = "missing-issuer"
        case wrongName = "wrong-name"
        case weakKey = "weak-key"
        case weakSignature = "weak-signature"
        case compromisedAuthority = "compromised-authority"
    }

    /// One thing for which a client with usual demands does not connect.
    package struct Problem: Sendable, Hashable {
        package var code: Code
        /// The certificate's place in the chain, 0 for the server's own; `nil` where it is not about one.
        package var depth: Int?
        /// What is wrong, and what to do, in sentences.
        package var text: String

        package init(_ code: Code, depth: Int? = nil, _ text: String) {
            (self.code, self.depth, self.text) = (code, depth, text)
        }
    }

    /// What a server makes of one version of TLS.
    package struct Version: Sendable, Hashable {
        package enum State: Sendable, Hashable {
            case offered
            /// Why it did not come about.
            case refused(String)
            /// Why it is not known.
            case unknown(String)
        }

        package var version: TLSVersion
        package var state: State
        /// The cipher suites that the server takes, in the order in which it chose them.
        package var ciphers: [TLSCipher] = []
        /// Whether the server chooses by its own order, not by the client's; `nil` where that was not seen.
        package var prefersOwnOrder: Bool?
        /// Why there may be more ciphers than these; `nil` where these are all.
        package var incompleteness: String?

        package init(_ version: TLSVersion, _ state: State) { (self.version, self.state) = (version, state) }
    }

    package enum Resumption: String, Sendable, Hashable {
        case resumed, refused
        /// The server gave nothing by which to resume.
        case noTicket = "no-ticket"
        case unknown
    }

    package var target: ProbeTarget
    /// The server's address; `nil` where there was no connection, or one through a proxy.
    package var address: String?
    /// The proxy through which the server was asked, as `http://host:port`.
    package var proxy: String?
    /// When it was looked at, seconds since 1970.
    package var moment: Int64
    /// What a client of today met; `nil` where its handshake failed.
    package var usual: TLSProbeFindings?
    /// What was found of certificates and staple, by whatever handshake.
    package var findings = TLSProbeFindings()
    package var problems: [Problem] = []
    package var versions: [Version] = []
    /// The protocols that the server takes by ALPN, of `h2` and `http/1.1`.
    package var applicationProtocols: [String] = []
    package var resumption = Resumption.unknown
    package var speaksPlainHTTP = false
    package var demandsClientCertificate = false
    /// The rows of App Transport Security; none where the server could not be reached.
    package var transportSecurity: [TransportSecurity.Row] = []
    /// The library that spoke TLS.
    package var library: String

    package init(_ target: ProbeTarget, moment: Int64, library: String) {
        (self.target, self.moment, self.library) = (target, moment, library)
    }

    /// Whether a client with usual demands connects.
    package var isAcceptable: Bool { usual != nil && problems.isEmpty }

    /// In how many whole days the server's certificate expires; negative once it has.
    package var daysLeft: Int? {
        findings.certificates.first.map { TLSReport.days(from: moment, to: $0.summary.notAfter) }
    }

    static func days(from start: Int64, to end: Int64) -> Int {
        let seconds = end.subtractingReportingOverflow(start).partialValue
        return Int(seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1)
    }
}
