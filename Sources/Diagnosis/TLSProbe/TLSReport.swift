import HTTPModel
package import Wire

/// The result of `sluice tls`.
package struct TLSReport: Sendable {
    /// As in JSON.
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

    /// A reason for which an ordinary client does not connect.
    package struct Problem: Sendable, Hashable {
        package var code: Code
        /// In the chain, 0 for the server's own certificate.
        package var depth: Int?
        /// With advice.
        package var text: String

        package init(_ code: Code, depth: Int? = nil, _ text: String) {
            (self.code, self.depth, self.text) = (code, depth, text)
        }
    }

    package struct Version: Sendable, Hashable {
        package enum State: Sendable, Hashable {
            case offered
            /// The reason.
            case refused(String)
            /// The reason.
            case unknown(String)
        }

        package var version: TLSVersion
        package var state: State
        /// Accepted cipher suites, in the order of the server's choices.
        package var ciphers: [TLSCipher] = []
        /// `nil` if unknown.
        package var prefersOwnOrder: Bool?
        /// Why the list may be incomplete.
        package var incompleteness: String?

        package init(_ version: TLSVersion, _ state: State) { (self.version, self.state) = (version, state) }
    }

    package enum Resumption: String, Sendable, Hashable {
        case resumed, refused
        /// The server sent no ticket.
        case noTicket = "no-ticket"
        case unknown
    }

    package var target: ProbeTarget
    /// `nil` without a connection, or with a proxy.
    package var address: String?
    /// As `http://host:port`.
    package var proxy: String?
    /// Seconds since 1970.
    package var moment: Int64
    /// The findings of an ordinary client; `nil` if its handshake failed.
    package var usual: TLSProbeFindings?
    /// Certificates and staple of any handshake.
    package var findings = TLSProbeFindings()
    package var problems: [Problem] = []
    package var versions: [Version] = []
    /// Of `h2` and `http/1.1`.
    package var applicationProtocols: [String] = []
    package var resumption = Resumption.unknown
    package var speaksPlainHTTP = false
    package var demandsClientCertificate = false
    /// Empty if the server was not reached.
    package var transportSecurity: [TransportSecurity.Row] = []
    /// The library that speaks TLS.
    package var library: String

    package init(_ target: ProbeTarget, moment: Int64, library: String) {
        (self.target, self.moment, self.library) = (target, moment, library)
    }

    /// Whether an ordinary client connects.
    package var isAcceptable: Bool { usual != nil && problems.isEmpty }

    /// Whole days; negative after the end.
    package var daysLeft: Int? {
        findings.certificates.first.map { TLSReport.days(from: moment, to: $0.summary.notAfter) }
    }

    static func days(from start: Int64, to end: Int64) -> Int {
        let seconds = end.subtractingReportingOverflow(start).partialValue
        return Int(seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1)
    }
}
