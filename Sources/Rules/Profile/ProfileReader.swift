package import ExchangeCore
package import Expressions
import HTTPModel

/// Reads values from a profile's tree and collects their errors. If a value is wrong, a function notes an issue at the
/// node's position and returns `nil` (or leaves the bad part out), so that one pass finds all errors.
package struct ProfileReader {
    package let file: String
    let tools: ToolRegistry
    /// The user's definitions for tools, in all files of the profile: by key, and by name in lower case.
    package internal(set) var definitions: Definitions = [:]
    package private(set) var issues: [ProfileIssue] = []
    /// The values that the texts of the current rule name.
    var valueUses: [ValueUse] = []
    /// Of all files of the profile.
    var numbers = NeedNumbers()
    /// Why texts cannot have values; `nil` if they can.
    var refusesValues: String?

    private static let mostIssues = 200

    package typealias Definitions = [String: [String: any Sendable]]
    package typealias ExpressionError = RegularExpression.SyntaxError

    package init(file: String, tools: ToolRegistry = ToolRegistry([]), _ definitions: Definitions = [:]) {
        (self.file, self.tools, self.definitions) = (file, tools, definitions)
    }

    var hasErrors: Bool { issues.contains { $0.severity == .error } }
    /// In the order of the file.
    var sortedIssues: [ProfileIssue] { issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) } }

    package mutating func error(_ message: @autoclosure () -> String, at node: Node, offset: Int = 0) {
        // How far the lines of a block are indented is unknown, so the error is at the block's sign.
        let isBlock = node.scalar?.style == .block
        note(.error, message(), line: node.line, column: node.column + (isBlock ? 0 : offset))
    }

    package mutating func lint(_ message: String, at node: Node) {
        note(.lint, message, line: node.line, column: node.column)
    }

    mutating func note(_ severity: ProfileIssue.Severity, _ text: @autoclosure () -> String, line: Int, column: Int) {
        guard issues.count < ProfileReader.mostIssues else { return }
        issues.append(ProfileIssue(severity: severity, file: file, line: line, column: column, message: text()))
    }

    func place(_ node: Node) -> ProfilePlace { ProfilePlace(file: file, line: node.line, column: node.column) }

    /// Unknown keys are errors.
    package mutating func fields(_ node: Node, _ what: String, keys: [GrammarKey]) -> ProfileFields? {
        guard let mapping = node.mapping else {
            error("\(what) must be a mapping, as in { \(keys.first?.name ?? "key"): … }, not \(node.kind)", at: node)
            return nil
        }
        let known = keys.map(\.name)
        var fields = ProfileFields(node: node, keys: keys)
        for member in mapping {
            switch member.key.scalar?.string {
            case nil: error("a key must be a word", at: member.key)
            case let name? where known.contains(name): fields.values[name] = member.value
            case let name?:
                let hint = Suggestion.text(for: name, among: known)
                error("\(what) has no key '\(name.prefix(40))'\(hint)", at: member.key)
            }
        }
        return fields
    }

    /// The entries of a mapping whose keys the user chooses.
    package mutating func pairs(_ node: Node, _ what: String) -> [(String, Node)] {
        guard let mapping = node.mapping else {
            error("\(what) must be a mapping of names to values, not \(node.kind)", at: node)
            return []
        }
        return mapping.compactMap { member in
            if let name = member.key.scalar?.string { return (name, member.value) }
            error("a name must be a text", at: member.key)
            return nil
        }
    }

    package mutating func required(_ fields: ProfileFields, _ key: String, _ what: String) -> Node? {
        if fields[key] == nil { error("\(what) needs '\(key)'", at: fields.node) }
        return fields[key]
    }

    /// The text of a scalar, whatever its YAML type; a missing value reads as empty.
    package mutating func text(_ node: Node, _ what: String) -> String? {
        if node.string == nil { error("\(what) must be a text, not \(node.kind)", at: node) }
        return node.string
    }

    package mutating func text(_ fields: ProfileFields, _ key: String) -> String? {
        fields[key].flatMap { text($0, key) }
    }

    package mutating func flag(_ node: Node, _ what: String) -> Bool? {
        let flag = node.scalar.flatMap { Bool($0.string) }
        if flag == nil { error("\(what) must be true or false", at: node) }
        return flag
    }

    package mutating func flag(_ fields: ProfileFields, _ key: String) -> Bool? {
        fields[key].flatMap { flag($0, key) }
    }

    package mutating func choice<Value>(_ node: Node, _ what: String, _ choices: [(String, Value)]) -> Value? {
        parsed(node, what, as: choices.map(\.0).joined(separator: " or ")) { text in
            choices.first { $0.0 == text }?.1
        }
    }

    mutating func choice<Value: CaseIterable & RawRepresentable<String>>(
        _ node: Node,
        _ what: String,
        of type: Value.Type
    ) -> Value? { choice(node, what, type.allCases.map { ($0.rawValue, $0) }) }

    /// Parses a text; `form` describes the expected form in the error.
    mutating func parsed<Value>(
        _ node: Node,
        _ what: String,
        as form: @autoclosure () -> String,
        _ parse: (String) -> Value?
    ) -> Value? {
        guard let text = text(node, what) else { return nil }
        let value = parse(text)
        if value == nil { error("\(what) must be \(form()), not '\(text.prefix(40))'", at: node) }
        return value
    }

    package mutating func directions(_ node: Node, _ what: String) -> [(direction: FlowDirection, node: Node)] {
        node.members.compactMap { entry in
            choice(entry, what, [("request", .request), ("response", .response)]).map { ($0, entry) }
        }
    }

    /// A number in the range that the grammar has for the key.
    package mutating func number(_ fields: ProfileFields, _ key: String) -> Double? {
        guard let node = fields[key],
            case .number(let range, let unit)? = fields.keys.first(where: { $0.name == key })?.value
        else { return nil }
        return number(node, key, range, unit)
    }

    /// A number without a fraction, in the range that the grammar has for the key.
    package mutating func integer(_ fields: ProfileFields, _ key: String) -> Int? {
        guard let node = fields[key], let number = number(fields, key) else { return nil }
        if number != number.rounded() { error("\(key) must be a whole number", at: node) }
        return Int(exactly: number)
    }

    package mutating func number(_ node: Node, _ what: String, _ range: ClosedRange<Double>, _ unit: String) -> Double?
    {
        let units = GrammarValue.units[unit] ?? []
        let unit = unit.isEmpty ? "" : " (\(unit))"
        guard let text = node.string else {
            error("\(what) must be a number\(unit), not \(node.kind)", at: node)
            return nil
        }
        guard let number = ProfileReader.amount(text, units) ?? Double(text), number.isFinite else {
            let others = units.isEmpty ? "" : ", or with its unit, as \(GrammarValue.examples(of: units))"
            error("\(what) must be a number\(unit)\(others), not '\(text.prefix(40))'", at: node)
            return nil
        }
        guard range.contains(number) else {
            let (low, high) = (GrammarValue.text(range.lowerBound), GrammarValue.text(range.upperBound))
            error("\(what) must be from \(low) to \(high)\(unit), not \(text)", at: node)
            return nil
        }
        return number
    }

    /// Warns about a seed without a name: draws depend on the rule's name, by default its number.
    package mutating func lintUnnamedSeed(_ fields: ProfileFields) {
        guard let node = fields["seed"], fields["name"] == nil else { return }
        lint("'seed' needs the rule's name, else a rule put before it changes the random choices", at: node)
    }

    /// An absolute path: relative paths begin in the profile's directory, `~/` in the home directory.
    package mutating func path(_ node: Node, _ what: String) -> String? {
        guard let text = text(node, what) else { return nil }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            error("\(what) must be the path of a file or directory", at: node)
            return nil
        }
        return ProfileText.absolute(text, in: ProfileText.directory(of: file))
    }

    package mutating func pattern(_ node: Node, _ text: String, isCaseSensitive: Bool, isWhole: Bool) -> TextPattern? {
        expression(text, at: node) { () throws(ExpressionError) in
            try TextPattern(text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        }
    }

    /// A regular expression that is written without slashes and may match a part of a text.
    package mutating func expression(_ node: Node, _ text: String, isCaseSensitive: Bool) -> TextPattern? {
        expression("/\(text)/", at: node, after: -1) { () throws(ExpressionError) in
            try TextPattern("/\(text)/", isCaseSensitive: isCaseSensitive, isWhole: false)
        }
    }

    /// Compiles a regular expression that begins `skipped` characters into a node's text.
    package mutating func expression<Pattern>(
        _ text: String,
        at node: Node,
        after skipped: Int = 0,
        _ compile: () throws(ExpressionError) -> Pattern
    ) -> Pattern? {
        do throws(ExpressionError) {
            return try compile()
        } catch {
            let characters = String(decoding: Array(text.utf8).prefix(error.offset), as: UTF8.self).count
            let offset = skipped + characters + node.quoteWidth
            self.error("bad regular expression: \(error.message)", at: node, offset: offset)
            return nil
        }
    }
}

package struct ProfileFields {
    package let node: Node
    let keys: [GrammarKey]
    package fileprivate(set) var values: [String: Node] = [:]

    package subscript(key: String) -> Node? { values[key] }
}
