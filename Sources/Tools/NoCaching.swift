import ExchangeCore
import HTTPModel
package import Rules

/// Prevents caching: every request gets a full response, and no response is stored. Conditions and validators are
/// removed, and both messages say `no-cache`, whatever they said before.
struct NoCaching: FirstRuleTool {
    let rules: RuleList<RuleHeading>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<RuleHeading>) -> any StageHandler {
        FieldsHandler(match.rule.name) { head, fields in
            let (message, removed, set) = NoCaching.edits(of: head)
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
            return changes.isEmpty ? nil : "\(message): \(changes.joined(separator: "; "))"
        }
    }

    private static func edits(of head: FieldsHandler.Head) -> (String, removed: [String], set: [(String, String)]) {
        let (validators, noCache) = (["Last-Modified", "ETag"], ("Cache-Control", "no-cache"))
        return switch head {
        case .request: ("request", ["If-Modified-Since", "If-None-Match"], [("Pragma", "no-cache"), noCache])
        case .response: ("response", validators, [("Expires", "0"), noCache])
        // Interim responses are never stored.
        case .interim(let status): ("response \(status)", validators, [])
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
        forAgents: .any,
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
