import Content
import HTTPModel
import NIOCore

/// The messages of a stream as lines for people: the first and the last ones, each with its time and what it says.
struct MessageListing {
    /// How many bytes of each payload are read for it.
    static let payloadLimit = 1024
    private static let longestText = 160
    private static let longestBinary = 16

    /// A message, and when the one before it from the same side arrived.
    private struct Row {
        var message: StreamedMessage
        var previousArrival: Int64?
    }

    private let record: ExchangeRecord
    private let timeline: MessageTimeline
    private var rows = FirstAndLast<Row>()
    private var messagesFrom: [StreamedMessage.Direction: Int] = [:]
    private var firstArrival: Int64?
    private var lastArrival: [StreamedMessage.Direction: Int64] = [:]

    /// Reads the timeline to its end.
    ///
    /// - Throws: the source's error.
    init(_ timeline: MessageTimeline, of record: ExchangeRecord) throws {
        self.timeline = timeline
        self.record = record
        while let message = try timeline.next() { add(message) }
    }

    /// Whether there is no message at all.
    var isEmpty: Bool { rows.count == 0 }

    /// What each direction is a stream of.
    var formats: (fromClient: StreamCounter.Format?, fromServer: StreamCounter.Format?) { timeline.formats }

    /// What the lines are headed by, for example `Messages (2 from the client, 3 from the server, so far)`.
    var title: String {
        var facts: [String] = []
        if formats.fromClient != nil { facts.append("\(messagesFrom[.fromClient] ?? 0) from the client") }
        if formats.fromServer != nil { facts.append("\(messagesFrom[.fromServer] ?? 0) from the server") }
        if record.state == .inFlight { facts.append("so far") }
        if let firstArrival, record.kind != .webSocket {
            facts.append("the first after \(Measures.duration(firstArrival - record.startedAt))")
        }
        return "\(name) (\(facts.joined(separator: ", ")))"
    }

    private var name: String {
        if record.kind == .webSocket { return "Messages" }
        return formats.fromServer == .serverSentEvents ? "Events" : "Lines"
    }

    /// The lines, as ``VisibleText`` has them.
    var lines: [String] {
        var lines = rows.first.map { line($0) }
        if rows.leftOut > 0 { lines.append("… \(MessageListing.grouped(rows.leftOut)) more; \(hint)") }
        lines += rows.last.map { line($0) }
        if timeline.commentCount > 0 { lines.append("comment lines: \(timeline.commentCount)") }
        return (lines + timeline.remarks).map(VisibleText.of)
    }

    /// How to see what is left out.
    private var hint: String {
        guard record.kind != .webSocket else { return "`sluice export SESSION id:\(record.id) --format json` has all" }
        let side = formats.fromServer != nil ? "response" : "request"
        return "`sluice show SESSION \(record.id) --body \(side)` prints all"
    }

    private mutating func add(_ message: StreamedMessage) {
        rows.append(Row(message: message, previousArrival: lastArrival[message.direction]))
        if message.isCounted { messagesFrom[message.direction, default: 0] += 1 }
        if firstArrival == nil { firstArrival = message.arrivedAt }
        lastArrival[message.direction] = message.arrivedAt
    }

    // MARK: One line

    private func line(_ row: Row) -> String {
        let message = row.message
        let time = message.arrivedAt.map { Measures.elapsed(from: record.startedAt, to: $0) } ?? "-"
        var columns = [time.padded(11, right: true), message.direction == .fromClient ? "→" : "←"]
        if case .webSocket(let details) = message.kind {
            columns.append(details.opcode.name.padded(6))
        } else {
            columns.append(gap(row).padded(9, right: true))
        }
        columns.append(Measures.size(message.size).padded(7, right: true))
        if case .event(let event) = message.kind {
            columns.append((event.type + (event.id.map { "  id \($0)" } ?? "")).padded(10))
        }
        columns.append(MessageListing.content(message))
        let notes = notes(message)
        if !notes.isEmpty { columns.append("[\(notes.joined(separator: "; "))]") }
        while columns.last?.isEmpty == true { columns.removeLast() }
        return columns.joined(separator: "  ")
    }

    /// The time since the message before it from the same side.
    private func gap(_ row: Row) -> String {
        guard let arrivedAt = row.message.arrivedAt, let previous = row.previousArrival else { return "" }
        return "+" + Measures.duration(arrivedAt - previous)
    }

    private static func content(_ message: StreamedMessage) -> String {
        if case .webSocket(let details) = message.kind, details.opcode == .close {
            guard let close = details.close else { return message.size == 0 ? "no code" : hex(message) }
            let reason = close.reason.isEmpty ? "" : ": \(cut(close.reason, isCut: false))"
            return "\(close.code)\(close.meaning.map { " \($0)" } ?? "")\(reason)"
        }
        guard let text = message.text else { return hex(message) }
        return cut(text, isCut: message.leftOut > 0)
    }

    /// The beginning of a text on one line.
    private static func cut(_ text: String, isCut: Bool) -> String {
        let beginning = text.prefix(longestText)
        let isLonger = isCut || beginning.endIndex < text.endIndex
        return beginning.map { $0.isLineEnd ? "⏎" : $0 == "\t" ? " " : String($0) }.joined() + (isLonger ? "…" : "")
    }

    /// The first bytes in hexadecimal, and what of them is text.
    private static func hex(_ message: StreamedMessage) -> String {
        let bytes = message.payload.readableBytesView.prefix(longestBinary)
        guard !bytes.isEmpty else { return "" }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        let text = String(bytes.map { (0x20..<0x7F).contains($0) ? Character(Unicode.Scalar($0)) : "." })
        return "\(digits)\(message.size > Int64(bytes.count) ? " …" : "")  |\(text)|"
    }

    private func notes(_ message: StreamedMessage) -> [String] {
        var notes: [String] = []
        switch message.kind {
        case .webSocket(let details):
            if details.isCompressed { notes.append("deflate, \(Measures.size(details.wireSize))") }
            if details.frameCount > 1 {
                let sizes = details.frameSizes.prefix(4).map { "\($0)" }.joined(separator: " + ")
                let more = details.frameCount > 4 ? " + …" : ""
                notes.append("\(details.frameCount) frames of \(sizes)\(more) B")
            }
        case .event(let event):
            if let retry = event.retry { notes.append("retry \(retry) ms") }
        case .line: break
        }
        if !message.isWhole { notes.append(record.state == .inFlight ? "not whole yet" : "its end is missing") }
        return notes + message.notes
    }

    private static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}

extension StreamedMessage {
    /// Whether it is a message as a tally counts them: whole, and no control frame.
    var isCounted: Bool {
        if case .webSocket(let details) = kind, details.opcode.isControl { return false }
        return isWhole
    }
}
