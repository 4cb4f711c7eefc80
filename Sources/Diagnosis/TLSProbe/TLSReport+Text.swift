import Description
import HTTPModel
import Text
import Wire

extension TLSReport {
    /// Control characters in the server's texts are escaped.
    package var text: String {
        let address = address.map { $0 == target.host ? "" : " (\($0))" } ?? ""
        let name = target.serverName == target.host ? "" : ", as \(VisibleText.of(target.serverName))"
        let way = proxy.map { ", through \(VisibleText.of($0))" } ?? ""
        var text = "\(VisibleText.of(target.authority))\(address)\(name)\(way)\n"
        if let forms = HostForms(target.serverName) {
            let remark = forms.suspicion.map { ": suspicious, it \($0)" } ?? ""
            text += "\(VisibleText.of(forms.text + remark))\n"
        }
        text += "\n"
        text += verdict
        if !versions.isEmpty { text += "\nVersions\n" + versionLines }
        let ciphers = versions.filter { !$0.ciphers.isEmpty }
        if !ciphers.isEmpty { text += "\nCiphers\n" + ciphers.map(cipherLines).joined() }
        if !findings.certificates.isEmpty { text += "\nCertificates\n" + certificateLines }
        if usual != nil || !findings.certificates.isEmpty { text += "\nConnection\n" + connectionLines }
        if !transportSecurity.isEmpty { text += "\nApp Transport Security\n" + transportSecurityLines }
        return text
    }

    private static func line(_ title: String, _ rest: String) -> String {
        "  \(title.filled(to: 14))  \(VisibleText.of(rest))\n"
    }

    private static func wrapped(_ text: String, indent: Int = 4, mark: String = "- ") -> String {
        let lines = TextWidth.wrap(VisibleText.of(text), to: 96 - indent)
        let blank = String(repeating: " ", count: indent)
        return lines.enumerated().map { index, line in
            (index == 0 ? blank.dropLast(mark.count) + mark : blank[...]) + line + "\n"
        }.joined()
    }

    private var verdict: String {
        if isAcceptable, let usual {
            let facts = [usual.version?.title, usual.cipher, usual.applicationProtocol].compactMap(\.self)
            return "An ordinary client connects: \(VisibleText.of(facts.joined(separator: ", "))).\n"
        }
        return "An ordinary client does not connect:\n"
            + problems.map { TLSReport.wrapped($0.text) }.joined()
    }

    private var versionLines: String {
        let lines = versions.map { version in
            let title = version.version.title
            switch version.state {
            case .offered:
                let old = version.version < .tls1_2 ? "; current clients refuse it, turn it off" : ""
                return TLSReport.line(title, "offered, \(version.ciphers.count.of("cipher"))\(old)")
            case .refused(let reason):
                return TLSReport.line(title, "not offered\(reason.isEmpty ? "" : " (\(reason))")")
            case .unknown(let reason): return TLSReport.line(title, "unknown: \(reason)")
            }
        }
        return lines.joined() + TLSReport.line("SSL 3 and 2", "not tested: \(library) does not support them")
    }

    private func cipherLines(_ version: Version) -> String {
        let order = version.prefersOwnOrder.map { $0 ? ", in the server's order" : ", the client's order decides" }
        var text = "  \(version.version.title)\(order ?? "")\n"
        for cipher in version.ciphers {
            var remarks = cipher.hasForwardSecrecy ? [] : ["no forward secrecy"]
            if cipher.isBroken { remarks.append("broken, turn it off") }
            let remark = remarks.isEmpty ? "" : "  \(remarks.joined(separator: ", "))"
            text += "    \(remark.isEmpty ? cipher.name : cipher.name.filled(to: 46))\(remark)\n"
        }
        if let reason = version.incompleteness { text += "    there may be more: \(VisibleText.of(reason))\n" }
        return text
    }

    private var certificateLines: String {
        findings.certificates.enumerated().map { index, facts in
            let summary = facts.summary
            let start = CertificateProblems.date(summary.notBefore)
            let end = CertificateProblems.date(summary.notAfter)
            let days = TLSReport.days(from: moment, to: summary.notAfter)
            // Whole days, as for the days left.
            let passed = TLSReport.days(from: summary.notAfter, to: moment)
            let left =
                days >= 0
                ? "expires in \(days.of("day"))"
                : passed == 0 ? "expired less than a day ago" : "expired \(passed.of("day")) ago"
            var text = "  \(index)  \(VisibleText.of(summary.subject.isEmpty ? "(no subject)" : summary.subject))\n"
            func fact(_ title: String, _ rest: String) {
                text += "     \(title.filled(to: 11))  \(VisibleText.of(rest))\n"
            }
            fact("issued by", summary.issuer)
            fact("valid", "\(start) to \(end), \(left)")
            fact("key", CertificateProblems.keyWords(facts))
            fact("signature", facts.signatureAlgorithm)
            if index == 0 {
                let names = summary.alternativeNames
                let more = names.count > 20 ? " and \((names.count - 20).of("other"))" : ""
                fact("names", names.isEmpty ? "none" : names.prefix(20).joined(separator: ", ") + more)
            }
            fact("SHA-256", summary.fingerprint)
            return text
        }.joined()
    }

    private var connectionLines: String {
        var text = ""
        let protocols = applicationProtocols.isEmpty ? "none" : applicationProtocols.joined(separator: ", ")
        if usual != nil { text += TLSReport.line("ALPN", protocols) }
        let demand = findings.certificates.first?.demandsStaple == true ? ", though the certificate requires one" : ""
        text += TLSReport.line("OCSP staple", findings.staple.map { StapleWords.sentence($0) } ?? "none\(demand)")
        if usual != nil {
            let words =
                switch resumption {
                case .resumed: "yes"
                case .refused: "offered, but the server did not resume"
                case .noTicket: "not offered"
                case .unknown: "unknown"
                }
            text += TLSReport.line("resumption", words)
        }
        let asked = findings.isCertificateRequested
        let demanded = demandsClientCertificate ? "required" : asked ? "requested, not required" : "not requested"
        return text + TLSReport.line("client auth", "certificate \(demanded)")
    }

    private var transportSecurityLines: String {
        var text = ""
        for row in transportSecurity {
            let outcome = row.passes ? "PASS" : "FAIL"
            let facts = [row.version?.title, row.cipher].compactMap(\.self).joined(separator: ", ")
            let how = row.isPlainHTTP ? "by http:// alone" : row.passes ? facts : ""
            let title = row.demands.title
            text += "  \(outcome)  \(how.isEmpty ? title : title.filled(to: 62) + "  " + VisibleText.of(how))\n"
        }
        text += "\n" + transportSecurityAdvice
        return text
    }

    private var transportSecurityAdvice: String {
        let usual = transportSecurity.first { $0.demands == .usual }
        func paragraph(_ text: String) -> String { TLSReport.wrapped(text, indent: 2, mark: "") }
        if usual?.passes == true {
            return paragraph("An app needs no exceptions if the device trusts the same authorities as this machine.")
        }
        var text = paragraph("An app without exceptions does not connect:")
        text += (usual?.reasons ?? []).map { TLSReport.wrapped($0) }.joined()
        guard let least = leastExceptions else {
            return text
                + paragraph(
                    "No exception in Info.plist helps. Fix the server. Until then an app can "
                        + "only decide on the certificate itself (URLSession's authentication challenge), and needs "
                        + "NSExceptionAllowsInsecureHTTPLoads for the host."
                )
        }
        text += paragraph(
            "Fix the server first: an exception weakens the app, and the App Store requires a reason. If that is impossible, "
                + "these are the least exceptions (\(least.demands.title)), for Info.plist:"
        )
        text += "\n" + VisibleText.lines(least.demands.plist(host: target.serverName))
        if isAddressOrLocal {
            text += "\n"
            text += paragraph(
                "NSExceptionDomains accepts addresses only since iOS 17 and macOS 14; for addresses, names of one label and "
                    + ".local use NSAllowsLocalNetworking."
            )
        }
        return text
    }

    private var isAddressOrLocal: Bool {
        let name = target.serverName
        return !name.contains(".") || name.hasSuffix(".local") || name.allSatisfy { $0.isNumber || $0 == "." }
    }
}
