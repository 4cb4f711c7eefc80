package import Content
package import HTTPModel
import Text

/// An ended exchange as a span of an HTTP client, by the stable semantic conventions of OpenTelemetry.
package struct ExchangeSpan: Sendable {
    private let record: ExchangeRecord
    private let parent: TraceContext?
    private let session: String?
    private let traceID: [UInt8]
    private let spanID: [UInt8]

    /// The record must be masked.
    package init(
        _ record: ExchangeRecord,
        parent: TraceContext?,
        session: String?,
        random: inout some RandomNumberGenerator
    ) {
        (self.record, self.parent, self.session) = (record, parent, session)
        traceID = parent?.traceID ?? ExchangeSpan.identifier(16, &random)
        spanID = ExchangeSpan.identifier(8, &random)
    }

    private static func identifier(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
        // An identifier of zeros is not valid.
        (0..<count).map { _ in UInt8.random(in: 1...255, using: &random) }
    }

    /// Failed handshakes and malformed requests are not spans, because they have no request.
    package static func isSpan(_ record: ExchangeRecord) -> Bool {
        switch record.kind {
        case .failedHandshake, .malformed: false
        case .http, .tunnel, .decryptedTunnel, .upgraded, .webSocket: !record.method.isEmpty
        }
    }

    private static let methods: Set = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    private static let (kindClient, statusError): (UInt64, UInt64) = (3, 2)
    /// Bits of `Span.flags` (trace.proto).
    private static let (hasRemote, isRemote): (UInt32, UInt32) = (0x100, 0x200)

    /// Writes the message `Span`.
    package func write(into span: inout ProtobufWriter) {
        let isKnown = ExchangeSpan.methods.contains(record.method)
        span.bytes(1, traceID)
        span.bytes(2, spanID)
        if let parent {
            if !parent.state.isEmpty { span.string(3, parent.state) }
            span.bytes(4, parent.parentID)
        }
        span.string(5, isKnown ? record.method : "HTTP")
        span.varint(6, ExchangeSpan.kindClient)
        let start = UInt64(clamping: record.startedAt)
        span.fixed64(7, start &* 1_000)
        span.fixed64(8, (start &+ UInt64(clamping: record.timings.total ?? 0)) &* 1_000)
        for (key, value) in attributes(isKnown: isKnown) { span.attribute(9, key, value) }
        if record.failure != nil || record.status >= 400 {
            span.message(15) { status in
                if let failure = record.failure { status.string(2, failure.message) }
                status.varint(3, ExchangeSpan.statusError)
            }
        }
        let flags = UInt32(parent?.flags ?? TraceContext.sampled) | ExchangeSpan.hasRemote
        span.fixed32(16, parent == nil ? flags : flags | ExchangeSpan.isRemote)
    }

    private func attributes(isKnown: Bool) -> [(String, SpanValue)] {
        var attributes: [(String, SpanValue)] = [("http.request.method", .text(isKnown ? record.method : "_OTHER"))]
        if !isKnown { attributes.append(("http.request.method_original", .text(record.method))) }
        attributes += [("server.address", .text(record.url.host)), ("server.port", .number(Int64(record.url.port)))]
        // A tunnel has no URL.
        if record.url.scheme != "tunnel" { attributes.append(("url.full", .text(record.url.description))) }
        if record.status > 0 { attributes.append(("http.response.status_code", .number(Int64(record.status)))) }
        if let failure = record.failure {
            attributes.append(("error.type", .text(failure.code.rawValue)))
        } else if record.status >= 400 {
            attributes.append(("error.type", .text(String(record.status))))
        }
        let version = (record.upstreamVersion ?? record.clientVersion).description.dropFirst("HTTP/".count)
        attributes.append(("network.protocol.version", .text(String(version))))
        if let (host, port) = record.serverAddress.flatMap({ RequestURL.splitAuthority($0) }) {
            attributes.append(("network.peer.address", .text(host)))
            if let port { attributes.append(("network.peer.port", .number(Int64(port)))) }
        }
        if let session { attributes.append(("sluice.session", .text(session))) }
        attributes.append(("sluice.exchange", .number(record.id.number)))
        return attributes
    }
}

package enum SpanValue: Sendable, Hashable {
    case text(String)
    case number(Int64)
}

extension ProtobufWriter {
    /// Writes the message `KeyValue`.
    mutating func attribute(_ number: Int, _ key: String, _ value: SpanValue) {
        message(number) { pair in
            pair.string(1, key)
            pair.message(2) { any in
                switch value {
                case .text(let text): any.string(1, text)
                case .number(let number): any.varint(3, UInt64(bitPattern: number))
                }
            }
        }
    }

    /// Writes the message `ExportTraceServiceRequest`.
    package mutating func writeExport(
        of spans: [ExchangeSpan],
        resource: [(name: String, value: String)],
        version: String
    ) {
        message(1) { resourceSpans in
            resourceSpans.message(1) { fields in
                for (name, value) in resource { fields.attribute(1, name, .text(value)) }
                if !resource.contains(where: { $0.name == "service.version" }) {
                    fields.attribute(1, "service.version", .text(version))
                }
            }
            resourceSpans.message(2) { scopeSpans in
                scopeSpans.message(1) { scope in
                    scope.string(1, "sluice")
                    scope.string(2, version)
                }
                for span in spans { scopeSpans.message(2) { span.write(into: &$0) } }
            }
        }
    }
}
