package import Content
import Description
package import HTTPModel
import NIOCore

package struct HAREntry: ExportedEntry {
    let exchange: RecordedExchange
    let source: any ExchangeSource
    let options: EntryOptions
    let heads: ReadHeads
    let resourceType: String

    package init(_ exchange: RecordedExchange, source: any ExchangeSource, options: EntryOptions) {
        self.exchange = exchange
        self.source = source
        self.options = options
        heads = ReadHeads(exchange.messages)
        resourceType = HAREntry.resourceType(exchange, heads)
    }

    package func write(into writer: inout JSONWriter) throws {
        let record = exchange.record
        writer.member("startedDateTime", Timestamp.iso8601(record.startedAt))
        writer.key("time")
        writer.milliseconds(record.phases.sum)
        try writer.object("request") { try request(into: &$0) }
        try writer.object("response") { try response(into: &$0) }
        try writer.object("cache") { _ in }
        try writer.object("timings") { $0.harTimings(record.phases) }
        if let upstream = exchange.upstream {
            // Removes the brackets of IPv6.
            let (host, port) = RequestURL.splitAuthority(upstream.peerAddress) ?? (upstream.peerAddress, nil)
            // In an imported exchange, the address may be a name.
            if HAREntry.isAddress(host) { writer.member("serverIPAddress", host) }
            // HAR 1.2 allows any unique text, but browsers write and read the server's port here.
            writer.optionalMember("connection", port.map { String($0) })
        }
        writer.member("_connectionId", record.clientConnection.description)
        writer.member("_resourceType", resourceType)
        try streams(into: &writer)
        writer.optionalMember("comment", exchange.record.extras.annotation.comment)
        try writer.object("_sluice") { try extras(into: &$0) }
    }

    private func extras(into writer: inout JSONWriter) throws {
        let record = exchange.record
        writer.member("id", record.id.number)
        writer.member("kind", record.kind.exportName)
        // For a WebSocket, the scheme of the entry's URL is the one that browsers write.
        if record.kind == .webSocket { writer.member("scheme", record.url.scheme) }
        writer.member("state", record.state.exportName)
        writer.optionalMilliseconds("duration", record.timings.total)
        writer.optionalMember("colour", record.extras.annotation.colour)
        try writer.masked(record, by: source)
        writer.optionalMember("url", HARURL.raw(record, heads.request))
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

    /// Whether a text is an IP address, which may have a zone.
    static func isAddress(_ text: String) -> Bool {
        (try? SocketAddress(ipAddress: String(text.prefix { $0 != "%" }), port: 0)) != nil
    }
}

extension JSONWriter {
    /// Writes HAR 1.2's phases: `connect` includes TLS, `receive` the delivery to the client.
    fileprivate mutating func harTimings(_ phases: Phases) {
        let timings = phases.timings
        func phase(_ name: String, _ microseconds: Int64?) {
            key(name)
            milliseconds(microseconds.map { max($0, 0) })
        }
        func sum(_ first: Int64?, _ second: Int64?) -> Int64 { max(0, first ?? 0) + max(0, second ?? 0) }
        phase("blocked", timings.blocked)
        phase("dns", timings.dns)
        phase("connect", timings.connect == nil && timings.tls == nil ? nil : sum(timings.connect, timings.tls))
        // These three are not optional in HAR 1.2.
        phase("send", timings.send ?? 0)
        phase("wait", timings.wait ?? 0)
        phase("receive", sum(timings.receive, phases.deliver))
        phase("ssl", timings.tls)
    }
}
