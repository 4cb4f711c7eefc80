import HTTPModel

extension TLSError: CustomStringConvertible {
    package var description: String { explanation }

    /// One or two sentences: what happened, and what to try.
    package var explanation: String {
        switch leg {
        case .client: clientExplanation
        case .upstream: upstreamExplanation
        }
    }

    private var clientExplanation: String {
        switch cause {
        case .peerAlert(let name) where clientRefusedCertificate:
            let reason = name == "unknown_ca" ? "it does not trust the Sluice CA" : "it may not trust the Sluice CA"
            return "The client refused Sluice's certificate (alert \(name)): \(reason). " + ExchangeFailure.howToTrust
        case .closedDuringHandshake where clientRefusedCertificate:
            return "The client closed the connection after it saw Sluice's certificate, most likely because it does "
                + "not trust the Sluice CA or pins certificates. \(ExchangeFailure.howToTrust)"
        case .peerAlert(let name): return "The client ended the handshake with the alert \(name)."
        case .closedDuringHandshake: return "The client closed the connection during the handshake."
        case .plainHTTP:
            return "The client sent plain HTTP where TLS was expected. Check for `http://` with an HTTPS port."
        case .unsupportedVersion:
            return "The client offers only TLS versions that Sluice does not accept: it speaks TLS 1.2 and 1.3. "
                + "Update the client."
        case .nothingShared: return "The client and Sluice have no cipher suite or signature algorithm in common."
        default: return "The TLS connection with the client failed: \(commonReason)."
        }
    }

    private var upstreamExplanation: String {
        if let text = clientCertificateExplanation { return text }
        switch cause {
        case .certificate(let problem): return certificateExplanation(problem)
        case .peerAlert("protocol_version"), .unsupportedVersion:
            return "\(server) supports no TLS version that is accepted by default. \(tryLegacy)"
        case .peerAlert("handshake_failure"), .peerAlert("insufficient_security"), .nothingShared:
            return "\(server) shares no cipher suite with Sluice, or wants a client certificate. \(tryLegacy)"
        case .peerAlert("unrecognized_name"):
            return "\(server) does not know this host name. Check the address in the URL."
        case .peerAlert(let name): return "\(server) ended the TLS connection with the alert \(name)."
        case .closedDuringHandshake:
            return "\(server) closed the connection during the TLS handshake. "
                + "Check that the port speaks TLS; if the server is old: \(tryLegacy)"
        case .plainHTTP:
            return "\(server) answers with plain HTTP on this port. Try `http://` in the URL, or another port."
        case .protocolViolation(let reason) where reason.contains("wrong version number"):
            return "\(server) speaks no TLS on this port. Try `http://` in the URL, or another port."
        case .legacyRenegotiation:
            return "\(server) lacks secure renegotiation (legacy renegotiation, RFC 5746). \(tryLegacy)"
        case .dhKeyTooSmall:
            return "\(server) uses Diffie-Hellman parameters that are too short (dh key too small). \(tryLegacy)"
        case .invalidHost: return "The host name '\(host ?? "")' cannot be used in TLS. Check the address in the URL."
        default:
            // The text before this one says that TLS with the server failed.
            return "OpenSSL says: \(commonReason)."
        }
    }

    /// Set if the server most likely ended the connection because of a missing or wrong client certificate.
    private var clientCertificateExplanation: String? {
        let alert: String?
        switch cause {
        case .peerAlert(let name) where Self.clientCertificateAlerts.contains(name): alert = name
        case .closedDuringHandshake: alert = nil
        default: return nil
        }
        guard certificateAsked || alert == "certificate_required" else { return nil }
        let how = alert.map { "ended the connection with the alert \($0)" } ?? "closed the connection"
        guard let name = certificateName else {
            return "\(server) asked for a client certificate, got none, and \(how). "
                + "Add to the profile: client-certificate: { host: \"\(hostForOption)\", file: client.p12 }."
        }
        guard certificateSent else {
            return
                "\(server) asked for a client certificate and \(how): '\(name)' was not sent, since its key has a type "
                + "that the server does not accept. Use a certificate with an RSA or EC key."
        }
        let why =
            switch alert {
            case "unknown_ca": "the server does not trust its issuer"
            case "certificate_expired": "the server regards it as expired"
            case "certificate_revoked": "the server regards it as revoked"
            case "access_denied": "it may not have access"
            default: "it may be the wrong one, or lack the certificates of its issuers"
            }
        return "\(server) was shown the client certificate '\(name)' and \(how): \(why)."
    }

    private static let clientCertificateAlerts: Set<String> = [
        "handshake_failure", "certificate_required", "no_certificate", "bad_certificate", "unsupported_certificate",
        "certificate_revoked", "certificate_expired", "certificate_unknown", "unknown_ca", "access_denied",
        "decrypt_error",
    ]

    private func certificateExplanation(_ problem: CertificateProblem) -> String {
        let rest =
            switch problem {
            case .expired(let end): "expired on \(date(end)). Renew it, check this machine's clock, or \(goOn)"
            case .notYetValid(let start): "is valid only from \(date(start)). Check this machine's clock, or \(goOn)"
            case .selfSigned: "is self-signed. Trust it with `--upstream-ca FILE`, or \(goOn)"
            case .unknownIssuer(let issuer):
                "is signed by \(issuer.isEmpty ? "an authority" : "'\(issuer)', an authority") that this machine does "
                    + "not trust, or the server omits an intermediate certificate. Trust it with `--upstream-ca FILE`, "
                    + "or \(goOn)"
            case .missingIssuer(let issuer, let url):
                "is signed by '\(issuer)', whose certificate the server does not send and this machine does not trust. "
                    + "If it is an intermediate certificate, the server must send it; it can be downloaded from \(url). "
                    + "Trust it with `--upstream-ca FILE`, or \(goOn)"
            case .revoked(let moment, let reason):
                "was revoked by its authority on \(date(moment))\(reason.map { " (\($0))" } ?? ""), as the server's own "
                    + "OCSP staple says. The server needs a new certificate; to connect anyway, \(goOn)"
            case .compromisedAuthority(let name):
                "is issued under '\(name)', an authority whose private key is public: anybody can issue such certificates. "
                    + "The server needs a certificate from a different authority; to connect anyway, \(goOn)"
            case .nameMismatch(let names):
                "is for \(Self.shortened(names)), not for this host. Check the address, or \(goOn)"
            case .noHostName(let commonName, let addresses):
                "names no host in its subjectAltName"
                    + (addresses.isEmpty ? "." : ", only \(Self.shortened(addresses)).")
                    + (commonName.isEmpty
                        ? "" : " Its common name '\(commonName.prefix(100))' does not count (RFC 9525).")
                    + " Renew it with the host as subjectAltName, or \(goOn)"
            case .tooWeak(let reason): "uses too weak a key or signature (\(reason)). \(tryLegacy)"
            case .other(let reason): "did not pass verification (\(reason)). G\(goOn.dropFirst())"
            }
        return "The certificate of \(serverInSentence) \(rest)"
    }

    private var commonReason: String {
        switch cause {
        case .protocolViolation(let reason), .resource(let reason): reason.isEmpty ? "unknown reason" : reason
        case .alreadyShutDown: "it was already shut down"
        case .plainHTTP: "plain HTTP was received"
        default: openSSLText.isEmpty ? "unknown reason" : openSSLText
        }
    }

    private var server: String { host.map { "The server \($0)" } ?? "The server" }
    private var serverInSentence: String { host ?? "the server" }
    private var hostForOption: String { host ?? "HOST" }
    private var goOn: String { "go on with \(ExchangeFailure.skippingVerification(of: hostForOption))." }
    private var tryLegacy: String { "Try `--tls-legacy \(hostForOption)`." }

    private static func shortened(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more names" : shown
    }
}
