import Description
import HTTPModel
import Text
import Wire

enum CertificateProblems {
    /// Failed verification, weak keys and signatures, and a stapled revocation.
    static func all(in findings: TLSProbeFindings) -> [TLSReport.Problem] {
        let weak = weaknesses(of: findings.certificates)
        var problems: [TLSReport.Problem] = []
        for found in findings.problems {
            let problem = describe(found, findings)
            // Our text on weak keys says more than OpenSSL's.
            if case .tooWeak = found.problem, weak.contains(where: { $0.depth == found.depth }) { continue }
            if problems.contains(where: { $0.code == problem.code && $0.depth == problem.depth }) { continue }
            problems.append(problem)
        }
        problems += weak
        if let staple = findings.staple, staple.state == .revoked {
            let moment = staple.revokedAt.map { " on \(date($0))" } ?? ""
            let reason = staple.reason.map { " (\($0))" } ?? ""
            let text = "The server's certificate was revoked\(moment)\(reason), says the server's own staple."
            problems.append(.init(.revoked, depth: 0, "\(text) The server needs a new one."))
        }
        return problems
    }

    private static func weaknesses(of chain: [CertificateFacts]) -> [TLSReport.Problem] {
        var problems: [TLSReport.Problem] = []
        for (depth, facts) in chain.enumerated() {
            let whose = whose(depth, facts)
            if isWeakKey(facts) {
                let text = "\(whose) has a weak key: \(keyWords(facts))."
                problems.append(
                    .init(.weakKey, depth: depth, "\(text) Use RSA with 2048 bits or more, or EC with 256.")
                )
            }
            if isWeakSignature(facts) {
                let text = "\(whose) is signed with \(facts.signatureAlgorithm), which can be forged. "
                problems.append(.init(.weakSignature, depth: depth, text + "Issue it again with SHA-256."))
            }
        }
        return problems
    }

    static func isWeakKey(_ facts: CertificateFacts) -> Bool {
        switch facts.keyType {
        case "RSA", "DSA": facts.keyBits < 2_048
        case "EC": facts.keyBits < 224
        default: false
        }
    }

    /// Whether the signature's digest can be forged. False for a root, whose own signature is not verified.
    static func isWeakSignature(_ facts: CertificateFacts) -> Bool {
        !facts.isSelfIssued && ["MD2", "MD4", "MD5", "SHA1", "MD5-SHA1"].contains(facts.signatureDigest ?? "")
    }

    static func keyWords(_ facts: CertificateFacts) -> String {
        let curve = facts.curve.map { " (\($0))" } ?? ""
        return "\(facts.keyType) \(facts.keyBits) bits\(curve)"
    }

    private static func whose(_ depth: Int, _ facts: CertificateFacts?) -> String {
        depth == 0 ? "The server's certificate" : "The certificate of '\(VisibleText.of(facts?.name ?? ""))'"
    }

    private static func describe(_ found: ChainProblem, _ findings: TLSProbeFindings) -> TLSReport.Problem {
        let chain = findings.certificates
        let facts = chain.indices.contains(found.depth) ? chain[found.depth] : nil
        let whose = facts == nil && found.depth > 0 ? "A certificate of the chain" : whose(found.depth, facts)
        func problem(_ code: TLSReport.Code, _ rest: String) -> TLSReport.Problem {
            .init(code, depth: found.depth, "\(whose) \(rest)")
        }
        switch found.problem {
        case .expired(let end): return problem(.expired, "expired on \(date(end)). Renew it.")
        case .notYetValid(let start):
            return problem(.notYetValid, "is valid only from \(date(start)). Check the clock here and at its issuer.")
        case .selfSigned:
            let advice = "Have it issued by an authority, or trust it here with --upstream-ca FILE."
            return problem(.selfSigned, "is self-signed. \(advice)")
        // An intermediate certificate is probably missing.
        case .unknownIssuer(let issuer) where facts?.isSelfIssued == false:
            return problem(.missingIssuer, missing(issuer, nil))
        case .unknownIssuer(let issuer):
            let text = "The chain ends at '\(VisibleText.of(issuer))', which this machine does not trust."
            return .init(.unknownIssuer, depth: found.depth, "\(text) Trust it here with --upstream-ca FILE.")
        case .missingIssuer(let issuer, let url): return problem(.missingIssuer, missing(issuer, url))
        case .nameMismatch(let names): return problem(.wrongName, "is for \(listed(names)), not for this host.")
        case .noHostName(let commonName, let addresses):
            let only = addresses.isEmpty ? "" : ", only \(listed(addresses))"
            let common = commonName.isEmpty ? "" : " Its common name '\(VisibleText.of(commonName))' does not count."
            return problem(.wrongName, "names no host in its subjectAltName\(only).\(common)")
        case .compromisedAuthority(let name):
            let text =
                "'\(VisibleText.of(name))' is an authority whose private key is public: anybody can issue such "
                + "certificates. Have the server's issued by another one."
            return .init(.compromisedAuthority, depth: found.depth, text)
        case .tooWeak(let reason): return problem(.weakKey, "is too weak (\(reason)).")
        case .revoked(let moment, _): return problem(.revoked, "was revoked on \(date(moment)).")
        case .other(let reason): return problem(.other, "did not pass: \(reason).")
        }
    }

    private static func missing(_ issuer: String, _ url: String?) -> String {
        let place = url.map { "It can be downloaded from \(VisibleText.of($0))" } ?? "Its authority has it for download"
        return "is signed by '\(VisibleText.of(issuer))', whose certificate the server does not send and this machine "
            + "does not trust. If it is an intermediate certificate, the server must send it after its own. \(place). If "
            + "it is a root of yours, trust it here with --upstream-ca FILE."
    }

    private static func listed(_ names: [String]) -> String {
        let shown = names.prefix(8).map { VisibleText.of($0) }.joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \((names.count - 8).of("more name"))" : shown
    }

    static func date(_ seconds: Int64) -> String {
        String(Timestamp.iso8601(seconds &* 1_000_000).prefix { $0 != "T" })
    }
}
