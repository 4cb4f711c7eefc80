import ExchangeCore
import HTTPModel
import Rules

struct RewriteRule: Sendable {
    enum Edit: Sendable {
        case header(PairEdit)
        case query(PairEdit)
        case cookie(CookieEdit)
        case place(PlaceEdit)
        case status(StatusEdit)
        case body(BodyEdit)
    }

    /// The set's name and the rule's number in it.
    let name: String
    let directions: Set<FlowDirection>
    let edit: Edit
    let action: String

    /// Whether the rule may give a request credentials that the client did not send.
    var addsCredentials: Bool { if case .header(let edit) = edit { edit.addsCredentials } else { false } }
}

/// Why a rule's edit was not made.
struct UnusableEditError: Error {
    /// Without a full stop.
    let reason: String
}

/// The enabled rules of a set, grouped by message and by head or body; a class, so that exchanges do not copy it.
final class RewriteSet: Sendable {
    let requestHead: [RewriteRule]
    let responseHead: [RewriteRule]
    private let requestBody: [RewriteRule]
    private let responseBody: [RewriteRule]
    /// Whether a rule may give a request credentials that the client did not send.
    let addsCredentials: Bool
    /// Whether a message is refused if its body cannot be buffered; otherwise it passes unmodified.
    let isStrict: Bool
    /// What the first rules do.
    let action: String

    init(_ rules: [RewriteRule], isStrict: Bool) {
        self.isStrict = isStrict
        func pick(_ direction: FlowDirection, bodies: Bool) -> [RewriteRule] {
            rules.filter { rule in
                let isBody = if case .body = rule.edit { true } else { false }
                return isBody == bodies && rule.directions.contains(direction)
            }
        }
        requestHead = pick(.request, bodies: false)
        requestBody = pick(.request, bodies: true)
        responseHead = pick(.response, bodies: false)
        responseBody = pick(.response, bodies: true)
        addsCredentials = requestHead.contains(where: \.addsCredentials)
        let shown = rules.prefix(3).map(\.action) + (rules.count > 3 ? ["\(rules.count - 3) more"] : [])
        action = shown.isEmpty ? "nothing" : shown.joined(separator: "; ")
    }

    var directions: Set<FlowDirection> {
        let parts: [(FlowDirection, [RewriteRule])] = [
            (.request, requestHead + requestBody), (.response, responseHead + responseBody),
        ]
        return Set(parts.compactMap { $1.isEmpty ? nil : $0 })
    }

    func bodies(_ direction: FlowDirection) -> [RewriteRule] { direction == .request ? requestBody : responseBody }
}
