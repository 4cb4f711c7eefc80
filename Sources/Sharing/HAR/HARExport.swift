import Content
package import HTTPModel
package import NIOCore

/// Exports exchanges as an HTTP Archive, HAR 1.2, as browsers' developer tools open it.
///
/// The archive shows what the client saw: the request as the client sent it and the response as it was given to the
/// client. Where a stage changed either, the other form is in the entry's `_sluice` member, with the trace, failure,
/// addresses and TLS details. `connect` includes `ssl`, and `time` is the sum of the phases, as HAR 1.2 demands; the
/// duration that was measured is `_sluice.duration`. Bodies are without content coding: as text where they are text,
/// else in base64 (`encoding`; for requests `_encoding`, which HAR 1.2 does not foresee). What WebSockets and event
/// streams carried is in `_webSocketMessages` and `_eventSourceMessages`.
package struct HARExport: PartedExport {
    package struct Options: Sendable {
        /// How many bytes of each body to write; `nil` for all.
        package var bodyLimit: Int?
        /// How many bytes to decode of a body with content coding.
        package var decodedLimit = 256 << 20
        /// The version of Sluice that the archive names.
        package var creatorVersion = "0.1.0"

        package init() {}
    }

    let source: any ExchangeSource
    let options: Options
    private var writer: JSONWriter
    private var isOpen = false
    /// Whether it writes exchanges in the middle of an archive that another one begins and ends.
    private var isPart = false

    /// Prepares an export; nothing is written before the first exchange or the end.
    package init(source: any ExchangeSource, options: Options = Options(), sink: @escaping ExportSink) {
        self.source = source
        self.options = options
        writer = JSONWriter(sink)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        try begin()
        writer.lineBreak()
        let export = self
        try writer.object { try export.entry(exchange, into: &$0) }
    }

    package mutating func finish() throws {
        if isPart { return try writer.flush() }
        try begin()
        try writer.endLine()
        try writer.close(UInt8(ascii: "]"))
        try writer.close(UInt8(ascii: "}"))
        try writer.close(UInt8(ascii: "}"))
        try writer.endLine()
        try writer.flush()
    }

    private mutating func begin() throws {
        guard !isOpen else { return }
        isOpen = true
        writer.open(UInt8(ascii: "{"))
        writer.key("log")
        writer.open(UInt8(ascii: "{"))
        writer.member("version", "1.2")
        writer.key("creator")
        let version = options.creatorVersion
        try writer.object {
            $0.member("name", "Sluice")
            $0.member("version", version)
        }
        // Firefox walks through the pages without asking whether there are any.
        writer.key("pages")
        try writer.array { _ in }
        writer.key("entries")
        writer.open(UInt8(ascii: "["))
    }

    package var part: ExportPart {
        let options = options
        return { source, sink in
            var part = HARExport(source: source, options: options, sink: sink)
            (part.isOpen, part.isPart) = (true, true)
            return part
        }
    }

    package mutating func add(_ piece: ByteBuffer, beginsPart: Bool) throws {
        try begin()
        try writer.add(piece, isContinued: !beginsPart)
    }

    var limits: JSONBody.Limits {
        JSONBody.Limits(written: options.bodyLimit ?? .max, decoded: options.decodedLimit)
    }

    private func entry(_ exchange: RecordedExchange, into writer: inout JSONWriter) throws {
        let record = exchange.record
        let timings = HARTimings(record)
        let heads = ReadHeads(exchange.messages)
        let resourceType = HARExport.resourceType(exchange, heads)
        writer.member("startedDateTime", Timestamp.iso8601(record.startedAt))
        writer.key("time")
        writer.milliseconds(timings.sum)
        try writer.object("request") { try request(exchange, heads, into: &$0) }
        try writer.object("response") { try response(exchange, heads, resourceType, into: &$0) }
        try writer.object("cache") { _ in }
        try writer.object("timings") { timings.write(into: &$0) }
        if let upstream = exchange.upstream {
            let (host, port) = HARExport.address(of: upstream.peerAddress)
            writer.member("serverIPAddress", host)
            // HAR 1.2 lets it be any unique text, but browsers write the server's port, and read it as that.
            writer.optionalMember("connection", port.map { String($0) })
        }
        writer.member("_connectionId", record.clientConnection.description)
        writer.member("_resourceType", resourceType)
        try streams(exchange, heads, resourceType, into: &writer)
        writer.optionalMember("comment", exchange.record.extras.annotation.comment)
        try writer.object("_sluice") { try extras(exchange, heads, into: &$0) }
    }

    private func extras(_ exchange: RecordedExchange, _ heads: ReadHeads, into writer: inout JSONWriter) throws {
        let record = exchange.record
        writer.member("id", record.id.number)
        writer.member("kind", record.kind.exportName)
        writer.member("state", record.state.exportName)
        writer.optionalMilliseconds("duration", record.timings.total)
        writer.optionalMember("colour", record.extras.annotation.colour)
        try writer.masked(record, by: source)
        writer.optionalMember("sentUrl", record.sentURL?.description)
        writer.optionalMember("upstreamVersion", record.upstreamVersion?.description)
        try writer.strings("flags", record.flags.exportNames)
        try writer.process(record.extras.process)
        try writer.streamMembers(record)
        try writer.failure(record.failure)
        try writer.sizes(record.sizes)
        try writer.connection("client", exchange.client)
        try writer.connection("upstream", exchange.upstream)
        try writer.requestHead("requestSent", exchange.messages.requestHeadSent.flatMap { StoredHead.request($0) })
        if exchange.messages.responseHeadSent != nil {
            try writer.responseHead("responseReceived", heads.response)
        }
        // HAR 1.2 has neither trailers nor interim responses.
        let messages = exchange.messages
        if let bytes = messages.requestTrailers { try writer.fields("requestTrailers", StoredHead.fields(bytes)) }
        if let bytes = messages.responseTrailers { try writer.fields("responseTrailers", StoredHead.fields(bytes)) }
        writer.optionalMember("interimResponses", messages.interimHeads.map { String(buffer: $0) })
        if !exchange.messages.trace.isEmpty { try writer.trace(exchange.messages.trace) }
    }

    /// The address in `host:port`, without the brackets of IPv6, and the port.
    private static func address(of text: String) -> (host: String, port: Int?) {
        RequestURL.splitAuthority(text) ?? (text, nil)
    }
}

struct HARTimings {
    private var timings: Timings

    /// Takes an exchange's phases; of one that failed in the middle of a phase that one lasted until then.
    init(_ record: ExchangeRecord) {
        timings = record.timings
        guard record.failure != nil || sum == 0, let total = timings.total, total > sum else { return }
        if record.upstreamConnection == nil {
            timings.blocked = (timings.blocked ?? 0) + total - sum
        } else {
            timings.wait = (timings.wait ?? 0) + total - sum
        }
    }

    /// Our `connect` is TCP alone; HAR's includes TLS.
    private var connect: Int64? {
        guard timings.connect != nil || timings.tls != nil else { return nil }
        return (timings.connect ?? 0) + (timings.tls ?? 0)
    }

    /// The sum of the phases that happened, in microseconds.
    var sum: Int64 {
        [timings.blocked, timings.dns, connect, timings.send, timings.wait, timings.receive]
            .reduce(0) { $0 + max($1 ?? 0, 0) }
    }

    func write(into writer: inout JSONWriter) {
        func phase(_ name: String, _ microseconds: Int64?) {
            writer.key(name)
            writer.milliseconds(microseconds.map { max($0, 0) })
        }
        phase("blocked", timings.blocked)
        phase("dns", timings.dns)
        phase("connect", connect)
        // These three are not optional in HAR 1.2.
        phase("send", timings.send ?? 0)
        phase("wait", timings.wait ?? 0)
        phase("receive", timings.receive ?? 0)
        phase("ssl", timings.tls)
    }
}
