package import HTTPModel

/// What every rule has: its name, whether it is in force, and the requests it is for.
extension ProfileReader {
    /// - Parameters:
    ///   - fields: the rule's fields.
    ///   - grammar: the tool's grammar.
    ///   - number: the rule's number in its tool, from 1.
    /// - Returns: the heading; `nil` where the rule cannot be used.
    package mutating func heading(_ fields: ProfileFields, _ grammar: ToolDescriptor, number: Int) -> RuleHeading? {
        let name = fields["name"].flatMap { text($0, "name") } ?? ""
        let isEnabled = fields["enabled"].flatMap { flag($0, "enabled") } ?? true
        var heading = RuleHeading(
            name: name.isEmpty ? "rule \(number)" : name,
            place: place(fields.node),
            isEnabled: isEnabled
        )
        switch grammar.scope {
        case .none: return heading
        case .only: heading.scope.locations = fields["only"].map { locations($0) }
        case .at:
            guard let at = required(fields, "at", grammar.noun) else { return nil }
            heading.scope.locations = locations(at)
        case .from:
            guard let from = required(fields, "from", grammar.noun) else { return nil }
            // What else it may be is the tool's own business.
            let isLocation = grammar.keys.allSatisfy { $0.name != "from" }
            if isLocation { heading.scope.locations = locations(from) }
        }
        heading.scope.exceptions = fields["except"].map { locations($0) } ?? []
        heading.scope.methods = fields["method"].map { methods($0) } ?? []
        return heading
    }

    private mutating func methods(_ node: Node) -> Set<String> {
        var methods: Set<String> = []
        for entry in list(node) {
            guard let text = text(entry, "method") else { continue }
            let isToken = !text.isEmpty && text.utf8.allSatisfy(ProfileReader.isTokenByte)
            if !isToken { error("'\(text.prefix(40))' cannot be a method", at: entry) }
            if text != text.uppercased(), ProfileReader.usualMethods.contains(text.uppercased()) {
                lint("methods are written in upper case; '\(text)' is taken for \(text.uppercased())", at: entry)
                methods.insert(text.uppercased())
            } else {
                methods.insert(text)
            }
        }
        return methods
    }

    private static let usualMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
    ]

    /// RFC 9110 §5.6.2.
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    // MARK: - Locations

    /// One location or a list of them.
    package mutating func locations(_ node: Node) -> [Location] {
        if let list = node.sequence, list.isEmpty {
            lint("the list of locations is empty, so nothing matches", at: node)
        }
        return list(node).compactMap { location($0) }
    }

    /// One location, as a text or by its fields.
    package mutating func location(_ node: Node) -> Location? {
        if node.mapping != nil { return locationByFields(node) }
        guard let text = text(node, "a location") else { return nil }
        do {
            let location = try Location(text)
            for found in location.lints { lint(found.description, at: node) }
            return location
        } catch {
            self.error(error.description, at: node, offset: error.column - 1 + node.quoteWidth)
            return nil
        }
    }

    private static let locationKeys = LocationPattern.Field.allCases.map {
        GrammarKey($0.rawValue, .text, "A wildcard pattern; blank means any.", example: "\($0.rawValue): \"*\"")
    }

    private mutating func locationByFields(_ node: Node) -> Location? {
        guard let fields = fields(node, "a location", keys: ProfileReader.locationKeys) else { return nil }
        var pattern = LocationPattern()
        for field in LocationPattern.Field.allCases {
            if let value = fields[field.rawValue], let text = text(value, field.rawValue) { pattern[field] = text }
        }
        do {
            let location = try Location(pattern)
            for found in location.lints { lint(found.description, at: node) }
            return location
        } catch {
            self.error(error.description, at: error.field.flatMap { fields[$0.rawValue] } ?? node)
            return nil
        }
    }
}
