import Content
package import HTTPModel
import NIOCore
import Text

/// One line for one exchange, for people and for programs.
package enum ExchangeLine {
    private static let typeWidth = 10
    /// How much of a gRPC message or a comment is shown; `show` prints all of it.
    private static let messageWidth = 100

    package static let header = line(["ID", "TIME", "METHOD", "STATUS", "SIZE", "DURATION", "TYPE", "URL"])

    /// The exchange in the columns of `header`, with local time and the response body's size, then notes, with message
    /// counts as `12→ 30←`. The URL is never cut, so that it can be copied.
    package static func human(_ record: ExchangeRecord) -> String {
        let type = TextWidth.cut(shortType(VisibleText.of(record.mediaType)), to: typeWidth)
        let line = line([
            record.id.description, Timestamp.timeOfDay(record.startedAt), VisibleText.of(record.method), status(record),
            Measures.size(record.listedSize), Measures.duration(record.timings.total), type,
            VisibleText.of(record.url.description),
        ])
        let notes = notes(record)
        return notes.isEmpty ? line : line + "  [\(notes.joined(separator: ", "))]"
    }

    package static func human(_ exchange: RecordedExchange) -> String {
        human(exchange.record) + (exchange.isUnrecorded ? "  [not recorded]" : "")
    }

    /// One JSON object on one line: the members of `JSONExport` up to `colour`, and `recorded` if it is `false`.
    package static func json(_ record: ExchangeRecord, isUnrecorded: Bool = false) -> String {
        var writer = JSONWriter()
        // The writer throws only its sink's errors, and this writer has no sink.
        try? writer.object {
            try $0.rowMembers(record)
            if isUnrecorded { $0.member("recorded", false) }
            try $0.masked(record)
        }
        return String(buffer: writer.buffer)
    }

    /// The widths in columns of all cells except the last; negative if the cell is right-aligned.
    private static let widths = [-6, 8, 7, 6, -8, -8, typeWidth]

    private static func line(_ cells: [String]) -> String {
        var line: [UInt8] = []
        line.reserveCapacity(128)
        for (cell, width) in zip(cells, widths) {
            let blanks = repeatElement(UInt8(ascii: " "), count: max(abs(width) - TextWidth.columns(cell), 0))
            if width < 0 { line += blanks }
            line += cell.utf8
            if width > 0 { line += blanks }
            line += "  ".utf8
        }
        line += cells[widths.count].utf8
        return String(decoding: line, as: UTF8.self)
    }

    /// The short form of a media type: `json` of `application/json`, `problem+json` of `application/problem+json`.
    package static func shortType(_ mediaType: String) -> String {
        let slash = mediaType.utf8.firstIndex(of: UInt8(ascii: "/"))
        let subtype = mediaType[(slash.map { mediaType.utf8.index(after: $0) } ?? mediaType.startIndex)...]
        return String(subtype.hasPrefix("x-") ? subtype.dropFirst(2) : subtype)
    }

    private static func status(_ record: ExchangeRecord) -> String {
        if record.status > 0 { return String(record.status) }
        return switch record.state {
        case .inFlight: "…"
        case .complete: "-"
        case .failed: "failed"
        case .blocked: "denied"
        case .interrupted: "cut"
        }
    }

    /// Flags that nearly every exchange of its kind has, or that other columns show.
    private static let unremarkable: ExchangeRecord.Flags = [.upstreamReused, .tunnelledTLS, .grpc]

    private static func notes(_ record: ExchangeRecord) -> [String] {
        var notes: [String] = []
        if record.kind != .http { notes.append(record.kind.exportName) }
        if record.state == .interrupted || record.state == .blocked || record.state == .inFlight {
            notes.append(record.state.exportName)
        }
        if let forms = HostForms(record.url.host) {
            notes.append("host \(VisibleText.of(forms.text))")
            if let suspicion = forms.suspicion { notes.append("suspicious: it \(suspicion)") }
        }
        if let grpc = record.grpc { notes.append(outcome(grpc)) }
        if let counts = counts(record) { notes.append(counts) }
        if let failure = record.failure { notes.append(failure.code.rawValue) }
        if let sent = record.sentURL { notes.append("sent to \(VisibleText.of(sent.description))") }
        let flags = record.flags.subtracting(unremarkable)
        if !flags.isEmpty { notes += flags.exportNames }
        if let colour = record.extras.annotation.colour { notes.append(VisibleText.of(colour)) }
        if let comment = record.extras.annotation.comment { notes.append("\"\(cut(VisibleText.of(comment)))\"") }
        return notes
    }

    /// `grpc OK`, or the name of another status and the server's message.
    private static func outcome(_ grpc: GRPCOutcome) -> String {
        let message = grpc.message.isEmpty ? "" : ": \(cut(VisibleText.of(grpc.message)))"
        return "grpc \(grpc.name ?? String(grpc.status))\(message)"
    }

    private static func cut(_ message: String) -> String { message.shortened(to: messageWidth) }

    /// How many messages each side has sent; `nil` if it is not a stream, or a call with one message each way.
    private static func counts(_ record: ExchangeRecord) -> String? {
        let (sent, received) = (record.tally.fromClient, record.tally.fromServer)
        if record.kind == .webSocket { return "\(sent)→ \(received)←" }
        if record.grpc != nil, sent <= 1, received <= 1 { return nil }
        let counts = (sent > 0 ? ["\(sent)→"] : []) + (received > 0 ? ["\(received)←"] : [])
        return counts.isEmpty ? nil : counts.joined(separator: " ")
    }
}
