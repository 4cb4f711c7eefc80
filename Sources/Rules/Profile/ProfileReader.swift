import HTTPModel
package import NIOCore

/// Reads values out of a profile's tree and gathers what is wrong with them.
///
/// Every function notes an issue at the node's position and returns `nil` (or leaves the bad part out) where a value
/// is not what it should be, so that one pass finds all mistakes.
package struct ProfileReader {
    package let file: String
    /// Where relative paths begin: the directory of the file.
    package let directory: String
    /// The tools whose names mean something.
    package let tools: ToolRegistry
    /// What the user has defined by the key it stands under, and by name in lower case, in every file of the profile.
    package var definitions: Definitions = [:]
    package private(set) var issues: [ProfileIssue] = []

    /// Beyond this many there is no use in going on.
    private static let mostIssues = 200

    package typealias Definitions = [String: [String: any Sendable]]

    package init(file: String, tools: ToolRegistry = ToolRegistry([]), _ definitions: Definitions = [:]) {
        self.file = file
        self.tools = tools
        self.definitions = definitions
        directory = ProfileText.directory(of: file)
    }

    var hasErrors: Bool { issues.contains { $0.severity == .error } }

    // MARK: - Issues

    package mutating func error(_ message: @autoclosure () -> String, at node: Node, offset: Int = 0) {
        note(.error, message(), line: node.line, column: node.column + offset)
    }

    package mutating func lint(_ message: String, at node: Node) {
        note(.lint, message, line: node.line, column: node.column)
    }

    package mutating func note(
        _ severity: ProfileIssue.Severity,
        _ message: @autoclosure () -> String,
        line: Int,
        column: Int
    ) {
        guard issues.count < ProfileReader.mostIssues else { return }
        issues.append(ProfileIssue(severity: severity, file: file, line: line, column: column, message: message()))
    }

    package func place(_ node: Node) -> ProfilePlace {
        ProfilePlace(file: file, line: node.line, column: node.column)
    }

    // MARK: - Mappings and lists

    /// The members of a list; anything else is a list of itself.
    package func list(_ node: Node) -> [Node] {
        node.members
    }

    /// The fields of a mapping, unknown keys noted.
    package mutating func fields(_ node: Node, _ what: String, keys: [GrammarKey]) -> ProfileFields? {
        guard let mapping = node.mapping else {
            error("\(what) must be a mapping, as in { \(keys.first?.name ?? "key"): … }, not \(node.kind)", at: node)
            return nil
        }
        var fields = ProfileFields(node: node, keys: keys)
        for member in mapping {
            guard let name = member.key.scalar?.string else {
                error("a key must be a word", at: member.key)
                continue
            }
            if keys.contains(where: { $0.name == name }) {
                fields.values[name] = member.value
            } else {
                let known = keys.map(\.name)
                error(
                    "\(what) has no key '\(name.prefix(40))'\(Suggestion.text(for: name, among: known))",
                    at: member.key
                )
            }
        }
        return fields
    }

    package mutating func required(_ fields: ProfileFields, _ key: String, _ what: String) -> Node? {
        if let node = fields[key] { return node }
        error("\(what) needs '\(key)'", at: fields.node)
        return nil
    }

    /// Draws depend on the rule's name, which is its number where it has none.
    package mutating func lintUnnamedSeed(_ fields: ProfileFields) {
        guard let node = fields["seed"], fields["name"] == nil else { return }
        lint("the seed's draws depend on the rule's name; without one a rule put before it changes them", at: node)
    }

    // MARK: - Values

    /// The text of a scalar, whatever type YAML takes it for; nothing written reads as empty.
    package mutating func text(_ node: Node, _ what: String) -> String? {
        if let text = node.string { return text }
        error("\(what) must be a text, not \(node.kind)", at: node)
        return nil
    }

    package mutating func flag(_ node: Node, _ what: String) -> Bool? {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            error("\(what) must be true or false", at: node)
            return nil
        }
    }

    /// One of some words.
    package mutating func choice<Value>(_ node: Node, _ what: String, _ choices: [(String, Value)]) -> Value? {
        let words = choices.map(\.0)
        guard let text = text(node, what) else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        error("\(what) must be \(words.joined(separator: " or ")), not '\(text.prefix(40))'", at: node)
        return nil
    }

    /// A number, in the range that the grammar has for the key.
    package mutating func number(_ fields: ProfileFields, _ key: String) -> Double? {
        guard let node = fields[key] else { return nil }
        guard case .number(let range, let unit)? = fields.grammar(key)?.value else { return number(node, key, nil, "") }
        return number(node, key, range, unit)
    }

    package mutating func number(_ node: Node, _ what: String, _ range: ClosedRange<Double>?, _ unit: String) -> Double?
    {
        guard let text = text(node, what) else { return nil }
        guard let number = Double(text), number.isFinite else {
            error("\(what) must be a number\(unit.isEmpty ? "" : " (\(unit))"), not '\(text.prefix(40))'", at: node)
            return nil
        }
        if let range, !range.contains(number) {
            let (low, high) = (GrammarValue.text(range.lowerBound), GrammarValue.text(range.upperBound))
            error("\(what) must be from \(low) to \(high)\(unit.isEmpty ? "" : " (\(unit))"), not \(text)", at: node)
            return nil
        }
        return number
    }

    /// A time with its unit: `500ms`, `30s`, `2m`.
    package mutating func duration(_ node: Node, _ what: String) -> TimeAmount? {
        guard let text = text(node, what) else { return nil }
        let units: [(String, Double)] = [("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9)]
        if let (suffix, scale) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Double(text.dropLast(suffix.count)), count >= 0, count * scale < 1e17
        {
            return .nanoseconds(Int64(count * scale))
        }
        error("\(what) must be a time with its unit, as 500ms, 30s or 2m, not '\(text.prefix(40))'", at: node)
        return nil
    }

    /// An absolute path; a relative one begins beside the profile, `~/` in the home directory.
    package mutating func path(_ node: Node, _ what: String) -> String? {
        guard let text = text(node, what) else { return nil }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            error("\(what) must be the path of a file or directory", at: node)
            return nil
        }
        return ProfileText.absolute(text, in: directory)
    }

    /// What a rule looks for in a text; `nil` where the key is not there, is blank, or is no good.
    package mutating func pattern(
        _ fields: ProfileFields,
        _ key: String,
        isCaseSensitive: Bool,
        isWhole: Bool
    ) -> TextPattern? {
        guard let node = fields[key], let text = text(node, key), !text.isEmpty else { return nil }
        return pattern(node, text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
    }

    package mutating func pattern(_ node: Node, _ text: String, isCaseSensitive: Bool, isWhole: Bool) -> TextPattern? {
        do {
            return try TextPattern(text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        } catch {
            let characters = String(decoding: Array(text.utf8).prefix(error.offset), as: UTF8.self).count
            self.error("bad regular expression: \(error.message)", at: node, offset: characters + node.quoteWidth)
            return nil
        }
    }
}
