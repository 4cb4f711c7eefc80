import Content
import Description
import HTTPModel
import NIOCore

/// An exchange in a page: a row of the list, and its details, with the members of ``JSONExport`` and a few more.
struct PageExchange {
    private static let mostLines = 1_000
    private static let longestInterim = 16 << 10
    private static let longestCommand = 16 << 10

    private let exchange: RecordedExchange
    private let source: any ExchangeSource
    private let bodies: [BodySide: PageBody]
    private let call: GRPCReport?
    private let stream: PageStream?
    private let difference: DetailDocument?
    private let command: String?

    private var record: ExchangeRecord { exchange.record }
    private var messages: ExchangeMessages { exchange.messages }

    /// Reads the parts of bodies that the page shows. Throws the source's error.
    init(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        facts: SessionFacts,
        totals: inout PageTotals
    ) throws {
        (self.exchange, self.source) = (exchange, source)
        let record = exchange.record
        totals.exchanges += 1
        stream = try PageStream(exchange, source: source, totals: &totals)
        call = try record.flags.contains(.grpc) || record.grpc != nil ? GRPCReport(exchange, source: source) : nil
        var bodies: [BodySide: PageBody] = [:]
        // The bodies of WebSockets and gRPC calls are shown as messages.
        if record.kind != .webSocket, call == nil {
            var sides: [BodySide] = [.requestReceived, .responseReceived]
            if record.flags.contains(.requestBodyChanged) { sides.append(.requestSent) }
            if record.flags.contains(.responseBodyChanged) { sides.append(.responseSent) }
            for side in sides { bodies[side] = PageBody(exchange, side, source: source, totals: &totals) }
        }
        self.bodies = bodies
        difference = PageExchange.difference(exchange, source, bodies, facts, totals.limits)
        if let difference { totals.written += difference.lines.reduce(0) { $0 + $1.plain.utf8.count } }
        command = totals.written < totals.limits.all ? PageExchange.command(exchange, source) : nil
        totals.written += command?.utf8.count ?? 0
    }

    /// The cURL command of a request; `nil` if curl cannot send it, or if it is long.
    private static func command(_ exchange: RecordedExchange, _ source: any ExchangeSource) -> String? {
        guard exchange.record.sizes.requestBody <= longestCommand else { return nil }
        let source = source.forCommands
        let marked = source.isMasking ? (try? source.exchange(exchange.record.id)) ?? exchange : exchange
        guard let command = try? CopyForm.curl.text(marked, source: source, files: nil),
            command.utf8.count <= longestCommand
        else { return nil }
        return command
    }

    func row(into writer: inout JSONWriter) throws {
        try writer.rowMembers(record)
        writer.member("at", record.startedAt)
        writer.member("host", record.url.authority)
        writer.member("path", record.url.pathAndQuery)
        if record.isError { writer.member("isError", true) }
        if record.extras.origin != nil { writer.member("isImported", true) }
        if let brief = Answerer(exchange)?.brief, !brief.isEmpty { writer.member("by", brief) }
        if !(source.maskedParts(of: record).isEmpty) { writer.member("isMasked", true) }
        try writer.object("timings") { $0.timings(record.phases) }
    }

    func details(into writer: inout JSONWriter) throws {
        if record.kind != .http { writer.member("kindText", record.kind.sentence) }
        writer.optionalMember("reason", reason)
        writer.optionalMember("answeredBy", Answerer(exchange)?.name)
        writer.optionalMember("curl", command)
        writer.optionalMember("origin", record.extras.origin)
        let sentences = record.flags.sentences
        if !sentences.isEmpty { try writer.strings("remarks", sentences) }
        try writer.connection("client", exchange.client)
        try writer.connection("upstream", exchange.upstream)
        if exchange.upstream == nil { writer.member("withoutServer", record.wordsWithoutServer) }
        try writer.object("request") { try request(into: &$0) }
        try writer.object("response") { try response(into: &$0) }
        try stream?.write(into: &writer)
        if let call {
            let lines = call.lines
            try writer.strings("call", [call.title] + lines.prefix(PageExchange.mostLines))
            if lines.count > PageExchange.mostLines { writer.member("callCut", true) }
        }
        if let difference { try lines("difference", difference, into: &writer) }
        try writer.masked(record, by: source)
        try writer.trace(messages.trace)
    }

    private func request(into writer: inout JSONWriter) throws {
        let heads = ReadHeads(messages)
        try writer.requestHead("received", heads.request)
        try writer.requestHead("sent", messages.requestHeadSent.flatMap { StoredHead.request($0) })
        let query = record.url.query.map { FormFields.parse(query: $0) } ?? []
        try writer.pairs("query", query.lazy.map { ($0.name, $0.value) })
        let cookies = Cookies.request(heads.fields(of: .requestReceived))
        try writer.pairs("cookies", cookies.lazy.map { ($0.name, $0.value) })
        try form(into: &writer)
        try body("body", .requestReceived, into: &writer)
        try body("bodySent", .requestSent, into: &writer)
        if let trailers = messages.requestTrailers { try writer.fields("trailers", StoredHead.fields(trailers)) }
    }

    private func response(into writer: inout JSONWriter) throws {
        if let interim = messages.interimHeads {
            let length = min(interim.readableBytes, PageExchange.longestInterim)
            let beginning = interim.getSlice(at: interim.readerIndex, length: length)
            writer.optionalMember("interim", beginning.map { String(buffer: $0) })
        }
        let heads = ReadHeads(messages)
        try writer.responseHead("received", heads.response)
        if messages.responseHeadSent != nil { try writer.responseHead("sent", heads.responseSent) }
        try writer.objects("cookies", Cookies.response(heads.fields(of: .responseSent))) { writer, cookie in
            writer.member("name", cookie.name)
            writer.member("value", cookie.value)
            let attributes = cookie.attributes.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
            writer.member("attributes", attributes.joined(separator: "; "))
        }
        try body("body", .responseReceived, into: &writer)
        try body("bodySent", .responseSent, into: &writer)
        if let trailers = messages.responseTrailers { try writer.fields("trailers", StoredHead.fields(trailers)) }
    }

    private func body(_ name: String, _ side: BodySide, into writer: inout JSONWriter) throws {
        if let body = bodies[side] { try writer.object(name) { try body.write(into: &$0) } }
    }

    private func form(into writer: inout JSONWriter) throws {
        guard let loaded = bodies[.requestReceived]?.loaded, !loaded.isCut else { return }
        if loaded.mediaType?.essence == "application/x-www-form-urlencoded" {
            let fields = FormFields.parse(loaded.bytes.readableBytesView, limit: PageExchange.mostLines)
            try writer.pairs("form", fields.lazy.map { ($0.name, $0.value) })
        } else if let type = loaded.mediaType, type.type == "multipart",
            let parts = Multipart(loaded.bytes, mediaType: type)
        {
            try writer.pairs("form", parts.parts.prefix(PageExchange.mostLines).map { ($0.name ?? "", $0.summary) })
        }
    }

    private var reason: String? {
        let head = messages.head(of: .responseSent).flatMap { StoredHead.response($0) }
        let sent = head?.status == record.status ? head?.reason ?? "" : ""
        let reason = sent.isEmpty ? ResponseHead.standardReason(record.status) : sent
        return reason.isEmpty ? nil : reason
    }

    /// Changes by rules, like the detail's page shows them; `nil` if nothing was changed.
    private static func difference(
        _ exchange: RecordedExchange,
        _ source: any ExchangeSource,
        _ bodies: [BodySide: PageBody],
        _ facts: SessionFacts,
        _ limits: PageExport.Limits
    ) -> DetailDocument? {
        guard DetailBuilder(exchange, source: source).isChanged else { return nil }
        var options = DetailOptions(page: .difference)
        options.bodyLimit = limits.text
        options.isPrinted = true
        var writer = DetailWriter(options, now: exchange.record.startedAt)
        let labels = RuleLabels(exchange.messages.trace) { facts.changes[$0] }
        DifferencePage(exchange: exchange, labels: labels) { side in
            bodies[side]?.loaded ?? LoadedBody(bytes: ByteBuffer(), mediaType: nil)
        }.changes(into: &writer)
        return writer.lines.isEmpty ? nil : writer.document()
    }

    /// Writes each line of a document as an array: its indentation, then each text with its role.
    private func lines(_ name: String, _ document: DetailDocument, into writer: inout JSONWriter) throws {
        writer.key(name)
        try writer.array { writer in
            for line in document.lines.prefix(PageExchange.mostLines) {
                try writer.array { writer in
                    writer.value(line.indent)
                    for span in line.spans where !span.text.isEmpty {
                        writer.value(span.text)
                        writer.value("\(span.role)")
                    }
                }
            }
        }
        if document.lines.count > PageExchange.mostLines { writer.member(name + "Cut", true) }
    }
}

extension MultipartPart {
    /// The value of a field; the name, type and size of a file.
    fileprivate var summary: String {
        let size = Measures.size(Int64(content.readableBytes))
        if let fileName { return "file \(fileName), \(mediaType?.essence ?? "no type"), \(size)" }
        return UTF8Check.isValid(content.readableBytesView) ? String(buffer: content) : size
    }
}
