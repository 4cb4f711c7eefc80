package import Content
import Foundation
package import HTTPModel
import Masking
import NIOCore

/// Exports exchanges as a session of Charles in JSON (`.chlsj`): an array of transactions, as Charles opens and writes it.
///
/// A transaction is what the client saw, as in HAR: the request as the client sent it, the response as it was given to the
/// client. A body is `text` without content coding where it is UTF-8, else `encoded`: base64 of the bytes with their
/// content coding; `_notCoded` says of one that it never had the coding that its head names. The bodies of a WebSocket are
/// its frames. Times are whole milliseconds, as Charles writes them.
///
/// What Charles has no member for is in `_sluice`: `id`, `kind`, `state`, `startedAt` and `timings` to the microsecond (as in
/// ``JSONExport``), `colour`, `masked`, trailers, and `arrivals` of a WebSocket: for each direction pairs of an offset into
/// its frames and of the moment at which they came, in microseconds since 1970. ``CharlesJSONReader`` reads it back.
package typealias CharlesJSONExport = EntryExport<CharlesTransactions>

/// Writes exchanges as transactions, for ``CharlesJSONExport``.
package struct CharlesTransactions: ExchangeEntries {
    package struct Options: EntryOptions {
        package init() {}
    }

    private static let decodedLimit = 256 << 20

    private let source: any ExchangeSource
    package let options: Options

    package init(source: any ExchangeSource, options: Options) { (self.source, self.options) = (source, options) }

    package func write(_ exchange: RecordedExchange, into writer: inout JSONWriter) throws {
        let record = exchange.record
        let heads = ReadHeads(exchange.messages)
        let isTunnel = RequestURL.defaultPort(of: record.url.scheme) == nil
        let version = heads.request?.version ?? record.clientVersion
        writer.member("status", CharlesTransactions.hasFailed(record) ? "FAILED" : "COMPLETE")
        writer.member("method", record.method.isEmpty && isTunnel ? "CONNECT" : record.method)
        writer.member("protocolVersion", version.charlesName)
        CharlesTransactions.place(record, isTunnel: isTunnel, into: &writer)
        writer.member("tunnel", isTunnel)
        writer.member("keptAlive", record.flags.contains(.upstreamReused))
        writer.member("webSocket", record.kind == .webSocket)
        CharlesTransactions.addresses(exchange, into: &writer)
        writer.optionalMember("notes", record.extras.annotation.comment)
        try CharlesTransactions.times(record, into: &writer)
        let sizes = record.sizes
        writer.member("totalSize", sizes.requestHead + sizes.requestBody + sizes.responseHead + sizes.responseBody)
        if let tls = exchange.upstream?.tls {
            try writer.object("ssl") {
                $0.member("protocol", tls.protocolVersion)
                $0.member("cipherSuite", tls.cipherSuite)
            }
            // It stands for the version of the exchange, too.
            if let alpn = tls.applicationProtocol, !alpn.isEmpty, record.upstreamVersion == version {
                try writer.object("alpn") { $0.member("protocol", alpn) }
            }
        }
        writer.nullableMember("errorMessage", CharlesTransactions.error(record))
        try writer.object("request") { try request(exchange, heads, version, into: &$0) }
        try writer.object("response") { try response(exchange, heads, version, into: &$0) }
        try writer.object("_sluice") { try extras(exchange, into: &$0) }
    }

    // MARK: - Where and when

    private static func hasFailed(_ record: ExchangeRecord) -> Bool {
        switch record.state {
        case .failed, .interrupted, .inFlight: true
        case .blocked, .complete: false
        }
    }

    private static func error(_ record: ExchangeRecord) -> String? {
        if let failure = record.failure { return "\(failure.code.rawValue): \(failure.message)" }
        return switch record.state {
        case .inFlight: "It had not ended when it was exported."
        case .interrupted: "It was in flight when the recording ended."
        case .failed: "It failed."
        case .blocked, .complete: nil
        }
    }

    private static func place(_ record: ExchangeRecord, isTunnel: Bool, into writer: inout JSONWriter) {
        let url = record.url
        let port = (1...65_535).contains(url.port) ? url.port : 80
        let isSecure = record.flags.contains(.tunnelledTLS) || port == 443
        let scheme = isTunnel ? (isSecure ? "https" : "http") : url.scheme
        writer.member("scheme", scheme)
        writer.member("host", url.host.isEmpty ? "unknown.invalid" : url.host)
        writer.key("port")
        if port == RequestURL.defaultPort(of: scheme) { writer.number("null") } else { writer.value(Int64(port)) }
        writer.member("actualPort", port)
        writer.nullableMember("path", isTunnel ? nil : url.path)
        writer.nullableMember("query", isTunnel ? nil : url.query)
    }

    private static func addresses(_ exchange: RecordedExchange, into writer: inout JSONWriter) {
        let record = exchange.record
        let server = (exchange.upstream?.peerAddress ?? record.serverAddress).flatMap { RequestURL.splitAuthority($0) }
        if let (address, port) = server {
            let name = "\(record.url.host)/"
            if let port, port != record.url.port {
                let host = address.contains(":") ? "[\(address)]" : address
                writer.member("remoteAddress", "\(name)\(host):\(port)")
            } else {
                writer.member("remoteAddress", name + address)
            }
        }
        guard let (address, port) = record.clientAddress.flatMap({ RequestURL.splitAuthority($0) }) else { return }
        writer.member("clientAddress", "/" + address)
        if let port { writer.member("clientPort", port) }
    }

    private static func times(_ record: ExchangeRecord, into writer: inout JSONWriter) throws {
        let (timings, deliver) = (record.phases.timings, record.phases.deliver)
        func length(_ microseconds: Int64?...) -> Int64 { microseconds.reduce(0) { $0 + max($1 ?? 0, 0) } }
        let sent = record.startedAt + length(timings.blocked, timings.dns, timings.connect, timings.tls)
        let asked = sent + length(timings.send)
        let answered = asked + length(timings.wait)
        // Where the phases are longer than the whole, an archive had them so.
        let end = max(record.startedAt + length(timings.total), answered + length(timings.receive, deliver))
        try writer.object("times") {
            $0.member("start", CharlesTransactions.moment(record.startedAt))
            $0.member("requestBegin", CharlesTransactions.moment(sent))
            $0.member("requestComplete", CharlesTransactions.moment(asked))
            $0.member("responseBegin", CharlesTransactions.moment(answered))
            $0.member("end", CharlesTransactions.moment(end))
        }
        try writer.object("durations") { durations in
            func milliseconds(_ name: String, _ microseconds: Int64?) {
                durations.key(name)
                if let microseconds { durations.value((microseconds + 500) / 1_000) } else { durations.number("null") }
            }
            milliseconds("total", timings.total)
            milliseconds("dns", timings.dns)
            milliseconds("connect", timings.connect)
            milliseconds("ssl", timings.tls)
            milliseconds("request", timings.send)
            milliseconds("response", timings.receive.map { $0 + (deliver ?? 0) })
            milliseconds("latency", timings.wait)
        }
    }

    /// A moment to the millisecond: what has more digits, not every reader takes for a time.
    private static func moment(_ microseconds: Int64) -> String {
        let text = Timestamp.iso8601(microseconds)
        return text.dropLast(4) + "Z"
    }

    // MARK: - Messages

    private func request(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ version: HTTPVersion,
        into writer: inout JSONWriter
    ) throws {
        let sizes = exchange.record.sizes
        let head = heads.request
        let line = head.map { "\($0.method) \($0.target) \(version.charlesName)" }
        let parts = (head: sizes.requestHead, body: sizes.requestBody)
        try message(exchange, heads, .requestReceived, line, head?.fields, parts, into: &writer)
    }

    private func response(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ version: HTTPVersion,
        into writer: inout JSONWriter
    ) throws {
        let (record, sizes) = (exchange.record, exchange.record.sizes)
        let head = heads.responseSent
        let status = head?.status ?? record.status
        writer.key("status")
        if status > 0 { writer.value(Int64(status)) } else { writer.number("null") }
        let line = head.map { "\($0.version.charlesName) \($0.status) \($0.reason)" }
        let parts = (head: sizes.responseHead, body: sizes.responseBody)
        try message(exchange, heads, .responseSent, line, head?.fields, parts, into: &writer)
    }

    private func message(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ side: BodySide,
        _ firstLine: String?,
        _ fields: FieldSection?,
        _ sizes: (head: Int64, body: Int64),
        into writer: inout JSONWriter
    ) throws {
        let type = fields == nil ? nil : heads.contentType(of: side).mediaType
        let coding = fields?.combinedValue(of: .contentEncoding)
        try writer.object("sizes") {
            $0.member("headers", sizes.head)
            $0.member("body", sizes.body)
        }
        writer.nullableMember("mimeType", type?.essence)
        writer.nullableMember("charset", type?.parameter("charset"))
        writer.nullableMember("contentEncoding", coding)
        if let firstLine {
            try writer.object("header") {
                $0.member("firstLine", firstLine)
                try $0.fields("headers", fields)
            }
        }
        try body(exchange, side, type, coding, into: &writer)
    }

    private func body(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ type: MediaType?,
        _ coding: String?,
        into writer: inout JSONWriter
    ) throws {
        if exchange.record.kind == .webSocket {
            let frames = try TransferredBody(exchange, side, from: source)
            return try base64(isEmpty: frames.size == 0, into: &writer) { try frames.forEachPiece($0) }
        }
        let recorded = RecordedBody(source: source, id: exchange.record.id, side: side)
        let limits = JSONBody.Limits(written: .max, decoded: CharlesTransactions.decodedLimit)
        let text = try JSONBody(recorded, mediaType: type, contentEncoding: coding, limits: limits)
        let isAsReceived = text.problem?.kind == .notCoded
        if case .utf8 = text.form, text.problem == nil || isAsReceived {
            try writer.object("body") {
                $0.key("text")
                try text.write(into: &$0)
                $0.member("charset", "UTF-8")
                if isAsReceived {
                    $0.member("_notCoded", true)
                } else if !text.codings.isEmpty {
                    $0.member("decoded", true)
                }
            }
        } else {
            try base64(isEmpty: text.encodedSize == 0, isAsReceived: isAsReceived, into: &writer) {
                try recorded.forEachPiece($0)
            }
        }
    }

    private func base64(
        isEmpty: Bool,
        isAsReceived: Bool = false,
        into writer: inout JSONWriter,
        _ forEachPiece: ((ByteBuffer) throws -> Void) throws -> Void
    ) throws {
        guard !isEmpty else { return }
        try writer.object("body") { body in
            body.member("encoding", "base64")
            if isAsReceived { body.member("_notCoded", true) }
            body.key("encoded")
            var encoder = Base64Stream()
            body.beginString()
            try forEachPiece { piece in
                let characters = piece.withUnsafeReadableBytes { encoder.encode($0) }
                try characters.withUnsafeBytes { try body.stringPiece($0) }
            }
            try encoder.finish().withUnsafeBytes { try body.stringPiece($0) }
            body.endString()
        }
    }

    // MARK: - What Charles has no member for

    private func extras(_ exchange: RecordedExchange, into writer: inout JSONWriter) throws {
        let (record, messages) = (exchange.record, exchange.messages)
        writer.member("id", record.id.number)
        writer.member("kind", record.kind.exportName)
        writer.member("state", record.state.exportName)
        writer.member("startedAt", Timestamp.iso8601(record.startedAt))
        try writer.object("timings") { $0.timings(record.phases) }
        writer.optionalMember("colour", record.extras.annotation.colour)
        try writer.masked(record, by: source)
        if let bytes = messages.requestTrailers { try writer.fields("requestTrailers", StoredHead.fields(bytes)) }
        if let bytes = messages.responseTrailers { try writer.fields("responseTrailers", StoredHead.fields(bytes)) }
        guard record.kind == .webSocket else { return }
        try writer.object("arrivals") {
            try arrivals("request", exchange, .requestReceived, into: &$0)
            try arrivals("response", exchange, .responseSent, into: &$0)
        }
    }

    private func arrivals(
        _ name: String,
        _ exchange: RecordedExchange,
        _ side: BodySide,
        into writer: inout JSONWriter
    ) throws {
        // What was counted is not counted again.
        let own = (source as? MaskedSource).map { MaskedSource($0.original, $0.mask) }
        let frames = try TransferredBody(exchange, side, from: own ?? source)
        writer.key(name)
        try writer.array { array in
            try frames.forEachArrival { arrival in
                try array.array {
                    $0.value(arrival.offset)
                    $0.value(arrival.at)
                }
            }
        }
    }
}

extension HTTPVersion {
    fileprivate var charlesName: String { self == .http2 ? "HTTP/2.0" : description }
}

extension JSONWriter {
    fileprivate mutating func nullableMember(_ name: String, _ text: String?) {
        key(name)
        if let text { value(text) } else { number("null") }
    }
}
