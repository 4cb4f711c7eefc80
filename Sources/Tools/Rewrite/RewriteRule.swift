import ExchangeCore
import HTTPModel
import Rules

/// One rule of a rewrite set.
struct RewriteRule: Sendable {
    enum Edit: Sendable {
        case header(PairEdit)
        case query(PairEdit)
        case cookie(CookieEdit)
        case place(PlaceEdit)
        case status(StatusEdit)
        case body(BodyEdit)
    }

    /// What traces call it: the set's name and the rule's number in it.
    let name: String
    /// The messages that it edits.
    let directions: Set<FlowDirection>
    let edit: Edit
    /// What it does, in words.
    let action: String
}

/// Why an edit that a rule asks for was not made.
struct UnusableEdit: Error {
    /// In words, without a full stop.
    let reason: String
}

/// The rules of a set that are in force, by when they act.
///
/// A reference, so that an exchange takes a set over without copying it.
final class RewriteSet: Sendable {
    let requestHead: [RewriteRule]
    let requestBody: [RewriteRule]
    let responseHead: [RewriteRule]
    let responseBody: [RewriteRule]
    /// What the first rules do, in words.
    let action: String

    init(_ rules: [RewriteRule]) {
        func pick(_ direction: FlowDirection, bodies: Bool) -> [RewriteRule] {
            rules.filter { rule in
                var isBody = false
                if case .body = rule.edit { isBody = true }
                return isBody == bodies && rule.directions.contains(direction)
            }
        }
        requestHead = pick(.request, bodies: false)
        requestBody = pick(.request, bodies: true)
        responseHead = pick(.response, bodies: false)
        responseBody = pick(.response, bodies: true)
        let shown = rules.prefix(3).map(\.action) + (rules.count > 3 ? ["\(rules.count - 3) more"] : [])
        action = shown.isEmpty ? "nothing" : shown.joined(separator: "; ")
    }
}
