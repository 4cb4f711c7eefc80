import Content
import HTTPModel
import NIOCore
import Sharing

/// What a stream carried, one line for each message; each opens into its whole content.
struct StreamPage {
    /// How many messages are shown at once.
    static let pageSize = 200
    private static let payloadLimit = 64 * 1024
    private static let beginning = 160
    private static let contentIndent = String(repeating: " ", count: 13)

    let exchange: RecordedExchange
    let source: any ExchangeSource

    func write(into writer: inout DetailWriter) {
        do {
            if let call = try GRPCReport(exchange, source: source) { return grpc(call, &writer) }
            guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: StreamPage.payloadLimit) else {
                writer.add("The exchange carries no messages.", .faint)
                return
            }
            try messages(timeline, &writer)
        } catch {
            writer.add("The messages cannot be read: \(error)", .failure)
        }
    }

    // MARK: gRPC

    private func grpc(_ call: GRPCReport, _ writer: inout DetailWriter) {
        writer.section(call.title) { writer in
            var start: Int?
            func close(_ writer: inout DetailWriter) {
                if let start { writer.fold(from: start, "(\((writer.place - start - 1).of("line")))") }
                start = nil
            }
            for line in call.lines where writer.takesMore() {
                if line.hasPrefix(StreamPage.contentIndent) {
                    writer.add(String(line.dropFirst(StreamPage.contentIndent.count)), .string, indent: 4)
                } else {
                    close(&writer)
                    start = writer.place
                    writer.add(line)
                }
            }
            close(&writer)
        }
    }

    // MARK: Other streams

    private func messages(_ timeline: MessageTimeline, _ writer: inout DetailWriter) throws {
        let first = max(0, writer.options.firstMessage)
        var index = 0
        var hasMore = false
        writer.add(title, .heading)
        if first > 0 { writer.add("\(first.of("earlier message")) not shown", .faint) }
        writer.margin += 2
        defer { writer.margin -= 2 }
        while let message = try timeline.next() {
            if index >= first + StreamPage.pageSize || !writer.takesMore() {
                hasMore = true
                break
            }
            if index >= first { add(message, &writer) }
            index += 1
        }
        if index <= first, !hasMore { writer.add(index == 0 ? "None so far." : "There are no more.", .faint) }
        if hasMore {
            let tally = exchange.record.tally
            let all = Int(clamping: tally.fromClient) + Int(clamping: tally.fromServer)
            let rest = all > index ? "about \((all - index).of("more message"))" : "there are more messages"
            writer.leaveOut("Messages \((first + 1).grouped) to \(index.grouped) are shown; \(rest).")
        } else {
            if timeline.commentCount > 0 { writer.add("comment lines: \(timeline.commentCount)", .faint) }
            for remark in timeline.remarks { writer.add(remark, .warning) }
        }
    }

    private var title: String {
        let tally = exchange.record.tally
        guard tally != MessageTally() else { return "Messages" }
        let soFar = exchange.record.state == .inFlight ? ", so far" : ""
        let client = Int(clamping: tally.fromClient)
        return
            "Messages: \(client.grouped) from the client, \(Int(clamping: tally.fromServer).grouped) from the server\(soFar)"
    }

    private func add(_ message: StreamedMessage, _ writer: inout DetailWriter) {
        let isSent = message.direction == .fromClient
        let time = message.arrivedAt.map { Measures.elapsed(from: exchange.record.startedAt, to: $0) } ?? "-"
        let arrow = isSent ? writer.sign("→", "->") : writer.sign("←", "<-")
        var spans = [
            Span(time.aligned(to: 10) + "  ", .faint),
            Span("\(arrow) \(isSent ? "client" : "server")  ", isSent ? .added : .link),
            Span(kind(message).filled(to: 6) + " ", .label),
            Span(Measures.size(message.size).aligned(to: 7) + "  ", .number),
        ]
        let content = beginning(message, writer)
        spans.append(Span(content.text, .string))
        let notes = notes(message)
        if !notes.isEmpty { spans.append(Span("  [\(notes.joined(separator: "; "))]", .warning)) }
        // What is not whole, or has a form, is below.
        let isAll = content.isWhole && !content.isJSON
        writer.add(spans, wraps: isAll)
        let line = writer.place - 1
        guard !isAll else { return }
        writer.margin += 4
        if let text = message.text {
            let bytes = Array(text.utf8)
            var layout = JSONLayout(bytes, isCut: message.leftOut > 0)
            do {
                guard content.isJSON else { throw NoJSON() }
                try layout.write(into: &writer)
            } catch {
                writer.drop(from: line + 1)
                TextLayout.write(text, into: &writer)
            }
        } else {
            HexLayout(bytes: message.payload).write(into: &writer)
        }
        if message.leftOut > 0 { writer.add("and \(Measures.size(message.leftOut)) more", .warning) }
        writer.margin -= 4
        writer.fold(from: line, "(\((writer.place - line - 1).of("line")))", startsFolded: true)
    }

    private struct NoJSON: Error {}

    private func kind(_ message: StreamedMessage) -> String {
        switch message.kind {
        case .webSocket(let details): details.opcode.name
        case .event(let event): event.type
        case .line: "line"
        }
    }

    /// The first line of what a message says, and whether that is all of it.
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
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            return (digits + (message.size > 16 ? " …" : ""), message.size <= 16, false)
        }
        let isJSON = text.utf8.count > 2 && (text.utf8.first == 0x7B || text.utf8.first == 0x5B)
        let line = text.prefix(StreamPage.beginning).prefix { !$0.isNewline }
        let isWhole = line.endIndex == text.endIndex && message.leftOut == 0
        return (VisibleText.expandingTabs(line) + (isWhole ? "" : writer.sign("…", "...")), isWhole, isJSON)
    }

    private func notes(_ message: StreamedMessage) -> [String] {
        var notes: [String] = []
        switch message.kind {
        case .webSocket(let details):
            if details.isCompressed { notes.append("deflate, \(Measures.size(details.wireSize))") }
            if details.frameCount > 1 { notes.append("\(details.frameCount) frames") }
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
