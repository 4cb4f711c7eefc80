package import HTTPModel
import Text

extension ProfileReader {
    /// Reads a rule's name and whether it is enabled; `number` counts the rules of its kind, from 1.
    mutating func heading(_ fields: ProfileFields, number: Int) -> RuleHeading {
        let name = text(fields, "name") ?? ""
        var heading = RuleHeading(name: name.isEmpty ? "rule \(number)" : name, place: place(fields.node))
        heading.isEnabled = flag(fields, "enabled") ?? true
        return heading
    }

    /// Reads the keys that every rule of a tool has, with its scope; `nil` if the rule cannot be used.
    mutating func heading(_ fields: ProfileFields, _ tool: ToolDescriptor, number: Int) -> RuleHeading? {
        var heading = heading(fields, number: number)
        heading.condition = fields["when"].flatMap { condition($0, of: tool) }
        switch tool.scope {
        case .none: return heading
        case .only: heading.scope.locations = fields["only"].map { locations($0) }
        case .at, .from:
            guard let node = required(fields, tool.scope.rawValue, tool.noun) else { return nil }
            // A tool that has the key among its own reads it itself.
            if tool.keys.allSatisfy({ $0.name != tool.scope.rawValue }) { heading.scope.locations = locations(node) }
        }
        heading.scope.exceptions = fields["except"].map { locations($0) } ?? []
        heading.scope.methods = fields["method"].map { methods($0) } ?? []
        return heading
    }

    private mutating func methods(_ node: Node) -> Set<String> {
        var methods: Set<String> = []
        for entry in node.members {
            guard let text = text(entry, "method") else { continue }
            if !text.isToken { error("'\(text.prefix(40))' cannot be a method", at: entry) }
            let upper = text.uppercased()
            let isUsual = ProfileReader.usualMethods.contains(upper)
            if isUsual, text != upper {
                lint("methods are case-sensitive; '\(text)' was read as \(upper)", at: entry)
            }
            if !isUsual, upper.utf8.count <= 8,
                let meant = ProfileReader.usualMethods.first(where: { Spelling.distance(upper, $0) == 1 })
            {
                lint("'\(text)' is not a usual method; did you mean \(meant)?", at: entry)
            }
            methods.insert(isUsual ? upper : text)
        }
        return methods
    }

    private static let usualMethods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY",
    ]

    package mutating func locations(_ node: Node) -> [Location] {
        if node.sequence?.isEmpty == true { lint("the list of locations is empty, so nothing matches", at: node) }
        return node.members.compactMap { entry in
            let location = entry.mapping == nil ? locationByText(entry) : locationByFields(entry)
            for found in location?.lints ?? [] { lint(found.description, at: entry) }
            return location
        }
    }

    /// Reads one host, with or without a port, or a list of hosts; `what` is for errors.
    package mutating func hosts(_ node: Node, _ what: String) -> [Location] {
        let locations = locations(node)
        for location in locations {
            let pattern = location.pattern
            if !pattern.path.isEmpty || !pattern.query.isEmpty || !pattern.protocol.isEmpty {
                error("\(what) accepts a host and a port; '\(location)' has more", at: node)
            }
        }
        return locations
    }

    private mutating func locationByText(_ node: Node) -> Location? {
        guard let text = text(node, "a location") else { return nil }
        if let meant = text.misspeltURL { lint("'\(text)' is not a usual URL; did you mean \(meant)?", at: node) }
        do {
            return try Location(text)
        } catch {
            self.error(error.description, at: node, offset: error.column - 1 + node.quoteWidth)
            return nil
        }
    }

    private static let locationKeys = LocationPattern.Field.allCases.map {
        GrammarKey($0.rawValue, .text, example: "\"*\"").means("A wildcard pattern; empty means any.")
    }

    private mutating func locationByFields(_ node: Node) -> Location? {
        guard let fields = fields(node, "a location", keys: ProfileReader.locationKeys) else { return nil }
        var pattern = LocationPattern()
        for field in LocationPattern.Field.allCases {
            if let text = text(fields, field.rawValue) { pattern[field] = text }
        }
        do {
            return try Location(pattern)
        } catch {
            self.error(error.description, at: error.field.flatMap { fields[$0.rawValue] } ?? node)
            return nil
        }
    }
}
