import ExchangeCore
import HTTPModel
package import Rules

/// Removes cookies: `Cookie` from requests, `Set-Cookie` from responses.
struct BlockCookies: FirstRuleTool {
    let rules: RuleList<RuleHeading>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<RuleHeading>) -> any StageHandler {
        Handler(match.rule.name)
    }

    private final class Handler: StageHandler {
        private let rule: String

        init(_ rule: String) { self.rule = rule }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            // A client may split its cookies over several fields (RFC 9113 §8.2.3).
            let cookies = head.fields.values(of: .cookie).flatMap { $0.split(separator: ";") }
            if head.fields.removeAll(.cookie) > 0 {
                exchange.fired(rule: rule, "request: removed Cookie: \(names(cookies))")
            }
            return .forward
        }

        func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {
            _ = responseHead(&head, &exchange)
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            let cookies = head.fields.values(of: .setCookie)
            if head.fields.removeAll(.setCookie) > 0 {
                exchange.fired(rule: rule, "response: removed Set-Cookie: \(names(cookies.map { $0[...] }))")
            }
            return .forward
        }

        /// Only names, because values are often secrets.
        private func names(_ cookies: [Substring]) -> String {
            let names = cookies.map { $0.prefix { $0 != "=" && $0 != ";" }.drop { $0 == " " } }
            return names.joined(separator: ", ").clipped()
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
