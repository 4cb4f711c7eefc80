import HTTPModel
import Yams

/// Reads values out of a profile's tree and gathers what is wrong with them.
///
/// Every function notes an issue at the node's position and returns `nil` (or leaves the bad part out) where a value
/// is not what it should be, so that one pass finds all mistakes.
struct ProfileReader {
    let file: String
    private(set) var issues: [ProfileIssue] = []

    /// Beyond this many there is no use in going on.
    private static let mostIssues = 200

    init(file: String) {
        self.file = file
    }

    var hasErrors: Bool { issues.contains { $0.severity == .error } }

    // MARK: - Issues

    mutating func error(_ message: @autoclosure () -> String, at node: Node, offset: Int = 0) {
        note(.error, message(), line: node.mark?.line ?? 1, column: (node.mark?.column ?? 1) + offset)
    }

    mutating func lint(_ message: String, at node: Node) {
        note(.lint, message, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    mutating func note(
        _ severity: ProfileIssue.Severity,
        _ message: @autoclosure () -> String,
        line: Int,
        column: Int
    ) {
        guard issues.count < ProfileReader.mostIssues else { return }
        issues.append(ProfileIssue(severity: severity, file: file, line: line, column: column, message: message()))
    }

    // MARK: - Values

    /// The text of a scalar, whatever type YAML takes it for; nothing written reads as empty.
    mutating func text(_ node: Node, _ what: String) -> String? {
        guard let scalar = node.scalar else {
            error("\(what) must be a text, not \(node.kind)", at: node)
            return nil
        }
        let isNothing = scalar.style == .plain && (scalar.string == "~" || scalar.string == "null")
        return isNothing ? "" : scalar.string
    }

    mutating func flag(_ node: Node, _ what: String) -> Bool? {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            error("\(what) must be true or false", at: node)
            return nil
        }
    }

    /// One of some words.
    mutating func choice<Value>(_ node: Node, _ what: String, _ choices: [(String, Value)]) -> Value? {
        let words = choices.map(\.0)
        guard let text = text(node, what) else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        error("\(what) must be \(words.joined(separator: " or ")), not '\(text.prefix(40))'", at: node)
        return nil
    }

    /// The members of a list; anything else is a list of itself.
    func list(_ node: Node) -> [Node] {
        node.sequence.map { Array($0) } ?? [node]
    }

    /// The fields of a mapping, unknown keys noted.
    mutating func fields(_ node: Node, _ what: String, keys: [String]) -> ProfileFields? {
        guard let mapping = node.mapping else {
            error("\(what) must be a mapping, as in { \(keys.first ?? "key"): … }, not \(node.kind)", at: node)
            return nil
        }
        var fields = ProfileFields(node: node)
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                error("a key must be a word", at: key)
                continue
            }
            if keys.contains(name) {
                fields.values[name] = value
            } else {
                error("\(what) has no key '\(name.prefix(40))'\(Suggestion.text(for: name, among: keys))", at: key)
            }
        }
        return fields
    }

    /// The fields of a mapping that may also have `name` and `enabled`.
    mutating func rule(_ node: Node, _ what: String, keys: [String]) -> ProfileFields? {
        guard var fields = fields(node, what, keys: keys + ["name", "enabled"]) else { return nil }
        fields.name = fields["name"].flatMap { text($0, "name") }
        fields.isEnabled = fields["enabled"].flatMap { flag($0, "enabled") } ?? true
        return fields
    }

    mutating func required(_ fields: ProfileFields, _ key: String, _ what: String) -> Node? {
        if let node = fields[key] { return node }
        error("\(what) needs '\(key)'", at: fields.node)
        return nil
    }

    // MARK: - Locations

    /// One location or a list of them.
    mutating func locations(_ node: Node) -> [Location] {
        if let list = node.sequence, list.isEmpty {
            lint("the list of locations is empty, so nothing matches", at: node)
        }
        return list(node).compactMap { location($0) }
    }

    private mutating func location(_ node: Node) -> Location? {
        if node.mapping != nil { return locationByFields(node) }
        guard let text = text(node, "a location") else { return nil }
        do {
            let location = try Location(text)
            for found in location.lints { lint(found.description, at: node) }
            return location
        } catch {
            let isQuoted = node.scalar?.style == .singleQuoted || node.scalar?.style == .doubleQuoted
            self.error(error.description, at: node, offset: error.column - 1 + (isQuoted ? 1 : 0))
            return nil
        }
    }

    private mutating func locationByFields(_ node: Node) -> Location? {
        let keys = LocationPattern.Field.allCases.map(\.rawValue)
        guard let fields = fields(node, "a location", keys: keys) else { return nil }
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

/// A mapping's values by key.
struct ProfileFields {
    let node: Node
    var values: [String: Node] = [:]
    var name: String?
    var isEnabled = true

    init(node: Node) {
        self.node = node
    }

    subscript(key: String) -> Node? { values[key] }
}

extension Node {
    /// What the node is, in words.
    var kind: String {
        switch self {
        case .scalar: "a text"
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }
}
