public import HTTPModel

/// One line for one exchange, for people and for programs.
public enum ExchangeLine {
    private static let typeWidth = 10

    /// The titles of the columns of `human`.
    public static var header: String {
        line("ID", "TIME", "METHOD", "STATUS", "SIZE", "DURATION", "TYPE".padded(typeWidth), "URL")
    }

    /// The exchange in aligned columns, as `header` names them, and what is special about it.
    ///
    /// The time of day is in UTC, the size that of the response body. The URL comes last and is never cut, so that it can be copied.
    public static func human(_ record: ExchangeRecord) -> String {
        let size = record.kind == .http ? record.sizes.responseBody : record.sizes.responseWire
        let line = line(
            record.id.description,
            Timestamp.clock(record.startedAt),
            record.method.withoutControls,
            status(record),
            Measures.size(size),
            Measures.duration(record.timings.total),
            shortType(record.mediaType.withoutControls).padded(typeWidth, cutting: true),
            record.url.description.withoutControls
        )
        let notes = notes(record)
        return notes.isEmpty ? line : line + "  [\(notes.joined(separator: ", "))]"
    }

    /// The exchange as one JSON object without a line break: the members of `JSONExport` up to `failure`.
    public static func json(_ record: ExchangeRecord) -> String {
        // The writer throws only what its sink does, and this one keeps the text.
        let text = try? JSONWriter.text { writer in try writer.object { try $0.rowMembers(record) } }
        return text ?? ""
    }

    private static func line(
        _ id: String,
        _ time: String,
        _ method: String,
        _ status: String,
        _ size: String,
        _ duration: String,
        _ type: String,
        _ url: String
    ) -> String {
        [
            id.padded(6, right: true), String(time.prefix(8)).padded(8), method.padded(7), status.padded(6),
            size.padded(8, right: true),
            duration.padded(8, right: true), type, url,
        ].joined(separator: "  ")
    }

    /// The telling part of a media type: `json` of `application/json`, `problem+json` of `application/problem+json`.
    private static func shortType(_ mediaType: String) -> String {
        let subtype = mediaType.split(separator: "/", maxSplits: 1).last.map(String.init) ?? mediaType
        return subtype.hasPrefix("x-") ? String(subtype.dropFirst(2)) : subtype
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

    private static func notes(_ record: ExchangeRecord) -> [String] {
        var notes: [String] = []
        if record.kind != .http { notes.append(record.kind.exportName) }
        if record.state == .interrupted || record.state == .blocked || record.state == .inFlight {
            notes.append(record.state.exportName)
        }
        if let failure = record.failure { notes.append(failure.code.rawValue) }
        if let sent = record.sentURL { notes.append("sent to \(sent.description.withoutControls)") }
        let flags = record.flags.subtracting([.upstreamReused, .tunnelledTLS])
        return notes + flags.exportNames
    }
}
