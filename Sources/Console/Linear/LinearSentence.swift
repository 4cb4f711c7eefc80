import Description
import HTTPModel
import Runner
import Text

/// Sentences about exchanges and held messages, to be read aloud.
enum LinearSentence {
    /// For example `12, POST api.example.com/login, 401, 230 milliseconds`, then the columns.
    static func text(
        _ record: ExchangeRecord,
        isMarked: Bool = false,
        highlight: Int? = nil,
        columns: [Column] = []
    ) -> String {
        var parts = [record.id.description, what(record), outcome(record)]
        if let grpc = record.grpc { parts.append("gRPC \(grpc.name ?? String(grpc.status))") }
        if record.kind == .webSocket {
            parts.append("\(record.tally.fromClient) sent, \(record.tally.fromServer) received")
        }
        if let total = record.timings.total { parts.append(duration(total)) }
        if !record.flags.isDisjoint(with: [.requestChanged, .responseChanged]) { parts.append("changed by a rule") }
        if record.flags.contains(.held) { parts.append("was held") }
        if record.flags.contains(.certificateRefused) { parts.append("not decrypted: certificate refused") }
        if record.flags.contains(.notIntercepted) { parts.append("not decrypted: passed through") }
        if record.isEncrypted { parts.append("TLS") }
        parts += columns.map { part($0, record) }
        if let comment = record.extras.annotation.comment { parts.append("comment \(comment.onOneLine)") }
        if let colour = record.extras.annotation.colour { parts.append("colour \(colour)") }
        if isMarked { parts.append("marked") }
        if let highlight { parts.append("highlight \(highlight)") }
        return VisibleText.of(parts.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    /// For example `Held 2.1, request POST https://api.example.com/login; execute, edit, abort`.
    static func text(_ hold: HoldSummary) -> String {
        let status = hold.status.map { ", \($0)" } ?? ""
        let words = "Held \(hold.id), \(hold.side) \(hold.method) \(hold.url)\(status)"
        return VisibleText.of("\(words); execute, edit, cancel, abort")
    }

    /// For example `230 milliseconds`, `1.2 seconds`.
    static func duration(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1_000: "under 1 millisecond"
        case ..<2_000: "1 millisecond"
        case ..<1_000_000: "\(microseconds / 1_000) milliseconds"
        case ..<60_000_000: "\(microseconds / 1_000_000).\(microseconds % 1_000_000 / 100_000) seconds"
        default:
            "\(count(Int(microseconds / 60_000_000), "minute")) \(count(Int(microseconds / 1_000_000 % 60), "second"))"
        }
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// The columns that every sentence contains anyway, or that a sentence cannot express.
    static let always: Set<Column> = [.id, .method, .host, .path, .status, .time, .comment, .waterfall]

    /// The words for a column whose value is not in the sentence anyway; empty if there is nothing to say.
    private static func part(_ column: Column, _ record: ExchangeRecord) -> String {
        func named(_ value: String?) -> String { value.map { $0.isEmpty ? "" : "\(column.rawValue) \($0)" } ?? "" }
        switch column {
        case .id, .method, .host, .path, .status, .time, .comment, .waterfall, .place: return ""
        case .start: return "began \(Timestamp.clock(record.startedAt).prefix(8)) UTC"
        case .scheme: return named(record.url.scheme)
        case .type: return named(ExchangeLine.shortType(record.mediaType))
        case .size: return named(SequenceView.size(record))
        case .version:
            let server = record.upstreamVersion.flatMap { $0 == record.clientVersion ? nil : ", server \($0)" } ?? ""
            return "\(record.clientVersion)\(server)"
        case .process: return named(SequenceView.process(record))
        case .server: return named(record.serverAddress)
        }
    }

    static func announcement(of columns: [Column]) -> String {
        let words = columns.filter { !always.contains($0) }.map(\.rawValue)
        return words.isEmpty
            ? "Each line has number, method, URL, status, time and comment."
            : "Each line also has: \(words.joined(separator: ", "))."
    }

    private static func what(_ record: ExchangeRecord) -> String {
        let isDefault = RequestURL.defaultPort(of: record.url.scheme) == record.url.port
        let place = isDefault ? record.url.host : record.url.authority
        let words =
            switch record.kind {
            case .http, .upgraded: "\(record.method) \(place)\(record.url.pathAndQuery)"
            case .webSocket: "WebSocket \(place)\(record.url.pathAndQuery)"
            case .tunnel, .decryptedTunnel: "tunnel to \(record.url.authority)"
            case .failedHandshake: "TLS handshake for \(record.url.host)"
            case .malformed: "not an HTTP request"
            }
        return words + (HostForms(record.url.host).map { ", host \($0.text)" } ?? "")
    }

    private static func outcome(_ record: ExchangeRecord) -> String {
        let status = record.status > 0 ? "\(record.status)" : ""
        switch record.state {
        case .inFlight: return status.isEmpty ? "in progress" : "\(status), in progress"
        case .complete: return status
        case .failed:
            let words = status.isEmpty ? "failed" : "\(status), failed"
            guard let reason = record.failure?.message else { return words }
            return "\(words): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)"
        case .blocked: return status.isEmpty ? "denied by a rule" : "\(status), denied by a rule"
        case .interrupted: return "cut off"
        }
    }
}
