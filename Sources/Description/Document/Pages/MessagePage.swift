import Content
import HTTPModel
import NIOCore
import Text

/// A request or a response: start line, header, cookies, query, body, trailers.
struct MessagePage {
    let exchange: RecordedExchange
    let source: any ExchangeSource
    let isRequest: Bool
    let labels: RuleLabels
    /// Whether an exchange in flight may continue while it is shown.
    var isLive = false

    private var messages: ExchangeMessages { exchange.messages }
    private var received: ByteBuffer? { isRequest ? messages.requestHead : messages.responseHead }
    private var sent: ByteBuffer? { isRequest ? messages.requestHeadSent : messages.responseHeadSent }
    private var isBodyChanged: Bool {
        exchange.record.flags.contains(isRequest ? .requestBodyChanged : .responseBodyChanged)
    }

    func write(into writer: inout DetailWriter) {
        guard let received else {
            return writer.add(isRequest ? "No request was read." : "There is no response.", .faint)
        }
        let isSent = writer.options.version == .sent
        let head = isSent ? sent ?? received : received
        let side: BodySide =
            isRequest ? isSent ? .requestSent : .requestReceived : isSent ? .responseSent : .responseReceived
        let place = Place(json: side)
        if let wanted = writer.options.place, wanted.root == (isRequest ? .request : .response) {
            let body = LoadedBody(exchange, side, source: source, limit: writer.options.bodyLimit)
            let matches = JSONMatches(place: Place(place.root, .json, wanted.steps), body: body)
            let hasFound = matches.write(into: &writer)
            guard !hasFound, writer.options.wayToWhole != nil else { return }
        }
        if writer.options.isShort {
            startLine(head, &writer)
            writer.append(Span("  " + standNote(isSent, writer.options.held), .faint))
        } else {
            writer.section(isRequest ? "Request" : "Response", notes: [standNote(isSent, writer.options.held)]) {
                startLine(head, &$0)
            }
        }
        if isSent, writer.options.isPrinted {
            // The received message, which is printed before, has the rest, and the changes of its header.
            if isBodyChanged { body(side, &writer) }
            return
        }
        interim(&writer)
        let fields = messages.fields(of: side)
        let isShort = writer.options.isShort
        let summary = summary(fields, writer)
        writer.section("Headers", notes: [fields.count.of("line")], summary: summary, startsFolded: isShort) {
            headers(fields, &$0)
        }
        if isRequest {
            query(head, &writer)
            let rows = Cookies.request(fields).map { (name: Span($0.name, .key), value: [Span($0.value, .string)]) }
            cookies("Cookies", rows, &writer)
        } else {
            setCookies(fields, &writer)
        }
        if isLive, !isRequest, let progress = DownloadProgress(exchange, now: writer.now) {
            writer.section("Progress") { progress.write(into: &$0) }
        }
        body(side, &writer)
        if let trailers = isRequest ? messages.requestTrailers : messages.responseTrailers {
            let fields = StoredHead.fields(trailers)
            writer.section("Trailers", notes: [fields.count.of("line")]) { $0.table(fields) }
        }
    }

    private func standNote(_ isSent: Bool, _ held: HeldSide?) -> String {
        if held?.isRequest == isRequest { return "held: not sent on yet" }
        let isAnswered = exchange.record.flags.contains(.answeredLocally)
        if isRequest, !isSent || sent == nil, let reason = reasonNotSent { return "not sent on: \(reason)" }
        let isOurs = !isRequest && isAnswered
        let isChanged = exchange.record.flags.contains(isRequest ? .requestChanged : .responseChanged)
        // A conversion between HTTP versions rewrites a message, but does not change its meaning.
        let isAsBefore = sent == nil && !isBodyChanged || !isChanged && !isSent
        if isAsBefore { return isOurs ? "made by Sluice or a rule" : "unchanged" }
        return isSent
            ? "as sent" : isOurs ? "as made by Sluice or a rule" : "as received; it was changed before it was sent"
    }

    /// Why the request was not sent; `nil` if it was sent, or if that is unknown.
    private var reasonNotSent: String? {
        let record = exchange.record
        guard record.state != .inFlight else { return nil }
        let isAnswered = record.flags.contains(.answeredLocally) || record.kind == .malformed
        if isAnswered, exchange.upstream == nil { return "no server was asked" }
        // `upstreamVersion` is set once the request can be sent to the server.
        guard record.state == .failed, record.extras.origin == nil, record.upstreamVersion == nil,
            record.timings.dns != nil || record.timings.connect != nil
        else { return nil }
        let isProxys = exchange.upstream != nil && record.failure?.code == .upstreamProxy
        return isProxys ? "the proxy opened no way to the server" : "no connection to the server came about"
    }

    private func startLine(_ head: ByteBuffer, _ writer: inout DetailWriter) {
        if isRequest, let request = StoredHead.request(head) {
            let version = Span(" " + request.version.description, .faint)
            writer.add([Span(request.method, .keyword), Span(" "), Span(request.target, .link), version])
        } else if !isRequest, let response = StoredHead.response(head) {
            let reason = response.reason.isEmpty ? "" : " " + response.reason
            let status = Span(String(response.status), .status(response.status))
            writer.add([Span(response.version.description + " ", .faint), status, Span(reason)])
        } else {
            writer.add("The first line cannot be read:", .failure)
            let line = head.readableBytesView.prefix(1000).prefix { $0 != 0x0A }
            writer.add(String(fieldBytes: line))
        }
    }

    private func interim(_ writer: inout DetailWriter) {
        guard !isRequest, let heads = messages.interimHeads, heads.readableBytes > 0 else { return }
        writer.section("Interim responses") { writer in
            for line in heads.readableBytesView.split(separator: 0x0A) {
                writer.add(String(fieldBytes: line.last == 0x0D ? line.dropLast() : line))
            }
        }
    }

    /// The fields in one line, the most informative fields first.
    private func summary(_ fields: FieldSection, _ writer: DetailWriter) -> String {
        let (first, rest) = (["content-type", "content-encoding", "location"], Array(fields))
        func isFirst(_ name: String) -> Bool { first.contains(name.lowercased()) }
        let sorted = rest.filter { isFirst($0.name) } + rest.filter { !isFirst($0.name) }
        return writer.inOneLine(sorted.prefix(20).map { "\($0.name.lowercased()): \($0.value.prefix(60))" })
    }

    private func headers(_ fields: FieldSection, _ writer: inout DetailWriter) {
        let part = Place(isRequest ? .request : .response, .header)
        guard sent != nil else { return writer.table(fields, of: part) }
        let sides: [BodySide] = isRequest ? [.requestReceived, .requestSent] : [.responseReceived, .responseSent]
        let lists = sides.map { FieldDifference.fields(messages.fields(of: $0)) }
        let entries = FieldDifference.entries(lists[0], lists[1])
        writer.changes(entries, of: part, label: { labels.header($0, isRequest: isRequest) })
    }

    private func query(_ head: ByteBuffer, _ writer: inout DetailWriter) {
        guard let target = StoredHead.request(head)?.target, let mark = target.firstIndex(of: "?") else { return }
        let query = target[target.index(after: mark)...].prefix { $0 != "#" }
        writer.section("Query") { FormTable(String(query), at: Place(.request, .query)).write(into: &$0) }
        if query.contains("query="), let operation = GraphQLOperation.inQuery(FormFields.parse(query: String(query))) {
            GraphQLView(operation).write(into: &writer)
        }
    }

    private func setCookies(_ fields: FieldSection, _ writer: inout DetailWriter) {
        let rows = Cookies.response(fields).map { cookie in
            let attributes = cookie.attributes.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
            let rest = attributes.isEmpty ? "" : "; " + attributes.joined(separator: "; ")
            var spans = [Span(cookie.value, .string), Span(rest, .faint)]
            if let end = cookie.expires(receivedAt: exchange.record.startedAt) {
                let words = "  (\(Timestamp.readable(end)): \(writer.expiry(end)))"
                spans.append(Span(words, end > writer.now ? .faint : .warning))
            }
            return (name: Span(cookie.name, .key), value: spans)
        }
        cookies("Cookies set", rows, &writer)
    }

    private func cookies(_ title: String, _ rows: [(name: Span, value: [Span])], _ writer: inout DetailWriter) {
        if rows.isEmpty { return }
        let names = writer.inOneLine(rows.prefix(20).map(\.name.text))
        let isShort = writer.options.isShort
        writer.section(title, notes: ["\(rows.count)"], summary: names, startsFolded: isShort) {
            $0.table(rows, of: Place(isRequest ? .request : .response, .cookie))
        }
    }

    private func body(_ side: BodySide, _ writer: inout DetailWriter) {
        let isWire = writer.options.bodyForm == .wire
        let body = LoadedBody(exchange, side, source: source, limit: writer.options.bodyLimit, isWire: isWire)
        if writer.options.isPrinted, isListed { return }
        guard !body.isEmpty || body.failure != nil else {
            let words = isIncomplete ? exchange.wordsOfDroppedBodies : nil
            writer.section("Body", notes: [words ?? "none"]) { _ in }
            return
        }
        var notes = body.facts
        if isBodyChanged {
            let isSent = side == .requestSent || side == .responseSent
            let label = labels.body(isRequest: isRequest).map { " by \($0)" } ?? ""
            notes.append((isSent ? "as changed" : "before it was changed") + label)
        }
        if isIncomplete {
            notes.append(body.bytes.readableBytes == 0 ? "not in the recording" : "the recording lacks bytes of it")
        }
        if exchange.record.state == .inFlight { notes.append("so far") }
        writer.section("Body", notes: notes) { writer in
            if writer.options.bodyForm == .pretty, !writer.options.isPrinted, hasMessages(body) {
                let page = [messages.requestHead, messages.responseHead].count { $0 != nil } + 2
                writer.add("See page \(page) for messages. Raw bytes:", .faint)
                HexLayout(bytes: body.bytes).write(into: &writer)
            } else {
                let isAnswer = !isRequest && !GraphQLView.operations(exchange, source: source).isEmpty
                // Lines of two streams are numbered together, so the number of a line in one body says nothing.
                let formats = MessageTimeline(exchange, source: source)?.formats
                let isNumbered = formats?.fromClient == nil || formats?.fromServer == nil
                let place = isNumbered ? Place(json: side) : nil
                BodyView(body: body, isAnswer: isAnswer, place: place).write(into: &writer)
            }
        }
    }

    private var isIncomplete: Bool {
        exchange.record.flags.contains(isRequest ? .requestBodyIncomplete : .responseBodyIncomplete)
    }

    /// Whether the body is a stream with messages, which are printed instead of the body.
    private var isListed: Bool {
        if let call = try? GRPCReport(exchange, source: source) {
            return (isRequest ? call.formats.fromClient : call.formats.fromServer) != nil
        }
        guard let timeline = MessageTimeline(exchange, source: source),
            (isRequest ? timeline.formats.fromClient : timeline.formats.fromServer) != nil
        else { return false }
        // A body without messages, in spite of its type, is shown as a body.
        return exchange.record.kind == .webSocket || (try? timeline.next()) != nil
    }

    private func hasMessages(_ body: LoadedBody) -> Bool {
        if exchange.record.kind == .webSocket { return true }
        guard body.problem == nil, let type = body.mediaType else { return false }
        return StreamCounter.Format(mediaType: type.essence)?.isGRPC == true
    }
}
