import HTTPModel
import Wire

package struct TLSReport: Sendable {
    /// Raw values are the codes in JSON.
    enum Code: String, Sendable, Hashable {
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
    struct Problem {
        var code: Code
        /// The position in the chain; 0 for the server's own certificate.
        var depth: Int?
        /// With advice.
        var text: String

        init(_ code: Code, depth: Int? = nil, _ text: String) {
            (self.code, self.depth, self.text) = (code, depth, text)
        }
    }

    struct Version {
        enum State {
            case offered
            case refused(_ reason: String)
            case unknown(_ reason: String)
        }

        var version: TLSVersion
        var state: State
        /// Accepted cipher suites, in the order of the server's choices.
        var ciphers: [TLSCipher] = []
        /// `nil` if unknown.
        var prefersOwnOrder: Bool?
        /// Why the list may be incomplete.
        var incompleteness: String?
    }

    enum Resumption: String {
        case resumed, refused
        case noTicket = "no-ticket"
        case unknown
    }

    var target: ProbeTarget
    /// `nil` without a connection, or with a proxy.
    var address: String?
    /// As `http://host:port`.
    var proxy: String?
    /// Seconds since 1970.
    var moment: Int64
    /// The findings of an ordinary client; `nil` if its handshake failed.
    var usual: TLSProbeFindings?
    /// The certificates and the OCSP staple, also if the handshake of an ordinary client failed.
    var findings = TLSProbeFindings.none
    var problems: [Problem] = []
    var versions: [Version] = []
    /// Those of `h2` and `http/1.1` that the server accepts.
    var applicationProtocols: [String] = []
    var resumption = Resumption.unknown
    var speaksPlainHTTP = false
    var demandsClientCertificate = false
    /// Empty if the server was not reached.
    var transportSecurity: [TransportSecurity.Row] = []
    var library: String

    package var isAcceptable: Bool { usual != nil && problems.isEmpty }

    /// Whole days until the server's certificate expires; negative after its end.
    var daysLeft: Int? {
        findings.certificates.first.map { TLSReport.days(from: moment, to: $0.summary.notAfter) }
    }

    static func days(from start: Int64, to end: Int64) -> Int {
        let seconds = end.subtractingReportingOverflow(start).partialValue
        return Int(seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1)
    }
}
