import ExchangeCore
import HTTPModel
package import Rules

/// Prevents caching: every request gets a full response, and no response is stored. Conditions and validators are
/// removed, and both messages say `no-cache`, whatever they said before.
struct NoCaching: FirstRuleTool {
    let rules: RuleList<RuleHeading>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<RuleHeading>) -> any StageHandler {
        Handler(match.rule.name)
    }

    private final class Handler: StageHandler {
        private let rule: String

        init(_ rule: String) { self.rule = rule }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            let set = [("Pragma", "no-cache"), ("Cache-Control", "no-cache")]
            edit("request", &head.fields, removing: ["If-Modified-Since", "If-None-Match"], setting: set, &exchange)
            return .forward
        }

        /// Interim responses are never stored.
        func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {
            edit("response \(head.status)", &head.fields, removing: ["Last-Modified", "ETag"], setting: [], &exchange)
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            let set = [("Expires", "0"), ("Cache-Control", "no-cache")]
            edit("response", &head.fields, removing: ["Last-Modified", "ETag"], setting: set, &exchange)
            return .forward
        }

        private func edit(
            _ message: String,
            _ fields: inout FieldSection,
            removing removed: [String],
            setting set: [(name: String, value: String)],
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
            if !changes.isEmpty { exchange.fired(rule: rule, "\(message): \(changes.joined(separator: "; "))") }
        }
    }
}

extension NoCaching {
    static let descriptor = ToolDescriptor(
        "no-caching",
        order: 300,
        title: "No caching",
        letter: "n",
        alone: [.panel],
        noun: "a no-caching rule",
        summary: "Prevents caching: removes conditions and validators, and sets no-cache in both directions.",
        scope: .only,
        example: "no-caching: { only: \"api.example.com\" }",
        takesTrue: true
    )

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> RuleHeading? {
        var heading = heading
        heading.action = "set no-cache both ways"
        return heading
    }
}

extension Tool { package static let noCaching = Tool(NoCaching.self) }
