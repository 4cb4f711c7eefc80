import ExchangeCore
import HTTPModel
package import Rules

extension Rewrite {
    static let descriptor = ToolDescriptor(
        "rewrite",
        order: 500,
        title: "Rewrite",
        letter: "r",
        alone: [.toggle, .panel],
        noun: "a rewrite set",
        summary: "Edits requests and responses by rule sets: headers, cookies, query, host, path, URL, status, "
            + "body.",
        forAgents: agentUse,
        scope: .at,
        selection: .all,
        conditions: [.bodies, .response],
        keys: [
            GrammarKey("rules", .list(.mapping(RewriteRuleReader.keys)))
                .example("[ { remove: header, on: request, name: X-Debug } ]")
                .means("The edits, in order; each has one of 'set', 'add', 'modify' and 'remove'."),
            GrammarKey("strict", .flag, example: "true", fallback: "false")
                .means("Whether to refuse a message whose body is too large to edit, or for which there is no memory."),
            RuleChance.seed,
        ],
        example: """
            rewrite:
              - name: small pages
                at: "https://qiita.com/api/v2/items"
                rules:
                  - { modify: query, name: per_page, to: "10" }
                  - { modify: body, on: response, match: '/"plan":"(\\w+)"/', to: '"plan":"pro-$1"' }
                  - { set: "res.json.items[*].price", to: 0 }
            """,
        usualScope: .path,
        setsPlaces: true
    )

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        if let (value, node) = source.value {
            let edit = Node.mapping([Node.Member("set", .text(value.description)), Node.Member("to", node)])
            let name = Node.text("set \(value)")
            return [Node.Member("name", name), Node.Member("at", place), Node.Member("rules", .list([edit]))]
        }
        let edit = Node.mapping([
            Node.Member("add", .word("header")), Node.Member("on", .word("response")),
            Node.Member("name", .text("X-Sluice")), Node.Member("to", .text("seen")),
        ])
        return [
            Node.Member("name", .text("mark what came through")), Node.Member("at", place),
            Node.Member("rules", .list([edit])),
        ]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let node = reader.required(fields, "rules", descriptor.noun) else { return nil }
        if node.members.isEmpty { reader.lint("the set has no rules", at: node) }
        let rules = node.members.enumerated().compactMap { position, node in
            RewriteRuleReader.rule("\(heading.name) #\(position + 1)", node, &reader)
        }
        RuleChance.checkSeed(fields, &reader)
        let locations = heading.scope.locations ?? []
        let isWebSocket = locations.allSatisfy { ["ws", "wss"].contains($0.pattern.protocol.lowercased()) }
        if !locations.isEmpty, isWebSocket, rules.contains(where: \.editsBody) {
            reader.lint("this set matches only WebSockets, and body rules do not change their messages", at: node)
        }
        let set = RewriteSet(rules, isStrict: reader.flag(fields, "strict") ?? false)
        var heading = heading
        heading.action = set.action
        return Rule(heading: heading, set: set)
    }
}

extension Tool { package static let rewrite = Tool(Rewrite.self) }

extension Rewrite {
    /// With `match` and `if` a secret could be tried; so could one in a body, which is edited by place instead.
    static let agentUse = AgentUse { rule, _ in
        (rule["rules"]?.members ?? []).lazy.compactMap(agentRefusal).first
    }

    private static func agentRefusal(_ edit: Node) -> AgentUse.Refusal? {
        for verb in ["add", "modify", "remove", "set"] {
            guard let node = edit[verb], let what = node.scalar?.string else { continue }
            let place = try? Place(what)
            let name = place?.part == .header ? place?.name : edit["name"]?.scalar?.string.lowercased()
            if ["host", "url", "path"].contains(what) || name == "host" {
                return (node, "an agent changes no host and no URL")
            }
            if what == "body" {
                return (node, "an agent changes bodies by place, as in { set: res.json.plan, to: pro }")
            }
        }
        for key in ["match", "if"] {
            if let node = edit[key] {
                return (node, "rules of an agent have no '\(key)', with which secrets could be tried; use 'set'")
            }
        }
        return nil
    }
}
