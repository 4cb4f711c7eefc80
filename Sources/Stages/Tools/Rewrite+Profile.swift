package import ExchangeCore

extension Rewrite: RuleTool {
    /// The rewrite tool's place.
    package var slot: StageSlot { .rewrite }

    static let grammar = ToolGrammar(
        .rewrite,
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
            """
    )

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let node = reader.required(fields, "rules", grammar.noun) else { return nil }
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
