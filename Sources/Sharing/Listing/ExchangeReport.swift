package import Content
package import HTTPModel
import NIOCore

/// Everything about one exchange as plain text: what `sluice show` prints.
///
/// Values from traffic are printed as ``VisibleText`` has them; only body text keeps its line breaks and tabs.
package struct ExchangeReport {
    private static let labelWidth = 14

    private let exchange: RecordedExchange
    private let source: any ExchangeSource
    private let bodyLimit: Int
    /// The exchange's messages, where its bodies are streams of them.
    private let listing: MessageListing?
    /// The exchange as a gRPC call, where it is one.
    private let call: GRPCReport?
    private var lines: [String] = []

    /// The report.
    ///
    /// - Parameters:
    ///   - exchange: the exchange.
    ///   - source: where its bodies are.
    ///   - bodyLimit: how many decoded bytes of each body to print at most.
    ///   - descriptors: what gRPC messages mean; without them their fields have numbers.
    /// - Returns: the report, with a line feed at its end.
    /// - Throws: the source's error.
    package static func text(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        bodyLimit: Int = 64 * 1024,
        descriptors: DescriptorSet? = nil
    ) throws -> String {
        var report = try ExchangeReport(exchange, source: source, bodyLimit: bodyLimit, descriptors: descriptors)
        report.overview()
        report.times()
        report.traceLines()
        try report.request()
        try report.response()
        report.messages()
        return report.lines.joined(separator: "\n") + "\n"
    }

    private init(
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        bodyLimit: Int,
        descriptors: DescriptorSet?
    ) throws {
        self.exchange = exchange
        self.source = source
        self.bodyLimit = bodyLimit
        let timeline = MessageTimeline(exchange, source: source, payloadLimit: MessageListing.payloadLimit)
        let listing = try timeline.map { try MessageListing($0, of: exchange.record) }
        // A body that has none of the messages that its type promises is better seen as it is.
        self.listing = listing?.isEmpty == false || exchange.record.kind == .webSocket ? listing : nil
        call = try GRPCReport(exchange, source: source, descriptors: descriptors)
    }

    private mutating func add(_ label: String, _ value: String) {
        lines.append("  " + label.padded(ExchangeReport.labelWidth) + VisibleText.of(value))
    }

    private mutating func section(_ title: String) {
        if !lines.isEmpty { lines.append("") }
        lines.append(title)
    }

    // MARK: Overview

    private mutating func overview() {
        let record = exchange.record
        section("Exchange \(record.id): \(VisibleText.of(record.method)) \(VisibleText.of(record.url.description))")
        if let sent = record.sentURL { add("sent to", sent.description) }
        add("kind", record.kind.exportName)
        add("state", record.state.exportName)
        if record.status > 0 { add("status", String(record.status)) }
        if let failure = record.failure {
            add("failure", "\(failure.code.rawValue): \(failure.message)")
            if !failure.hint.isEmpty { add("hint", failure.hint) }
        }
        add("started", Timestamp.readable(record.startedAt))
        add("versions", "client \(record.clientVersion), server \(record.upstreamVersion?.description ?? "not asked")")
        let flags = record.flags.exportNames
        if !flags.isEmpty { add("flags", flags.joined(separator: ", ")) }
        leg("client", exchange.client)
        leg("server", exchange.upstream)
        let sizes = record.sizes
        let request = "head \(Measures.size(sizes.requestHead)), body \(Measures.size(sizes.requestBody))"
        let response = "head \(Measures.size(sizes.responseHead)), body \(Measures.size(sizes.responseBody))"
        add("request size", "\(request), \(Measures.size(sizes.requestWire)) on the wire")
        add("response size", "\(response), \(Measures.size(sizes.responseWire)) on the wire")
    }

    private mutating func leg(_ label: String, _ connection: ConnectionRecord?) {
        guard let connection else { return }
        add(label, "\(connection.peerAddress) (connection \(connection.id), here \(connection.localAddress))")
        guard let tls = connection.tls else { return }
        var facts = [tls.protocolVersion, tls.cipherSuite]
        if let name = tls.serverName { facts.append("SNI \(name)") }
        if let alpn = tls.applicationProtocol { facts.append("ALPN \(alpn)") }
        if tls.resumed { facts.append("resumed") }
        add("\(label) TLS", facts.joined(separator: ", "))
        if let leaf = tls.peerCertificates.first {
            add("certificate", "\(leaf.subject), issued by \(leaf.issuer)")
            let start = Timestamp.readable(leaf.notBefore &* 1_000_000)
            let end = Timestamp.readable(leaf.notAfter &* 1_000_000)
            add("", "valid \(start) to \(end); \(leaf.alternativeNames.joined(separator: ", "))")
        }
        if let failure = tls.verificationFailure { add("not verified", failure) }
    }

    private mutating func times() {
        let timings = exchange.record.timings
        let phases: [(String, Int64?)] = [
            ("blocked", timings.blocked), ("dns", timings.dns), ("connect", timings.connect), ("tls", timings.tls),
            ("send", timings.send), ("wait", timings.wait), ("receive", timings.receive), ("total", timings.total),
        ]
        guard phases.contains(where: { $0.1 != nil }) else { return }
        section("Timings")
        for (name, time) in phases {
            if let time { add(name, Measures.duration(time)) }
        }
    }

    private mutating func traceLines() {
        guard !exchange.messages.trace.isEmpty else { return }
        section("Trace")
        for entry in exchange.messages.trace {
            let rule = entry.rule.map { " \($0)" } ?? ""
            lines.append(VisibleText.of("  \(entry.stage)\(rule): \(entry.text)"))
        }
    }

    // MARK: Messages

    private mutating func request() throws {
        let messages = exchange.messages
        let isChanged = messages.requestHeadSent != nil
        head(isChanged ? "Request as received" : "Request", messages.requestHead)
        head("Request as sent", messages.requestHeadSent)
        let isListed = listing?.formats.fromClient != nil || call?.framings.fromClient != nil
        if !isListed { try body("Request body", .requestReceived) }
        if exchange.record.flags.contains(.requestBodyChanged) {
            try body("Request body as sent", .requestSent)
        }
        head("Request trailers", messages.requestTrailers)
    }

    private mutating func response() throws {
        let messages = exchange.messages
        let isChanged = messages.responseHeadSent != nil
        head("Interim responses", messages.interimHeads)
        let isOurs = exchange.record.flags.contains(.answeredLocally)
        head(
            isOurs ? "Response made by Sluice" : isChanged ? "Response as received" : "Response",
            messages.responseHead
        )
        head("Response as sent", messages.responseHeadSent)
        let isListed = listing?.formats.fromServer != nil || call?.framings.fromServer != nil
        if !isListed { try body("Response body", .responseReceived) }
        if exchange.record.flags.contains(.responseBodyChanged) {
            try body("Response body as sent", .responseSent)
        }
        head("Response trailers", messages.responseTrailers)
    }

    /// What the streams carried, in place of their bodies.
    private mutating func messages() {
        if let listing {
            section(listing.title)
            lines += listing.lines.map { "  " + $0 }
        }
        if let call {
            section(call.title)
            lines += call.lines.map { "  " + $0 }
        }
    }

    private mutating func head(_ title: String, _ bytes: ByteBuffer?) {
        guard let bytes, bytes.readableBytes > 0 else { return }
        section(title)
        var headLines = bytes.readableBytesView.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(fieldBytes: line.last == 0x0D ? line.dropLast() : line)
        }
        while headLines.last == "" { headLines.removeLast() }
        lines += headLines.map { "  " + VisibleText.of($0) }
    }

    private mutating func body(_ title: String, _ side: BodySide) throws {
        let recorded = RecordedBody(source: source, id: exchange.record.id, side: side)
        // One byte more than is shown tells whether there is more.
        let bytes = try recorded.prefix(bodyLimit + 1)
        guard bytes.readableBytes > 0 else { return }
        let fields = exchange.messages.fields(of: side)
        let isCut = bytes.readableBytes > bodyLimit
        let preview = BodyPreview(
            bytes,
            contentType: fields.value(of: .contentType),
            contentEncoding: fields.combinedValue(of: .contentEncoding),
            limit: bodyLimit,
            pretty: !isCut
        )
        var notes = isCut ? ["only the first \(Measures.size(Int64(bodyLimit))) are read"] : preview.notes
        switch preview.content {
        case .empty: notes.append("nothing could be decoded")
        case .binary(_, let description): notes.append("\(description), \(Measures.size(Int64(bytes.readableBytes)))")
        case .text: break
        }
        section(notes.isEmpty ? title : VisibleText.of("\(title) (\(notes.joined(separator: "; ")))"))
        if case .text(let text, _) = preview.content {
            for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd) {
                lines.append("  " + VisibleText.lines(String(line)))
            }
        }
    }
}
