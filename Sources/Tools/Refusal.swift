import ExchangeCore
import HTTPModel
import Rules

/// What becomes of an exchange that a list does not let pass.
enum Refusal: Sendable, Hashable {
    /// The connection is cut without an answer.
    case drop
    /// The client gets this status, with a page that says who refused.
    case answer(Int)

    /// How profiles write them.
    static let value = GrammarValue.either(.choice(["drop"]), .number(400...599, unit: "status"))

    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, "action") else { return nil }
        if text == "drop" {
            self = .drop
        } else if let status = Int(text), (400...599).contains(status) {
            self = .answer(status)
        } else {
            reader.error("action must be drop or a status from 400 to 599, not '\(text.clipped(to: 40))'", at: node)
            return nil
        }
    }

    /// What is done, for lists of rules.
    var action: String {
        switch self {
        case .drop: "drop the connection"
        case .answer(let status): "answer \(status)"
        }
    }

    /// What the trace says was done.
    var outcome: String {
        switch self {
        case .drop: "the connection was dropped"
        case .answer(let status): "answered \(status)"
        }
    }

    func verdict(_ head: RequestHead, _ text: String) -> Verdict {
        switch self {
        case .drop: .drop
        case .answer(let status):
            .refuse(
                .explanation(
                    status: status,
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
