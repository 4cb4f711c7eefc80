import ExchangeCore
import HTTPModel
import Rules

/// How a list refuses an exchange.
enum Refusal: Sendable, Hashable {
    /// The connection is closed without an answer.
    case drop
    /// This status, with a page that gives the reason.
    case answer(Int)

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

    /// The action as text for lists of rules.
    var action: String {
        switch self {
        case .drop: "drop the connection"
        case .answer(let status): "answer \(status)"
        }
    }

    /// A handler that refuses an exchange at its head; `rule` is `nil` if no rule is the cause.
    func handler(_ rule: String?, because reason: String) -> RequestHeadHandler {
        RequestHeadHandler { head, exchange in
            switch self {
            case .drop:
                exchange.fired(rule: rule, "\(reason); the connection was dropped")
                return .drop
            case .answer(let status):
                exchange.fired(rule: rule, "\(reason); answered \(status)")
                let text = "Sluice blocked \(exchange.url): \(reason)."
                return .refuse(.explanation(status: status, title: "Blocked", text: text, html: head.takesHTML))
            }
        }
    }
}

extension RequestHead {
    var takesHTML: Bool { fields.value(of: "accept")?.contains("text/html") ?? false }
}
