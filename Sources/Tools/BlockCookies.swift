import ExchangeCore
import HTTPModel
package import Rules

/// Removes cookies: `Cookie` from requests, `Set-Cookie` from responses.
struct BlockCookies: FirstRuleTool {
    let rules: RuleList<RuleHeading>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<RuleHeading>) -> any StageHandler {
        FieldsHandler(match.rule.name) { head, fields in
            let (message, name, key) =
                head == .request ? ("request", FieldName.cookie, "Cookie") : ("response", .setCookie, "Set-Cookie")
            let values = fields.values(of: name)
            guard fields.removeAll(name) > 0 else { return nil }
            // A client may split its cookies over several fields (RFC 9113 §8.2.3).
            let cookies = head == .request ? values.flatMap { $0.split(separator: ";") } : values.map { $0[...] }
            // Only names, because values are often secrets.
            let names = cookies.map { $0.prefix { $0 != "=" && $0 != ";" }.drop { $0 == " " } }
            return "\(message): removed \(key): \(names.joined(separator: ", ").clipped())"
        }
    }
}

extension BlockCookies {
    static let descriptor = ToolDescriptor(
        "block-cookies",
        order: 400,
        title: "Block cookies",
        letter: "c",
        noun: "a block-cookies rule",
        summary: "Removes cookies: Cookie from requests, Set-Cookie from responses.",
        forAgents: .any,
        scope: .only,
        example: "block-cookies: { only: \"*.example.com\" }",
        takesTrue: true
    )

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> RuleHeading? {
        var heading = heading
        heading.action = "remove cookies both ways"
        return heading
    }
}

extension Tool { package static let blockCookies = Tool(BlockCookies.self) }
