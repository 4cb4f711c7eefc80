import Content
package import ExchangeCore
import HTTPModel

/// What the values of a rule's texts are, for one exchange and one rule that matches it.
package struct ValueContext {
    private let rule: RuleValues?
    private let location: Location?
    private let opening: ExchangeOpening
    private let conditions: OpenConditions?

    /// If the response decides the rule's condition, the rule counts as matching when its first text is filled.
    package init<Rule>(_ opening: ExchangeOpening, _ match: RuleMatch<Rule>) {
        (rule, location, self.opening) = (match.rule.heading.values, match.location, opening)
        conditions = opening.conditions as? OpenConditions
        if match.holds, rule != nil { _ = drawn }
    }

    private var drawn: ExchangeValues? { rule.flatMap { conditions?.values(of: $0) } }

    func value(_ source: ValueSource, _ name: String) throws(ValueError) -> (text: String, json: String, isSecret: Bool)
    {
        if case .variable(_, let variable) = source { return (variable.text, variable.json, variable.isSecret) }
        guard let conditions, let drawn else { throw ValueError("\(name) is not known here") }
        func text(_ text: String) -> (String, String, Bool) { (text, JSONWriter.quoted(text), false) }
        func number(_ number: Int64) -> (String, String, Bool) { ("\(number)", "\(number)", false) }
        switch source {
        case .variable: return text("")
        case .star(let number):
            let stars = location?.stars(of: opening.url) ?? []
            guard stars.indices.contains(number - 1) else { throw ValueError("\(name): the location has no such star") }
            return text(stars[number - 1])
        case .place(let place):
            guard let number = rule?.places[place] else { throw ValueError("\(name) is not known here") }
            let value = try conditions.facts.value(at: place, number, name)
            let isJSON = value.notation == .jsonScalar || value.notation == .jsonContainer
            let plain = place.isInBody ? value.text : String(fieldBytes: value.bytes)
            return isJSON ? (plain, plain, false) : text(plain)
        case .uuid: return text(drawn.uuid())
        case .random(let range): return number(drawn.number(in: range))
        case .count: return number(drawn.count)
        case .now(let offset, let form):
            let moment = drawn.now + offset
            let seconds = moment / 1_000_000
            switch form {
            case .unix: return number(seconds)
            case .ms: return number(moment / 1_000)
            case .http: return text(HTTPDate.text(seconds) ?? "")
            case .rfc3339: return text(ProtobufScalar.timestamp(seconds: seconds, nanoseconds: 0) ?? "")
            }
        }
    }
}
