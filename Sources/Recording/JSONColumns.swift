import Content
import HTTPModel
import NIOCore

extension JSONWriter {
    /// `nil` for an empty trace.
    static func trace(_ entries: [TraceEntry]) throws -> ByteBuffer? {
        guard !entries.isEmpty else { return nil }
        return try list(entries) { entry, json in try json.object { $0.members(of: entry) } }
    }

    /// `nil` without certificates.
    static func certificates(_ certificates: [CertificateSummary]) throws -> ByteBuffer? {
        guard !certificates.isEmpty else { return nil }
        return try list(certificates) { certificate, json in try json.object { try $0.members(of: certificate) } }
    }

    static func clientCertificate(_ certificate: ClientCertificateDetails) throws -> ByteBuffer {
        var json = JSONWriter()
        try json.object {
            try $0.strings("authorities", certificate.authorities)
            $0.optionalMember("name", certificate.name)
            if let sent = certificate.sent { try $0.object("sent") { try $0.members(of: sent) } }
            if certificate.isResumed { $0.member("resumed", true) }
        }
        return json.buffer
    }

    private mutating func members(of certificate: CertificateSummary) throws {
        member("subject", certificate.subject)
        member("issuer", certificate.issuer)
        try strings("alternativeNames", certificate.alternativeNames)
        member("notBefore", certificate.notBefore)
        member("notAfter", certificate.notAfter)
        member("fingerprint", certificate.fingerprint)
        if let staple = certificate.staple { try object("staple") { $0.staple(staple) } }
    }

    private mutating func staple(_ staple: StapledStatus) {
        member("state", staple.state.rawValue)
        optionalMember("reason", staple.reason)
        if let moment = staple.revokedAt { member("revokedAt", moment) }
        if let moment = staple.validFrom { member("validFrom", moment) }
        if let moment = staple.validUntil { member("validUntil", moment) }
    }

    static func sources(_ sources: [ProfileSource]) throws -> ByteBuffer {
        try list(sources) { source, json in
            try json.object {
                $0.member("file", source.file)
                $0.member("text", source.text)
            }
        }
    }

    static func names(_ names: [String]) throws -> ByteBuffer { try list(names) { $1.value($0) } }

    private static func list<Element>(
        _ elements: [Element],
        _ write: (Element, inout JSONWriter) throws -> Void
    ) throws -> ByteBuffer {
        var json = JSONWriter()
        try json.array { json in
            for element in elements { try write(element, &json) }
        }
        return json.buffer
    }
}
