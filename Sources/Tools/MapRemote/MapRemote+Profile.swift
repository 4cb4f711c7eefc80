import ExchangeCore
import Expressions
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
        summary: "Sends matching requests to another URL; redirects in the answer are unchanged.",
        forAgents: agentUse,
        scope: .from,
        conditions: .bodies,
        keys: [
            GrammarKey("from", .either(.locations, .pattern), example: "'/^https:\\/\\/(\\w+)\\.example\\.com(\\/.*)/'")
                .means("The requests: locations, or a /regular expression/ searched in the whole URL."),
            GrammarKey("to", .either(.text, .mapping(partKeys)), example: "\"http://localhost:3000/api/\"").means(
                "The target, as [protocol://][host[:port]][/path][?query] or part by part; missing parts stay unchanged. "
                    + "The rest of the path after the literal part of 'from' is appended to a path. $1 is the match of the "
                    + "first star of 'from' or the first group; if the path has one, nothing is appended. "
                    + "Path and query may have values, as ${NAME}."
            ),
            GrammarKey("preserve-host", .flag, example: "true", fallback: "false: Host is the new host")
                .means("Whether to keep the client's Host header; TLS uses the new host in any case."),
            GrammarKey("keep-prefix", .flag, example: "true", fallback: "false").means(
                "Whether to append the whole path of the request to that of 'to', instead of the rest after 'from'."
            ),
            RuleChance.seed,
        ],
        example: "map-remote: [ { from: \"https://qiita.com/*\", to: \"http://localhost:3000/\" } ]",
        usualScope: .path,
        change: .url
    )

    /// A regular expression that takes too long counts as a match, because the trace mentions its rule.
    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        guard rule.heading.scope.matches(method: method, url: url) else { return false }
        guard let expression = rule.expression else { return true }
        do throws(RegularExpression.MatchLimitError) {
            return try expression.captures(in: url.description) != nil
        } catch {
            return true
        }
    }

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        // `to` has no path and query, so the request keeps its own.
        [Node.Member("from", place), Node.Member("to", .text("http://localhost:3000"))]
    }

    private static let partKeys: [GrammarKey] = [
        GrammarKey("protocol", .choice(["http", "https", "ws", "wss"]), example: "http", fallback: "the request's")
            .means("The protocol."),
        GrammarKey("host", .text, example: "localhost", fallback: "the request's").means("The host."),
        GrammarKey(
            "port",
            .number(1...65_535, unit: ""),
            example: "3000",
            fallback: "the request's; a default port becomes the new protocol's default"
        ).means("The port."),
        GrammarKey("path", .text, example: "/v2/", fallback: "the request's").means("The path."),
        GrammarKey("query", .text, example: "\"lang=en\"", fallback: "the request's")
            .means("The query, which replaces the request's."),
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
        let keepsHost = reader.flag(fields, "preserve-host") ?? false
        if keepsHost { heading.action += ", Host unchanged" }
        if expression != nil { heading.action = "URLs that match \(text(from)): \(heading.action)" }
        let rule = Rule(
            heading: heading,
            expression: expression,
            target: target,
            keepsHostField: keepsHost,
            keepsPrefix: reader.flag(fields, "keep-prefix") ?? false
        )
        check(rule, fields, to, &reader)
        RuleChance.checkSeed(fields, &reader)
        return rule
    }

    private static func expression(_ node: Node, _ reader: inout ProfileReader) -> RegularExpression? {
        guard let text = node.scalar?.string, let source = TextPattern.expression(in: text) else { return nil }
        if !source.contains(where: { "\\^$.|?*+()[]{}".contains($0) }) {
            reader.lint("'\(text)' is taken for a regular expression; for the path write \"*\(text)\"", at: node)
        }
        return reader.expression(source, at: node, after: 1) { () throws(RegularExpression.SyntaxError) in
            try RegularExpression(source, isCaseSensitive: true)
        }
    }

    private static func target(_ node: Node, _ reader: inout ProfileReader) -> RemoteTarget? {
        let empty = RemoteParts.TargetError(message: "'to' is empty, so nothing would be mapped")
        var nodes: [String: Node] = [:]
        do throws(RemoteParts.TargetError) {
            guard node.mapping != nil else {
                guard let text = ValueTemplate(node, "to", &reader) else { return nil }
                if let meant = text.named().misspeltURL { reader.lint("did you mean \(meant)?", at: node) }
                if text.constant == "" { throw empty }
                return try RemoteTarget(text)
            }
            let before = reader.issues.count
            guard let fields = reader.fields(node, "'to'", keys: partKeys), reader.issues.count == before else {
                return nil
            }
            nodes = fields.values
            var parts: [Location.Field: ValueTemplate] = [:]
            for field in Location.Field.allCases {
                parts[field] = nodes[field.rawValue].flatMap { ValueTemplate($0, field.rawValue, &reader) }
            }
            if parts.values.allSatisfy({ $0.constant == "" }) { throw empty }
            return try RemoteTarget(parts)
        } catch {
            reader.error(error.message, at: error.field.flatMap { nodes[$0.rawValue] } ?? node)
            return nil
        }
    }

    /// The value of `from` or `to` as text for lists of rules.
    private static func text(_ node: Node) -> String {
        switch node.content {
        case .scalar(let scalar): scalar.string
        case .mapping(let parts): parts.map { "\(text($0.key)) \(text($0.value))" }.joined(separator: ", ")
        case .list(let list): list.map(text).joined(separator: ", ")
        }
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
            reader.lint("'keep-prefix' has no effect if 'to' or a regular expression sets the whole path", at: node)
        } else if !rule.target.hasPath {
            reader.lint("'keep-prefix' has no effect if 'to' has no path: the path stays unchanged", at: node)
        }
    }
}

extension Tool { package static let mapRemote = Tool(MapRemote.self) }

extension MapRemote {
    static let agentUse = AgentUse { rule, hosts in
        if let from = rule["from"], from.scalar?.string.hasPrefix("/") == true {
            return (from, "rules of an agent have no regular expressions for URLs; write a location")
        }
        guard let to = rule["to"] else { return nil }
        let text = to.scalar?.string.prefix { $0 != "?" }
        let host = text.map { RequestURL($0)?.host ?? "" } ?? to["host"]?.scalar?.string ?? ""
        if HostAddress.isThisMachine(host) || hosts.contains(host.lowercased()) { return nil }
        let hint = host.isEmpty ? "with a host in 'to'" : "not to '\(host.clipped(to: 60))'"
        return (to, "an agent maps to this machine or to a host of --allow send=, \(hint)")
    }
}
