package import Content
package import HTTPModel
import NIOCore

/// The parts of an exchange's JSON that several formats share.
extension JSONWriter {
    /// Writes the members that a list shows: the narrow row.
    package mutating func rowMembers(_ record: ExchangeRecord) throws {
        member("id", record.id.number)
        member("kind", record.kind.exportName)
        member("state", record.state.exportName)
        member("startedAt", Timestamp.iso8601(record.startedAt))
        member("method", record.method)
        member("url", record.url.description)
        optionalMember("sentUrl", record.sentURL?.description)
        member("status", record.status)
        member("clientVersion", record.clientVersion.description)
        optionalMember("upstreamVersion", record.upstreamVersion?.description)
        member("mediaType", record.mediaType)
        optionalMilliseconds("duration", record.timings.total)
        try sizes(record.sizes)
        try strings("flags", record.flags.exportNames)
        optionalMember("mode", record.mode)
        try process(record.extras.process)
        try streamMembers(record)
        try failure(record.failure)
        optionalMember("comment", record.extras.annotation.comment)
        optionalMember("colour", record.extras.annotation.colour)
    }

    /// Writes the parts whose secrets were replaced; call it after all parts were written.
    package mutating func masked(_ record: ExchangeRecord, by source: (any ExchangeSource)? = nil) throws {
        let parts = source?.maskedParts(of: record) ?? record.extras.masked
        if !parts.isEmpty { try strings("masked", parts) }
    }

    package mutating func process(_ process: ClientProcess?) throws {
        guard let process else { return }
        try object("process") {
            $0.member("id", process.id)
            $0.member("name", process.name)
        }
    }

    /// Writes what only streams of messages and gRPC calls have.
    package mutating func streamMembers(_ record: ExchangeRecord) throws {
        if record.tally != MessageCounts() {
            try object("tally") {
                $0.member("fromClient", record.tally.fromClient)
                $0.member("fromServer", record.tally.fromServer)
            }
        }
        if let grpc = record.grpc {
            try object("grpc") {
                $0.member("status", grpc.status)
                $0.optionalMember("name", grpc.name)
                $0.member("message", grpc.message)
            }
        }
    }

    package mutating func sizes(_ sizes: Sizes) throws {
        try object("sizes") {
            // Without key paths, because reading through a key path takes longer than writing.
            $0.member("requestHead", sizes.requestHead)
            $0.member("requestBody", sizes.requestBody)
            $0.member("requestWire", sizes.requestWire)
            $0.member("responseHead", sizes.responseHead)
            $0.member("responseBody", sizes.responseBody)
            $0.member("responseWire", sizes.responseWire)
        }
    }

    package mutating func failure(_ failure: ExchangeFailure?) throws {
        guard let failure else { return }
        try object("failure") {
            $0.member("code", failure.code.rawValue)
            $0.member("message", failure.message)
            if !failure.hint.isEmpty { $0.member("hint", failure.hint) }
        }
    }

    package mutating func connection(_ name: String, _ connection: ConnectionRecord?) throws {
        guard let connection else { return }
        try object(name) {
            $0.member("connection", connection.id.number)
            $0.member("openedAt", Timestamp.iso8601(connection.openedAt))
            $0.member("localAddress", connection.localAddress)
            $0.member("peerAddress", connection.peerAddress)
            $0.optionalMember("proxy", connection.proxy)
            if let tls = connection.tls { try $0.tls(tls) }
        }
    }

    private mutating func tls(_ tls: TLSDetails) throws {
        try object("tls") {
            $0.member("protocol", tls.protocolVersion)
            $0.member("cipher", tls.cipherSuite)
            $0.optionalMember("serverName", tls.serverName)
            $0.optionalMember("applicationProtocol", tls.applicationProtocol)
            $0.member("resumed", tls.resumed)
            $0.optionalMember("verificationFailure", tls.verificationFailure)
            if let asked = tls.clientCertificate {
                try $0.object("clientCertificate") {
                    try $0.strings("authorities", asked.authorities)
                    $0.optionalMember("name", asked.name)
                    if let sent = asked.sent { try $0.object("sent") { try $0.certificate(sent) } }
                    if asked.isResumed { $0.member("resumed", true) }
                }
            }
            guard !tls.peerCertificates.isEmpty else { return }
            try $0.objects("certificates", tls.peerCertificates) { try $0.certificate($1) }
        }
    }

    private mutating func certificate(_ certificate: CertificateSummary) throws {
        member("subject", certificate.subject)
        member("issuer", certificate.issuer)
        try strings("alternativeNames", certificate.alternativeNames)
        member("notBefore", Timestamp.iso8601(certificate.notBefore &* 1_000_000))
        member("notAfter", Timestamp.iso8601(certificate.notAfter &* 1_000_000))
        member("sha256", certificate.fingerprint)
        if let staple = certificate.staple { try object("staple") { $0.members(of: staple) } }
    }

    package mutating func trace(_ trace: [TraceEntry]) throws {
        try objects("trace", trace) { $0.members(of: $1) }
    }

    package mutating func pairs(_ name: String, _ pairs: some Sequence<(String, String)>) throws {
        try objects(name, pairs) {
            $0.member("name", $1.0)
            $0.member("value", $1.1)
        }
    }

    /// Writes fields in order; HTTP/2 pseudo-fields are not fields and are left out.
    package mutating func fields(_ name: String, _ fields: FieldSection?) throws {
        key(name)
        open(UInt8(ascii: "["))
        try fields?.forEachLine { name, value in
            guard name.first != UInt8(ascii: ":") else { return }
            open(UInt8(ascii: "{"))
            member("name", fieldBytes: name)
            member("value", fieldBytes: value)
            try close(UInt8(ascii: "}"))
        }
        try close(UInt8(ascii: "]"))
    }

    package mutating func requestHead(_ name: String, _ head: RequestHead?) throws {
        guard let head else { return }
        try object(name) {
            $0.member("method", head.method)
            $0.member("target", head.target)
            $0.member("httpVersion", head.version.description)
            try $0.fields("headers", head.fields)
        }
    }

    package mutating func responseHead(_ name: String, _ head: ResponseHead?) throws {
        guard let head else { return }
        try object(name) {
            $0.member("status", head.status)
            $0.member("reason", head.reason)
            $0.member("httpVersion", head.version.description)
            try $0.fields("headers", head.fields)
        }
    }
}
