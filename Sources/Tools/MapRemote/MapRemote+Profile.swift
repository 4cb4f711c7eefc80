import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

extension MapRemote {
    static let descriptor = ToolDescriptor(
        "map-remote",
        order: 600,
        title: "Map remote",
        letter: "m",
        alone: [.toggle, .panel],
        directions: [.request],
        takesTunnels: true,
        noun: "a map-remote rule",
        summary: "Sends matching requests to another place; redirects in the answer are left as they are.",
        scope: .from,
        selection: .first,
        keys: [
            GrammarKey(
                "from",
                .either(.locations, .pattern),
                "Which requests: locations, or /a regular expression/ that is looked for in the whole URL.",
                example: "from: '/^https:\\/\\/(\\w+)\\.example\\.com(\\/.*)/'"
            ),
            GrammarKey(
                "to",
                .either(.text, .mapping(partKeys)),
                "Where to, as [protocol://][host[:port]][/path][?query] or part by part; what is left out stays as it is. "
                    + "To a path is added what 'from' leaves over: the path behind its literal part. $1 is what the "
                    + "first star of 'from' stands for, or the first group; with one in the path nothing is added.",
                example: "to: \"http://localhost:3000/api/\""
            ),
            GrammarKey(
                "preserve-host",
                .flag,
                "Whether the Host header stays the client's; TLS goes by the new host all the same.",
                example: "preserve-host: true",
                fallback: "false: Host is that of the new place"
            ),
            GrammarKey(
                "keep-prefix",
                .flag,
                "Whether the whole path of the request is added to that of 'to', not just what 'from' leaves over.",
                example: "keep-prefix: true",
                fallback: "false"
            ),
        ],
        example: "map-remote: [ { from: \"https://qiita.com/*\", to: \"http://localhost:3000/\" } ]",
        usualBreadth: .path,
        change: .url
    )

    /// An expression that runs away counts as one that matches, since the trace would say that.
    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        guard rule.heading.scope.matches(method: method, url: url) else { return false }
        guard let expression = rule.expression else { return true }
        do throws(RegularExpression.Runaway) { return try Match(expression, url) != nil } catch { return true }
    }

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
        // What it leaves out, path and query, stays as it is.
        [Node.Member("from", place), Node.Member("to", .text("http://localhost:3000"))]
    }

    private static let partKeys: [GrammarKey] = [
        GrammarKey(
            "protocol",
            .choice(["http", "https", "ws", "wss"]),
            "The protocol to speak.",
            example: "protocol: http",
            fallback: "the request's"
        ),
        GrammarKey("host", .text, "The host to ask.", example: "host: localhost", fallback: "the request's"),
        GrammarKey(
            "port",
            .number(1...65_535, unit: ""),
            "The port to ask at.",
            example: "port: 3000",
            fallback: "the request's, or the usual one of the new protocol where it was the usual one before"
        ),
        GrammarKey("path", .text, "The path to ask for.", example: "path: /v2/", fallback: "the request's"),
        GrammarKey(
            "query",
            .text,
            "The query, which replaces the request's.",
            example: "query: \"lang=en\"",
            fallback: "the request's"
        ),
    ]

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let from = reader.required(fields, "from", descriptor.noun),
            let to = reader.required(fields, "to", descriptor.noun)
        else { return nil }
        var heading = heading
        let before = reader.issues.count
        let expression = expression(from, &reader)
        if expression == nil { heading.scope.locations = reader.locations(from) }
        guard let target = target(to, &reader),
            !reader.issues[before...].contains(where: { $0.severity == .error })
        else { return nil }
        heading.action = "send to \(text(to))"
        let keepsHostField = fields["preserve-host"].flatMap { reader.flag($0, "preserve-host") } ?? false
        if keepsHostField { heading.action += ", Host as it is" }
        if expression != nil { heading.action = "URLs that match \(text(from)): \(heading.action)" }
        let rule = Rule(
            heading: heading,
            expression: expression,
            target: target,
            keepsHostField: keepsHostField,
            keepsPrefix: fields["keep-prefix"].flatMap { reader.flag($0, "keep-prefix") } ?? false
        )
        check(rule, fields, to, &reader)
        return rule
    }

    private static func expression(_ node: Node, _ reader: inout ProfileReader) -> RegularExpression? {
        guard let text = node.scalar?.string, text.utf8.count > 2, text.hasPrefix("/"), text.hasSuffix("/") else {
            return nil
        }
        let source = String(text.dropFirst().dropLast())
        if !source.contains(where: { "\\^$.|?*+()[]{}".contains($0) }) {
            reader.lint("'\(text)' is taken for a regular expression; for the path write \"*\(text)\"", at: node)
        }
        do {
            return try RegularExpression(source, isCaseSensitive: true)
        } catch {
            let characters = String(decoding: Array(source.utf8).prefix(error.offset), as: UTF8.self).count
            reader.error("bad regular expression: \(error.message)", at: node, offset: characters + 1 + node.quoteWidth)
            return nil
        }
    }

    private static func target(_ node: Node, _ reader: inout ProfileReader) -> RemoteTarget? {
        guard node.mapping != nil else {
            guard let text = reader.text(node, "to") else { return nil }
            guard !text.isEmpty else {
                reader.error("'to' says nothing, so nothing would be mapped", at: node)
                return nil
            }
            do {
                return try RemoteTarget(text)
            } catch {
                reader.error(error.message, at: node)
                return nil
            }
        }
        let before = reader.issues.count
        guard let fields = reader.fields(node, "'to'", keys: partKeys), reader.issues.count == before else {
            return nil
        }
        var parts: [Location.Field: String] = [:]
        for field in Location.Field.allCases {
            if let value = fields[field.rawValue] { parts[field] = reader.text(value, field.rawValue) ?? "" }
        }
        if parts.values.allSatisfy(\.isEmpty) {
            reader.error("'to' says nothing, so nothing would be mapped", at: node)
            return nil
        }
        do {
            return try RemoteTarget(parts)
        } catch {
            reader.error(error.message, at: error.field.flatMap { fields[$0.rawValue] } ?? node)
            return nil
        }
    }

    /// What a target says, for lists of rules.
    private static func text(_ node: Node) -> String {
        if let text = node.scalar?.string { return text }
        let parts = node.mapping.map { Array($0) } ?? []
        if !parts.isEmpty {
            return parts.map { "\($0.key.scalar?.string ?? "") \($0.value.scalar?.string ?? "")" }.joined(
                separator: ", "
            )
        }
        return (node.sequence.map { Array($0) } ?? []).map { text($0) }.joined(separator: ", ")
    }

    private static func check(_ rule: Rule, _ fields: ProfileFields, _ to: Node, _ reader: inout ProfileReader) {
        let locations = rule.heading.scope.locations
        let highest = rule.target.highestCapture
        let count = rule.expression?.groupCount ?? locations?.map(\.starCount).min() ?? 0
        if highest > count {
            let what = rule.expression == nil ? "star" : "group"
            reader.error("there is no $\(highest): 'from' has \(count) \(what)\(count == 1 ? "" : "s")", at: to)
        }
        if rule.target.hasQuery, locations?.contains(where: { !$0.pattern.query.isEmpty }) == true {
            reader.lint("the query that 'from' asks for is replaced by the one in 'to'", at: to)
        }
        guard rule.keepsPrefix, let node = fields["keep-prefix"] else { return }
        if rule.expression != nil || !rule.target.appendsRemainder {
            reader.lint("'keep-prefix' means nothing where 'to' or a regular expression says the whole path", at: node)
        } else if !rule.target.hasPath {
            reader.lint("'keep-prefix' means nothing where 'to' has no path: the path stays as it is", at: node)
        }
    }
}

extension Tool {
    package static let mapRemote = Tool(MapRemote.self)
}
