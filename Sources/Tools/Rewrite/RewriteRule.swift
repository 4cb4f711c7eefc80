import Content
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
        case value(ValueEdit)
    }

    /// The set's name and the rule's number in it.
    let name: String
    let directions: Set<FlowDirection>
    let edit: Edit
    let action: String

    /// Whether the rule may give a request credentials that the client did not send.
    var addsCredentials: Bool {
        switch edit {
        case .header(let edit): edit.addsCredentials
        case .value(let edit): edit.addsCredentials
        default: false
        }
    }

    var editsBody: Bool {
        switch edit {
        case .body: true
        case .value(let edit): edit.isInBody
        default: false
        }
    }

    /// Whether a body of this type can have the values that the rule edits.
    func canEdit(_ mediaType: MediaType?) -> Bool {
        if case .value(let edit) = edit { MessagePlaces.canHave(edit.place.part, in: mediaType) } else { true }
    }
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
    /// Whether a rule needs the values of the exchange.
    let hasValues: Bool
    /// What the first rules do.
    let action: String

    init(_ rules: [RewriteRule], isStrict: Bool) {
        self.isStrict = isStrict
        func pick(_ direction: FlowDirection, bodies: Bool) -> [RewriteRule] {
            rules.filter { $0.editsBody == bodies && $0.directions.contains(direction) }
        }
        requestHead = pick(.request, bodies: false)
        requestBody = pick(.request, bodies: true)
        responseHead = pick(.response, bodies: false)
        responseBody = pick(.response, bodies: true)
        hasValues = rules.contains { if case .value = $0.edit { true } else { false } }
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
