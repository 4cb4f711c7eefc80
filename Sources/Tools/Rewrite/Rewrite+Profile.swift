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
        directions: [.request, .response],
        takesTunnels: false,
        noun: "a rewrite set",
        summary: "Edits requests and responses by sets of rules: headers, cookies, query, host, path, URL, status, "
            + "body.",
        scope: .at,
        selection: .all,
        keys: [
            GrammarKey(
                "rules",
                .list(.mapping(RewriteRuleReader.keys)),
                "The edits, in order; each has one of 'add', 'modify' and 'remove'.",
                example: "rules: [ { remove: header, on: request, name: X-Debug } ]"
            )
        ],
        example: """
            rewrite:
              - name: small pages
                at: "https://qiita.com/api/v2/items"
                rules:
                  - { modify: query, name: per_page, to: "10" }
                  - { modify: body, on: response, match: '/"plan":"(\\w+)"/', to: '"plan":"pro-$1"' }
            """,
        usualBreadth: .path
    )

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
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
        let list = reader.list(node)
        if list.isEmpty { reader.lint("the set has no rules", at: node) }
        var rules: [RewriteRule] = []
        for (position, node) in list.enumerated() {
            if let rule = RewriteRuleReader.rule("\(heading.name) #\(position + 1)", node, &reader) {
                rules.append(rule)
            }
        }
        let set = RewriteSet(rules)
        var heading = heading
        heading.action = set.action
        return Rule(heading: heading, set: set)
    }
}

extension Tool {
    package static let rewrite = Tool(Rewrite.self)
}
