import Content
import HTTPModel
import NIOCore
import Text

/// The messages of a stream, one line for each; a line opens into the whole message.
struct StreamPage {
    private static let payloadLimit = 64 * 1024
    private static let beginning = 160

    let exchange: RecordedExchange
    let source: any ExchangeSource
    var descriptors: DescriptorSet?

    func write(into writer: inout DetailWriter) {
        do {
            if let call = try GRPCReport(exchange, source: source, descriptors: descriptors) {
                return grpc(call, &writer)
            }
            guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: StreamPage.payloadLimit) else {
                return writer.add("The exchange carries no messages.", .faint)
            }
            try writer.options.isPrinted ? ends(timeline, &writer) : messages(timeline, &writer)
        } catch {
            writer.add("The messages cannot be read: \(error)", .failure)
        }
    }

    // MARK: gRPC

    private func grpc(_ call: GRPCReport, _ writer: inout DetailWriter) {
        writer.section(call.title) { writer in
            var starts: [Int] = []
            for line in call.lines where writer.takesMore() {
                if line.hasPrefix(GRPCCall.indent) {
                    writer.add(String(line.dropFirst(GRPCCall.indent.count)), .string, indent: 4)
                } else {
                    if let start = starts.last { foldPreview(from: start, &writer) }
                    starts.append(writer.place)
                    writer.add(line)
                    writer.nameLine("message \(starts.count)")
                }
            }
            if let start = starts.last { foldPreview(from: start, &writer) }
        }
    }

    /// Folds a message into its line, which shows as many of the message's fields as fit.
    private func foldPreview(from line: Int, _ writer: inout DetailWriter) {
        let fields = writer.lines[line...].dropFirst().flatMap(\.spans).map(\.text).filter { !$0.isEmpty }
        let text = fields.prefix(40).map { $0.drop { $0 == " " } }.joined(separator: "  ")
        let room = max(20, writer.options.width - writer.lines[line].plain.columns - 3)
        let preview = TextWidth.cut(text, to: room, ellipsis: writer.sign("…", "..."))
        writer.fold(from: line, " " + preview, startsFolded: !writer.options.isPrinted)
    }

    // MARK: Other streams

    typealias Arrivals = [StreamedMessage.Direction: Int64]

    /// A message, and the time since the previous message from the same side, in microseconds.
    private struct Row {
        let message: StreamedMessage
        let gap: Int64?

        init(_ message: StreamedMessage, _ lastArrival: inout Arrivals) {
            self.message = message
            gap = message.arrivedAt.flatMap { at in lastArrival[message.direction].map { at - $0 } }
            lastArrival[message.direction] = message.arrivedAt
        }
    }

    /// Adds a page of messages, each of which opens into its content.
    private func messages(_ timeline: MessageTimeline, _ writer: inout DetailWriter) throws {
        var rows: [Row] = []
        var first = max(0, writer.options.firstMessage)
        var index = 0
        var hasMore = false
        var lastArrival: Arrivals = [:]
        writer.add(title(exchange.record.tally), .heading)
        writer.nameLine("messages")
        while let message = try timeline.next() {
            if !writer.options.showsNewest, index >= first + MessageWindow.most {
                hasMore = true
                break
            }
            let row = Row(message, &lastArrival)
            if writer.options.showsNewest || index >= first { rows.append(row) }
            if rows.count > MessageWindow.most { rows.removeFirst() }
            index += 1
        }
        if writer.options.showsNewest { first = index - rows.count }
        if first > 0 { writer.add("\(first.of("earlier message")) not shown", .faint) }
        writer.margin += 2
        defer { writer.margin -= 2 }
        for (number, row) in rows.enumerated() {
            guard writer.takesMore() else {
                (hasMore, index) = (true, first + number)
                break
            }
            add(row, number: first + number + 1, &writer)
        }
        writer.messages = MessageWindow(range: min(first, index)..<index, hasMore: hasMore)
        if index <= first, !hasMore { writer.add(index == 0 ? "None so far." : "There are no more.", .faint) }
        if hasMore {
            let tally = exchange.record.tally
            let all = Int(clamping: tally.fromClient) + Int(clamping: tally.fromServer)
            let rest = all > index ? "about \((all - index).of("more message"))" : "there are more messages"
            writer.leaveOut("Messages \((first + 1).grouped) to \(index.grouped) are shown; \(rest).")
        } else {
            remarks(timeline, &writer)
        }
    }

    private func ends(_ timeline: MessageTimeline, _ writer: inout DetailWriter) throws {
        var rows = FirstAndLast<Row>()
        var tally = MessageCounts()
        var lastArrival: [StreamedMessage.Direction: Int64] = [:]
        while let message = try timeline.next() {
            rows.append(Row(message, &lastArrival))
            guard message.isCounted else { continue }
            if message.direction == .fromClient { tally.fromClient += 1 } else { tally.fromServer += 1 }
        }
        guard rows.count > 0 || exchange.record.kind == .webSocket else { return }
        writer.section(title(tally)) { writer in
            for (index, row) in rows.first.enumerated() { add(row, number: index + 1, &writer) }
            if rows.leftOut > 0 { writer.add("… \(rows.leftOut.grouped) more; \(wayToAll(timeline))") }
            let last = rows.last
            for (index, row) in last.enumerated() { add(row, number: rows.count - last.count + index + 1, &writer) }
            remarks(timeline, &writer)
        }
    }

    private func wayToAll(_ timeline: MessageTimeline) -> String {
        let id = exchange.record.id
        let each = "`sluice show SESSION \(id) --message N` prints each"
        if exchange.record.kind == .webSocket { return "\(each), `sluice export SESSION id:\(id) --format json` all" }
        let side = timeline.formats.fromServer != nil ? "response" : "request"
        return "`sluice show SESSION \(id) --body \(side)` prints all"
    }

    /// A message on a line of its own, for following the stream.
    func printed(_ message: StreamedMessage, number: Int, _ lastArrival: inout Arrivals) -> String {
        var options = DetailOptions(page: .messages)
        options.isPrinted = true
        var writer = DetailWriter(options)
        add(Row(message, &lastArrival), number: number, &writer)
        return writer.lines.map { $0.plain + "\n" }.joined()
    }

    private func remarks(_ timeline: MessageTimeline, _ writer: inout DetailWriter) {
        if timeline.commentCount > 0 { writer.add("comment lines: \(timeline.commentCount)", .faint) }
        for remark in timeline.remarks { writer.add(remark, .warning) }
    }

    private func title(_ tally: MessageCounts) -> String {
        guard tally != MessageCounts() || exchange.record.kind == .webSocket else { return "Messages" }
        return "Messages: \(exchange.record.words(of: tally))"
    }

    private func add(_ row: Row, number: Int?, _ writer: inout DetailWriter) {
        let message = row.message
        let isSent = message.direction == .fromClient
        let time = message.arrivedAt.map { Measures.elapsed(from: exchange.record.startedAt, to: $0) } ?? "-"
        let arrow = isSent ? writer.sign("→", "->") : writer.sign("←", "<-")
        var spans = [
            Span(time.aligned(to: 10) + "  ", .faint),
            Span("\(arrow) to \(isSent ? "server" : "client")  ", isSent ? .added : .link),
            Span(gap(row), .faint),
            Span(kind(message).filled(to: 6) + " ", .label),
            Span(Measures.size(message.size).aligned(to: 7) + "  ", .number),
        ]
        let content = beginning(message, writer)
        spans.append(Span(content.text, .string))
        var notes = notes(message)
        if writer.options.isPrinted, !content.isWhole, StreamPage.isLong(message), let number {
            notes.append("--message \(number) has all")
        }
        if !notes.isEmpty { spans.append(Span("  [\(notes.joined(separator: "; "))]", .warning)) }
        // If the line does not show all of the message, or the message is JSON, the content is below.
        let isAll = writer.options.isPrinted || content.isWhole && !content.isJSON
        writer.add(spans, wraps: isAll)
        let line = writer.place - 1
        if let number { writer.nameLine("message \(number)") }
        guard !isAll else { return }
        writer.indented(4) { writer in
            if let text = message.text {
                let place = number.map { Place(.message($0), .json) }
                if !content.isJSON || writer.json(Array(text.utf8), isCut: message.leftOut > 0, at: place) != nil {
                    TextLayout.write(text, into: &writer)
                }
            } else {
                HexLayout(bytes: message.payload).write(into: &writer)
            }
            if message.leftOut > 0 { writer.add("and \(Measures.size(message.leftOut)) more", .warning) }
        }
        writer.foldLines(from: line, startsFolded: true)
    }

    /// WebSocket messages have no gap column.
    private func gap(_ row: Row) -> String {
        if exchange.record.kind == .webSocket { return "" }
        return row.gap.map { ("+" + Measures.duration($0)).aligned(to: 9) + "  " } ?? String(repeating: " ", count: 11)
    }

    private func kind(_ message: StreamedMessage) -> String {
        switch message.kind {
        case .webSocket(let details): details.opcode.name
        case .event(let event): event.type
        case .line: "line"
        }
    }

    /// The beginning of a message's content on one line, and whether that is all of the content.
    private func beginning(
        _ message: StreamedMessage,
        _ writer: DetailWriter
    ) -> (text: String, isWhole: Bool, isJSON: Bool) {
        if case .webSocket(let details) = message.kind, details.opcode == .close, let close = details.close {
            let reason = close.reason.isEmpty ? "" : ": \(close.reason)"
            return ("\(close.code)\(close.meaning.map { " \($0)" } ?? "")\(reason)", true, false)
        }
        guard let text = message.text else {
            let bytes = message.payload.readableBytesView.prefix(16)
            let digits = bytes.map { $0.padded(to: 2, radix: 16) }.joined(separator: " ")
            let signs = String(bytes.map { (0x20..<0x7F).contains($0) ? Character(Unicode.Scalar($0)) : "." })
            return ("\(digits)\(message.size > 16 ? " …" : "")  |\(signs)|", message.size <= 16, false)
        }
        let isJSON = text.utf8.count > 2 && (text.utf8.first == 0x7B || text.utf8.first == 0x5B)
        let beginning = text.prefix(StreamPage.beginning)
        let line = beginning.map { $0.isNewline ? writer.sign("⏎", " ") : String($0) }.joined()
        let isCut = beginning.endIndex < text.endIndex || message.leftOut > 0
        let hasLines = beginning.contains { $0.isNewline }
        return (VisibleText.expandingTabs(line) + (isCut ? writer.sign("…", "...") : ""), !isCut && !hasLines, isJSON)
    }

    /// Whether a message is longer than its line shows.
    private static func isLong(_ message: StreamedMessage) -> Bool {
        message.leftOut > 0 || message.text.map { $0.count > beginning } ?? (message.size > 16)
    }

    private func notes(_ message: StreamedMessage) -> [String] {
        var notes: [String] = []
        switch message.kind {
        case .webSocket(let details):
            if details.isCompressed { notes.append("deflate, \(Measures.size(details.wireSize))") }
            if details.frameCount > 1 {
                let sizes = details.frameSizes.prefix(4).map { "\($0)" }.joined(separator: " + ")
                notes.append("\(details.frameCount) frames of \(sizes)\(details.frameCount > 4 ? " + …" : "") B")
            }
        case .event(let event):
            if let id = event.id { notes.append("id \(id)") }
            if let retry = event.retry { notes.append("retry \(retry) ms") }
        case .line: break
        }
        if !message.isWhole {
            notes.append(exchange.record.state == .inFlight ? "not whole yet" : "its end is missing")
        }
        return notes + message.notes
    }
}
