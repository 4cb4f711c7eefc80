import Content
import HTTPModel
import NIOCore
import Text

/// What happened in an exchange, at a glance.
struct OverviewPage {
    let exchange: RecordedExchange
    let source: any ExchangeSource
    let now: Int64?

    private var record: ExchangeRecord { exchange.record }

    func write(into writer: inout DetailWriter) {
        writer.section("Exchange \(record.id)") { outcome(&$0) }
        writer.section("Times") { Waterfall(phases: record.phases).write(into: &$0) }
        writer.section("Sizes") { sizes(&$0) }
        writer.section("Client") {
            process(&$0)
            $0.fact("mode", record.mode)
            connection(exchange.client, version: record.clientVersion, &$0)
        }
        writer.section("Server") { writer in
            if let upstream = exchange.upstream {
                connection(upstream, version: record.upstreamVersion, &writer)
            } else {
                writer.add(record.wordsWithoutServer, .faint)
            }
        }
        writer.section("Rules and remarks") { $0.trace(exchange.messages.trace) }
    }

    private func outcome(_ writer: inout DetailWriter) {
        let method = record.method.isEmpty ? "(no request)" : record.method
        writer.fact("request", [Span(method, .keyword), Span(" "), Span(record.url.description, .link)])
        host(record.url, &writer)
        if let sent = record.sentURL { writer.fact("sent to", sent.description, .link) }
        if record.kind != .http { writer.fact("kind", record.kind.sentence) }
        if record.status > 0 { writer.fact("status", statusSpans) }
        if let answerer = Answerer(exchange), !answerer.brief.isEmpty { writer.fact("answered by", answerer.name) }
        let state = state(writer.options)
        writer.fact("state", [Span(state.text, state.role)])
        if let failure = record.failure {
            var message = failure.message
            if let way = writer.options.wayToTrust {
                message.replace(ExchangeFailure.howToTrust, with: "Press \(way) for setup commands.")
            }
            if let host = failure.unverifiedHost, let way = writer.options.wayToSkip {
                let option = ExchangeFailure.skippingVerification(of: host)
                message.replace(option, with: "\(way), which stops verifying it until Sluice ends, or \(option)")
            }
            writer.fact("failure", [Span(failure.code.rawValue, .failure), Span(": \(message)")])
            if !failure.hint.isEmpty { writer.fact("what to try", failure.hint, .warning) }
        }
        if let grpc = record.grpc {
            let status = "\(grpc.status) \(grpc.name ?? "(unknown status)")"
            let message = grpc.message.isEmpty ? "" : ": \(grpc.message)"
            writer.fact("gRPC status", [Span(status, grpc.status == 0 ? .success : .failure), Span(message)])
        }
        messageCounts(&writer)
        let operations = GraphQLView.operations(exchange, source: source)
        writer.fact("GraphQL", Optional(operations.prefix(5).map(\.title).joined(separator: ", ")))
        writer.fact("started", Timestamp.readable(record.startedAt))
        if let total = record.timings.total {
            writer.fact("took", Measures.duration(total))
        } else if record.state == .inFlight, let now {
            writer.fact("so far", Measures.duration(max(0, now - record.startedAt)))
        }
        if let now, let progress = DownloadProgress(exchange, now: now) {
            let line = writer.place
            progress.write(into: &writer, beside: DetailWriter.labelWidth + 1)
            writer.label("received", of: line)
        }
        writer.fact("media type", Optional(record.mediaType))
        writer.fact("imported from", record.extras.origin)
        writer.fact("comment", record.extras.annotation.comment, .warning)
        writer.fact("colour", record.extras.annotation.colour)
        let flags = writer.options.held == nil ? record.flags : record.flags.subtracting(.held)
        let remarks = (writer.options.isSentFromHere ? ["sent from this console"] : []) + flags.sentences
        for (index, remark) in remarks.enumerated() { writer.fact(index == 0 ? "remarks" : "", remark) }
    }

    private func host(_ url: RequestURL, _ writer: inout DetailWriter) {
        guard let forms = HostForms(url.host) else { return }
        writer.fact("host", forms.text)
        if let suspicion = forms.suspicion { writer.fact("suspicious", "the host \(suspicion)", .warning) }
    }

    private var statusSpans: [Span] {
        let head = exchange.messages.responseHeadSent ?? exchange.messages.responseHead
        let stored = head.flatMap { StoredHead.response($0) }
        let sent = stored?.status == record.status ? stored?.reason ?? "" : ""
        let reason = sent.isEmpty ? ResponseHead.standardReason(record.status) : sent
        return [Span(String(record.status), .status(record.status)), Span(reason.isEmpty ? "" : " \(reason)")]
    }

    private func state(_ options: DetailOptions) -> (text: String, role: Role) {
        switch record.state {
        case .inFlight where !options.isLive: ("cut: the recording ended before the exchange did", .failure)
        case .inFlight: (options.held.map(waits) ?? "in flight: it has not ended", .warning)
        case .complete: ("complete", .success)
        case .failed: ("failed", .failure)
        case .blocked: ("blocked by a rule", .failure)
        case .interrupted: ("interrupted: the recording ended before the exchange did", .failure)
        }
    }

    private func waits(_ held: HeldSide) -> String {
        "held: its \(held.isRequest ? "request" : "response") waits at a breakpoint for \(held.ways)"
    }

    private func messageCounts(_ writer: inout DetailWriter) {
        guard record.kind == .webSocket || record.tally != MessageCounts() else { return }
        writer.fact("messages", record.words(of: record.tally))
    }

    private func sizes(_ writer: inout DetailWriter) {
        let sizes = record.sizes
        writer.fact("request", size(head: sizes.requestHead, body: sizes.requestBody, wire: sizes.requestWire))
        coding(.requestReceived, &writer)
        writer.fact("response", size(head: sizes.responseHead, body: sizes.responseBody, wire: sizes.responseWire))
        coding(.responseReceived, &writer)
    }

    /// Shows what the content coding of a body saved, as far as the beginning of the body shows it.
    private func coding(_ side: BodySide, _ writer: inout DetailWriter) {
        guard exchange.messages.fields(of: side).contains(.contentEncoding) else { return }
        let body = LoadedBody(exchange, side, source: source, limit: writer.options.bodyLimit)
        writer.fact("", body.decodedFact)
    }

    private func size(head: Int64, body: Int64, wire: Int64) -> String {
        "head \(Measures.size(head)), body \(Measures.size(body)), \(Measures.size(wire)) on the wire"
    }

    private func process(_ writer: inout DetailWriter) {
        if let process = record.extras.process {
            writer.fact("process", "\(process.name) (process \(process.id))")
        } else if record.isProcessUnknown, record.state != .inFlight || !writer.options.isLive {
            let words = "not found: it had gone before it was looked up, or is another user's"
            writer.fact("process", words, .faint)
        }
    }

    private func connection(_ connection: ConnectionRecord?, version: HTTPVersion?, _ writer: inout DetailWriter) {
        guard let connection else { return }
        let here = connection.localAddress.isEmpty ? "" : ", here \(connection.localAddress)"
        writer.fact("address", connection.peerAddress + (connection.proxy == nil ? "" : " (the proxy's)") + here)
        writer.fact("through proxy", connection.proxy)
        let isUpstream = connection.leg == .upstream
        let use = record.flags.contains(.upstreamReused) ? ", reused" : ", made for this exchange"
        writer.fact("connection", "\(connection.id)\(isUpstream ? use : "")")
        writer.fact("version", version?.description)
        if isUpstream { handshakeTimes(connection, &writer) }
        guard let tls = connection.tls else {
            // An imported archive has no local address, and does not say whether the server was reached by TLS.
            let isSecure = record.url.scheme == "https" || record.url.scheme == "wss"
            let isUnknown = isUpstream && connection.localAddress.isEmpty && isSecure
            writer.fact("TLS", isUnknown ? "unknown: imported" : "none: plain text")
            return
        }
        var facts = [tls.protocolVersion, tls.cipherSuite]
        if tls.resumed { facts.append("resumed") }
        writer.fact("TLS", facts.joined(separator: ", "))
        writer.fact("ALPN", tls.applicationProtocol ?? "none")
        writer.fact("server name", tls.serverName)
        if let failure = tls.verificationFailure {
            writer.fact("not verified", failure, .failure)
        } else if !tls.peerCertificates.isEmpty {
            writer.fact("verified", "yes", .success)
        }
        if let asked = tls.clientCertificate { clientCertificate(asked, &writer) }
        for (index, certificate) in tls.peerCertificates.prefix(10).enumerated() {
            self.certificate(certificate, isLeaf: index == 0, &writer)
        }
    }

    private func handshakeTimes(_ connection: ConnectionRecord, _ writer: inout DetailWriter) {
        let phases = [("DNS", connection.dns), ("TCP", connection.connect), ("TLS", connection.handshake)]
        let words = phases.compactMap { name, time in time.map { "\(name) \(Measures.duration($0))" } }
        writer.fact("took", Optional(words.joined(separator: ", ")))
    }

    /// The client certificate that the server requested and got, now or in the handshake of the resumed session.
    private func clientCertificate(_ asked: ClientCertificateDetails, _ writer: inout DetailWriter) {
        if let sent = asked.sent {
            let name = asked.name.map { "'\($0)': " } ?? ""
            let how = asked.isResumed ? "known from the resumed session:" : "asked for, sent"
            writer.fact("client certificate", "\(how) \(name)\(sent.subject)")
            writer.fact("  issued by", sent.issuer)
            writer.fact("  SHA-256", sent.fingerprint, .faint)
        } else {
            let moment = asked.isResumed ? " when the resumed session was made" : ""
            writer.fact("client certificate", "asked for\(moment), none sent")
        }
        guard !asked.authorities.isEmpty else { return }
        let more = asked.authorities.count > 10 ? " and \((asked.authorities.count - 10).of("other"))" : ""
        writer.fact("  of authority", asked.authorities.prefix(10).joined(separator: "; ") + more)
    }

    private func certificate(_ certificate: CertificateSummary, isLeaf: Bool, _ writer: inout DetailWriter) {
        writer.fact(isLeaf ? "certificate" : "issuer", certificate.subject)
        let first = writer.place - 1
        writer.fact("  issued by", certificate.issuer)
        let start = Timestamp.readable(certificate.notBefore &* 1_000_000)
        let end = Timestamp.readable(certificate.notAfter &* 1_000_000)
        let moment = record.startedAt / 1_000_000
        let isValid = (certificate.notBefore...max(certificate.notBefore, certificate.notAfter)).contains(moment)
        let range = Span("\(start) to \(end)", isValid ? .text : .failure)
        writer.fact("  valid", [range, Span(isValid ? "" : " (not then)", .failure)])
        let names = certificate.alternativeNames
        let more = names.count > 50 ? " and \((names.count - 50).of("other"))" : ""
        writer.fact("  names", Optional(names.prefix(50).joined(separator: ", ") + more))
        if let staple = certificate.staple {
            let role: Role = staple.state == .good ? .success : staple.state == .revoked ? .failure : .text
            writer.fact("  OCSP staple", StapleWords.sentence(staple), role)
        }
        writer.fact("  SHA-256", certificate.fingerprint, .faint)
        if !isLeaf { writer.foldLines(from: first, startsFolded: true) }
    }
}

extension Role {
    package static func status(_ code: Int) -> Role {
        switch code {
        case 200..<300: .success
        case 300..<400: .redirect
        case 400..<500: .clientError
        case 500...: .serverError
        default: .text
        }
    }
}
