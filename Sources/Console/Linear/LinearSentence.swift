import HTTPModel
import Runner
import Text

/// Sentences about exchanges and held messages, to be read aloud.
enum LinearSentence {
    /// For example `12, POST api.example.com/login, 401, 230 milliseconds`.
    static func text(_ record: ExchangeRecord, isMarked: Bool = false, highlight: Int? = nil) -> String {
        var parts = [record.id.description, what(record), outcome(record)]
        if let grpc = record.grpc { parts.append("gRPC \(grpc.name ?? String(grpc.status))") }
        if record.kind == .webSocket {
            parts.append("\(record.tally.fromClient) sent, \(record.tally.fromServer) received")
        }
        if let total = record.timings.total { parts.append(duration(total)) }
        if !record.flags.isDisjoint(with: [.requestChanged, .responseChanged]) { parts.append("changed by a rule") }
        if record.flags.contains(.held) { parts.append("was held") }
        if record.flags.contains(.certificateRefused) { parts.append("not decrypted: certificate refused") }
        if record.flags.contains(.notIntercepted) { parts.append("not decrypted: left out by intercept") }
        if record.isEncrypted { parts.append("TLS") }
        if isMarked { parts.append("marked") }
        if let highlight { parts.append("highlight \(highlight)") }
        return VisibleText.of(parts.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    /// For example `Held 2.1, request POST https://api.example.com/login; execute, edit, abort`.
    static func text(_ hold: HoldSummary) -> String {
        let status = hold.status.map { ", \($0)" } ?? ""
        return VisibleText.of(
            "Held \(hold.id), \(hold.side) \(hold.method) \(hold.url)\(status); execute, edit, cancel, abort"
        )
    }

    /// For example `230 milliseconds`, `1.2 seconds`.
    static func duration(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1_000: "under 1 millisecond"
        case ..<2_000: "1 millisecond"
        case ..<1_000_000: "\(microseconds / 1_000) milliseconds"
        case ..<60_000_000:
            "\(microseconds / 1_000_000).\(microseconds % 1_000_000 / 100_000) seconds"
        default:
            "\(count(Int(microseconds / 60_000_000), "minute")) \(count(Int(microseconds / 1_000_000 % 60), "second"))"
        }
    }

    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private static func what(_ record: ExchangeRecord) -> String {
        let isDefault = RequestURL.defaultPort(of: record.url.scheme) == record.url.port
        let place = isDefault ? record.url.host : record.url.authority
        return switch record.kind {
        case .http, .upgraded: "\(record.method) \(place)\(record.url.pathAndQuery)"
        case .webSocket: "WebSocket \(place)\(record.url.pathAndQuery)"
        case .tunnel, .decryptedTunnel: "tunnel to \(record.url.authority)"
        case .failedHandshake: "TLS handshake for \(record.url.host)"
        case .malformed: "bytes that are no request"
        }
    }

    private static func outcome(_ record: ExchangeRecord) -> String {
        let status = record.status > 0 ? "\(record.status)" : ""
        switch record.state {
        case .inFlight: return status.isEmpty ? "on its way" : "\(status), on its way"
        case .complete: return status
        case .failed:
            let words = status.isEmpty ? "failed" : "\(status), failed"
            guard let reason = record.failure?.message else { return words }
            // The sentence goes on after it.
            return "\(words): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)"
        case .blocked: return status.isEmpty ? "denied by a rule" : "\(status), denied by a rule"
        case .interrupted: return "cut off"
        }
    }
}
