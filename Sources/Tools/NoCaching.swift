import ExchangeCore
import HTTPModel
package import Rules

/// Keeps caches out of it: every request is answered in full, and no answer is kept.
///
/// Conditions and validators are taken out, and both messages say `no-cache`, whatever they said before.
struct NoCaching: FirstRuleTool {
    let rules: RuleList<RuleHeading>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<RuleHeading>) -> any StageHandler {
        Handler(match.rule.name)
    }

    private final class Handler: StageHandler {
        private let rule: String

        init(_ rule: String) {
            self.rule = rule
        }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            edit(
                &head.fields,
                removing: ["If-Modified-Since", "If-None-Match"],
                setting: [("Pragma", "no-cache"), ("Cache-Control", "no-cache")],
                "request",
                &exchange
            )
            return .forward
        }

        /// An interim response is never kept, so it need not say so.
        func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {
            edit(&head.fields, removing: ["Last-Modified", "ETag"], setting: [], "response \(head.status)", &exchange)
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            edit(
                &head.fields,
                removing: ["Last-Modified", "ETag"],
                setting: [("Expires", "0"), ("Cache-Control", "no-cache")],
                "response",
                &exchange
            )
            return .forward
        }

        private func edit(
            _ fields: inout FieldSection,
            removing removed: [String],
            setting set: [(name: String, value: String)],
            _ direction: String,
            _ exchange: inout StageExchange
        ) {
            var changes: [String] = []
            for name in removed {
                let values = fields.values(of: FieldName(name))
                guard fields.removeAll(FieldName(name)) > 0 else { continue }
                changes.append("removed \(name): \(values.joined(separator: ", ").clipped(to: 60))")
            }
            for (name, value) in set {
                let values = fields.values(of: FieldName(name))
                guard values != [value] else { continue }
                fields.set(name, value)
                let before = values.isEmpty ? "" : " in place of \(values.joined(separator: ", ").clipped(to: 60))"
                changes.append("set \(name): \(value)\(before)")
            }
            if !changes.isEmpty { exchange.fired(rule: rule, "\(direction): \(changes.joined(separator: "; "))") }
        }
    }
}

extension NoCaching {
    static let descriptor = ToolDescriptor(
        "no-caching",
        order: 300,
        title: "No caching",
        letter: "n",
        alone: [.toggle, .panel],
        directions: [.request, .response],
        takesTunnels: false,
        noun: "a no-caching rule",
        summary: "Keeps caches out of it: removes conditions and validators, and says no-cache both ways.",
        scope: .only,
        selection: .first,
        keys: [],
        example: "no-caching: { only: \"api.example.com\" }",
        takesTrue: true
    )

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> RuleHeading? {
        var heading = heading
        heading.action = "say no-cache both ways"
        return heading
    }
}

extension Tool {
    package static let noCaching = Tool(NoCaching.self)
}
