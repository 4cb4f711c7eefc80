import ExchangeCore
import HTTPModel

/// What becomes of an exchange that a list does not let pass.
enum Refusal: Sendable {
    /// The connection is cut without an answer.
    case drop
    /// The client gets a 403 that says who refused.
    case forbid

    /// How profiles write them.
    static let choices: [(String, Refusal)] = [("drop", .drop), ("403", .forbid)]

    /// What the trace says was done.
    var outcome: String {
        switch self {
        case .drop: "the connection was dropped"
        case .forbid: "answered 403"
        }
    }

    func verdict(_ head: RequestHead, _ text: String) -> Verdict {
        switch self {
        case .drop: .drop
        case .forbid:
            .refuse(
                .explanation(
                    status: 403,
                    title: "Blocked",
                    text: text,
                    html: head.fields.value(of: "accept")?.contains("text/html") ?? false
                )
            )
        }
    }
}

/// Refuses one exchange at its head.
final class RefusingHandler: StageHandler {
    private let refusal: Refusal
    private let rule: String?
    private let reason: String

    init(_ refusal: Refusal, rule: String?, reason: String) {
        self.refusal = refusal
        self.rule = rule
        self.reason = reason
    }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        exchange.fired(rule: rule, "\(reason); \(refusal.outcome)")
        return refusal.verdict(head, "Sluice was told not to let \(exchange.url) pass: \(reason).")
    }
}
