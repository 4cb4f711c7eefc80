package import HTTPModel
import Text

/// Who gave an exchange its status; the page, the bundle, `show` and comments of scripts use the same names.
package enum Answerer: Sendable, Hashable {
    /// The server, with its address if that is known.
    case server(String?)
    /// The server, but a rule changed the status.
    case changed(TraceEntry)
    case rule(TraceEntry)
    /// Sluice itself: no rule gave the answer, and no server.
    case sluice

    /// `nil` if the client got no answer.
    package init?(_ exchange: RecordedExchange) {
        let record = exchange.record
        let fired = exchange.messages.trace.filter { $0.outcome == .fired }
        if record.status > 0, let edit = fired.last(where: { $0.text.hasPrefix("changed status") }) {
            self = .changed(edit)
        } else if record.flags.contains(.answeredLocally) || record.state == .blocked {
            // A rule that delays or edits the answer is not the rule that answered.
            let answer = fired.last { $0.text.contains("answered") } ?? fired.last
            self = record.failure == nil ? answer.map { .rule($0) } ?? .sluice : .sluice
        } else if record.status > 0 {
            self = .server(record.serverAddress)
        } else {
            return nil
        }
    }

    /// What follows a status in a sentence; empty for the server.
    package var addition: String {
        switch self {
        case .server: ""
        case .changed(let edit): ", changed by \(Answerer.named(edit)): \(edit.text)"
        case .rule(let entry): ", answered by Sluice and not by the server: \(Answerer.named(entry))"
        case .sluice: ", answered by Sluice and not by the server"
        }
    }

    /// `rule flaky`; empty for the server.
    package var brief: String {
        switch self {
        case .server: ""
        case .changed(let entry), .rule(let entry): entry.rule.map { "rule \($0)" } ?? entry.stage
        case .sluice: "Sluice"
        }
    }

    /// For example `block, rule 'flaky', not the server`.
    package var name: String {
        switch self {
        case .server(let address): address.map { "the server, \($0)" } ?? "the server"
        case .changed(let edit): "the server; \(Answerer.named(edit)), \(edit.text)"
        case .rule(let entry): "\(Answerer.named(entry)), not the server"
        case .sluice: "Sluice, not the server"
        }
    }

    private static func named(_ entry: TraceEntry) -> String {
        entry.rule.map { "\(entry.stage), rule '\($0)'" } ?? entry.stage
    }
}

extension RecordedExchange {
    /// The exchange's name in a script's comment: `9 GET http://h/ was 503 by rule flaky`.
    package var title: String {
        let request = "\(record.id) \(record.method) \(record.url)"
        let brief = Answerer(self)?.brief ?? ""
        if record.status > 0 { return "\(request) was \(record.status)\(brief.isEmpty ? "" : " by \(brief)")" }
        if let failure = record.failure { return "\(request) failed: \(failure.code.rawValue)" }
        // A request that was imported as a command was never sent.
        return record.state == .complete ? request : "\(request) was \(record.state.exportName)"
    }
}
