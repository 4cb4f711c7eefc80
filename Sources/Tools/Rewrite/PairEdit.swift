import Expressions
import HTTPModel
import Rules
import Text

/// Names with values, in order: header fields, or query parameters.
protocol NamedValues {
    /// The position of the next editable pair, at or after `start`; if `name` is set, only pairs with that name count.
    func position(of name: FieldName?, from start: Int) -> Int?
    func name(at position: Int) -> String
    /// The value at a position, decoded.
    func valueBytes(at position: Int) -> [UInt8]
    mutating func append(_ name: String, _ value: [UInt8])
    mutating func setName(_ name: String, at position: Int)
    mutating func setValue(_ value: [UInt8], at position: Int)
    mutating func remove(at position: Int)
    /// Why a text cannot be a name; `nil` if it can.
    static func fault(ofName name: String) -> String?
    /// A pair as text for the trace.
    static func text(_ name: String, _ value: String) -> String
}

extension NamedValues {
    /// The value at a position as text: UTF-8 if it is valid, otherwise Latin-1.
    func value(at position: Int) -> String { String(fieldBytes: valueBytes(at: position)) }
}

/// An edit of named values: of header fields, or of query parameters.
struct PairEdit: Sendable {
    enum Action: Sendable {
        /// Adds a pair after the others, even if its name exists; with a condition, only if an existing pair meets it.
        case add(name: String, value: Replacement, condition: PairPattern?)
        /// Gives each matching pair a new name or value; `nil` keeps the old name or value.
        case modify(PairPattern, name: Replacement?, value: Replacement?, onlyFirst: Bool)
        case remove(PairPattern)
    }

    let action: Action

    /// Fields that authenticate a client.
    static let credentials: [FieldName] = ["authorization", "proxy-authorization", "cookie"]

    /// Whether the edit may give a message credentials that the client did not send.
    var addsCredentials: Bool {
        switch action {
        case .remove: false
        case .add(let name, _, _): PairEdit.credentials.contains(FieldName(name))
        case .modify(let pattern, let newName, let newValue, _):
            PairEdit.credentials.contains { name in
                newValue != nil && pattern.name.mayBe(name)
                    || newName.map { $0.hasGroups || FieldName($0.plain) == name } ?? false
            }
        }
    }

    /// Edits the pairs; returns the changes as text, if any. Throws `MatchLimitError` or ``UnusableEditError``.
    func apply<Pairs: NamedValues>(to pairs: inout Pairs) throws -> String? {
        switch action {
        case .add(let name, let value, let condition):
            guard let bytes = try bytes(of: value, condition, in: pairs) else { return nil }
            pairs.append(name, bytes)
            return "added \(Pairs.text(name, String(fieldBytes: bytes).clipped()))"
        case .modify(let pattern, let newName, let newValue, let onlyFirst):
            let changes = try modify(&pairs, pattern, newName, newValue, onlyFirst)
            return changes.isEmpty ? nil : changes.joined(separator: "; ")
        case .remove(let pattern):
            var removed: [String] = []
            var start = 0
            while let position = try pattern.position(in: pairs, from: start) {
                removed.append(Pairs.text(pairs.name(at: position), pairs.value(at: position).clipped()))
                pairs.remove(at: position)
                start = position
            }
            return removed.isEmpty ? nil : "removed \(removed.joined(separator: "; "))"
        }
    }

    /// Why the edit changed nothing; `noun` is the word for one pair.
    func absence(in pairs: some NamedValues, _ noun: String) -> String {
        let pattern: PairPattern? =
            switch action {
            case .add(_, _, let condition): condition
            case .modify(let pattern, _, _, _), .remove(let pattern): pattern
            }
        return pattern?.absence(in: pairs, noun) ?? "\(noun): already has this value"
    }

    /// The value to add; `nil` if the condition is not met.
    private func bytes(of value: Replacement, _ condition: PairPattern?, in pairs: some NamedValues) throws -> [UInt8]?
    {
        let plain = Array(value.plain.utf8)
        guard let condition else { return plain }
        guard let position = try condition.position(in: pairs, from: 0) else { return nil }
        return try condition.value?.expansion(of: value, in: pairs.valueBytes(at: position)) ?? plain
    }

    private func modify<Pairs: NamedValues>(
        _ pairs: inout Pairs,
        _ pattern: PairPattern,
        _ newName: Replacement?,
        _ newValue: Replacement?,
        _ onlyFirst: Bool
    ) throws -> [String] {
        var changes: [String] = []
        var start = 0
        while let position = try pattern.position(in: pairs, from: start) {
            start = position + 1
            let (name, value) = (pairs.name(at: position), pairs.valueBytes(at: position))
            var (nameAfter, valueAfter) = (name, value)
            if let newName { nameAfter = try pattern.renamed(name, newName) }
            if let newValue {
                valueAfter =
                    try pattern.value.map { try $0.replacing(in: value, with: newValue, onlyFirst: onlyFirst) ?? value }
                    ?? Array(newValue.plain.utf8)
            }
            if nameAfter != name {
                if let fault = Pairs.fault(ofName: nameAfter) { throw UnusableEditError(reason: fault) }
                pairs.setName(nameAfter, at: position)
            }
            if valueAfter != value { pairs.setValue(valueAfter, at: position) }
            guard nameAfter != name || valueAfter != value else { continue }
            let text = String(fieldBytes: valueAfter).clipped()
            let after = nameAfter == name ? text : Pairs.text(nameAfter, text)
            changes.append("changed \(Pairs.text(name, String(fieldBytes: value).clipped())) to \(after)")
        }
        return changes
    }
}

/// The pairs that a rule edits: by name, by value, or both; if the rule has neither, every pair.
struct PairPattern: Sendable {
    enum Name: Sendable {
        case any
        /// The whole name, in any case.
        case exact(FieldName)
        /// A part of the name, in any case.
        case expression(TextPattern)

        fileprivate func mayBe(_ name: FieldName) -> Bool {
            switch self {
            case .any: true
            case .exact(let own): own == name
            case .expression(let expression): (try? expression.matches("\(name)")) ?? true
            }
        }
    }

    let name: Name
    let value: TextPattern?

    /// The position of the first pair that matches, at or after `start`.
    func position(in pairs: some NamedValues, from start: Int) throws(RegularExpression.MatchLimitError) -> Int? {
        var exactName: FieldName?
        if case .exact(let name) = name { exactName = name }
        var start = start
        while let position = pairs.position(of: exactName, from: start) {
            start = position + 1
            if case .expression(let expression) = name, try !expression.matches(pairs.name(at: position)) { continue }
            if let value, try !value.matches(pairs.value(at: position)) { continue }
            return position
        }
        return nil
    }

    /// Why no pair matches; `nil` if one does.
    fileprivate func absence(in pairs: some NamedValues, _ noun: String) -> String? {
        guard let named = try? PairPattern(name: name, value: nil).position(in: pairs, from: 0) else {
            return switch name {
            case .any: "there is no \(noun)"
            case .exact(let name): "there is no \(noun) '\(name)'"
            case .expression(let expression): "no \(noun) has a name like \(expression.description)"
            }
        }
        guard let value, (try? position(in: pairs, from: 0)) == nil else { return nil }
        return "\(noun) \(pairs.name(at: named)): \(value.absence(in: pairs.value(at: named)))"
    }

    fileprivate func renamed(_ name: String, _ new: Replacement) throws(RegularExpression.MatchLimitError) -> String {
        guard case .expression(let expression) = self.name else { return new.plain }
        return try expression.replacing(in: name, with: new, onlyFirst: false) ?? name
    }
}

extension FieldSection: NamedValues {
    /// Fields that frame messages; they are never edited.
    static let framing: Set<FieldName> = [.contentLength, .transferEncoding, .connection, .upgrade]

    func position(of name: FieldName?, from start: Int) -> Int? {
        if let name { return FieldSection.framing.contains(name) ? nil : firstIndex(of: name, from: start) }
        return indices.dropFirst(start).first { position in
            !FieldSection.framing.contains(FieldName(self[position].name))
        }
    }

    func name(at position: Int) -> String { self[position].name }
    func valueBytes(at position: Int) -> [UInt8] { Array(self[position].valueBytes) }

    /// A request has one Cookie line (RFC 6265 §5.4), so a new cookie is added to the existing line.
    mutating func append(_ name: String, _ value: [UInt8]) {
        if FieldName(name) == .cookie, let position = firstIndex(of: .cookie) {
            let cookies = [valueBytes(at: position), value].filter { !$0.isEmpty }
            setValue(Array(cookies.joined(separator: "; ".utf8)), at: position)
        } else {
            append(name, bytes: value)
        }
    }

    static func fault(ofName name: String) -> String? {
        if !name.isToken { return "'\(name.clipped(to: 40))' cannot be the name of a header" }
        return framing.contains(FieldName(name)) ? "\(name) frames the message; only Sluice sets it" : nil
    }

    static func text(_ name: String, _ value: String) -> String { "\(name): \(value)" }
}
