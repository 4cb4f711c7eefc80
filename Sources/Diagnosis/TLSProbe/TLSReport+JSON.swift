import Content
import Description
import HTTPModel
package import NIOCore
import Wire

extension TLSReport {
    /// One JSON object and a line feed; the page `tls` of the guide describes its members.
    package func json() throws -> ByteBuffer {
        var json = JSONWriter()
        try json.object { json in
            json.member("host", target.host)
            json.member("port", target.port)
            json.member("serverName", target.serverName)
            json.optionalMember("address", address)
            json.optionalMember("upstreamProxy", proxy)
            json.member("at", Timestamp.iso8601(moment &* 1_000_000))
            json.member("library", library)
            json.member("acceptable", isAcceptable)
            try json.objects("problems", problems) {
                $0.member("code", $1.code.rawValue)
                if let depth = $1.depth { $0.member("certificate", depth) }
                $0.member("message", $1.text)
            }
            if let usual {
                try json.object("usual") {
                    $0.optionalMember("protocol", usual.version?.openSSLName)
                    $0.optionalMember("cipher", usual.cipher)
                    $0.optionalMember("applicationProtocol", usual.applicationProtocol)
                }
            }
            try json.objects("versions", versions) { try $0.members(of: $1) }
            try json.strings("applicationProtocols", applicationProtocols)
            json.member("resumption", resumption.rawValue)
            if knowsPlainHTTP { json.member("plainHTTP", speaksPlainHTTP) }
            json.optionalMember("clientCertificate", clientCertificate)
            if let daysLeft { json.member("daysLeft", daysLeft) }
            try json.objects("certificates", findings.certificates) { try $0.members(of: $1) }
            if let staple = findings.staple { try json.object("staple") { $0.members(of: staple) } }
            try json.objects("transportSecurity", transportSecurity) {
                try $0.members(of: $1, host: target.serverName)
            }
        }
        try json.endLine()
        return json.buffer
    }

    /// `nil` if no handshake got the server's certificate.
    private var clientCertificate: String? {
        if demandsClientCertificate { return "demanded" }
        if findings.isCertificateRequested { return "asked" }
        return usual == nil && findings.certificates.isEmpty ? nil : "no"
    }

    private var knowsPlainHTTP: Bool {
        speaksPlainHTTP || !problems.contains { $0.code == .unreachable || $0.code == .silent }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of version: TLSReport.Version) throws {
        member("protocol", version.version.openSSLName)
        switch version.state {
        case .offered: member("offered", true)
        case .refused(let reason):
            member("offered", false)
            if !reason.isEmpty { member("reason", reason) }
        case .unknown(let reason): member("reason", reason)
        }
        if let prefersOwnOrder = version.prefersOwnOrder { member("prefersOwnOrder", prefersOwnOrder) }
        optionalMember("incomplete", version.incompleteness)
        try objects("ciphers", version.ciphers) {
            $0.member("name", $1.name)
            $0.member("bits", $1.bits)
            $0.member("forwardSecrecy", $1.hasForwardSecrecy)
            $0.member("broken", $1.isBroken)
        }
    }

    fileprivate mutating func members(of facts: CertificateFacts) throws {
        let summary = facts.summary
        member("subject", summary.subject)
        member("issuer", summary.issuer)
        try strings("alternativeNames", summary.alternativeNames)
        member("notBefore", Timestamp.iso8601(summary.notBefore &* 1_000_000))
        member("notAfter", Timestamp.iso8601(summary.notAfter &* 1_000_000))
        member("keyType", facts.keyType)
        member("keyBits", facts.keyBits)
        optionalMember("curve", facts.curve)
        member("signatureAlgorithm", facts.signatureAlgorithm)
        try strings("issuerURLs", facts.issuerURLs)
        try strings("statusURLs", facts.statusURLs)
        member("sha256", summary.fingerprint)
    }

    fileprivate mutating func members(of row: TransportSecurity.Row, host: String) throws {
        member("title", row.demands.title)
        member("passes", row.passes)
        if row.isPlainHTTP { member("plainHTTP", true) }
        optionalMember("protocol", row.version?.openSSLName)
        optionalMember("cipher", row.cipher)
        try strings("keys", row.demands.keys)
        if row.passes, !row.demands.keys.isEmpty { member("plist", row.demands.plist(host: host)) }
        try strings("reasons", row.reasons)
    }
}
