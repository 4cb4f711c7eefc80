import ExchangeCore
import HTTPModel

/// One edit of header fields: add, modify or remove.
struct HeaderRule: Sendable {
    /// What is done.
    enum Action: Sendable {
        /// A field is added after the others, whether or not there is one of its name.
        case add(name: String, value: String)
        /// Each matching field gets another name or value; `nil` keeps that part.
        case modify(name: String?, value: Replacement?)
        /// Each matching field is removed.
        case remove
    }

    /// Which message it edits.
    let directions: Set<FlowDirection>
    /// The name that a field must have; `nil` for any.
    let name: FieldName?
    /// What its value must match; `nil` for any.
    let match: TextPattern?
    let onlyFirst: Bool
    let action: Action

    /// Fields by which messages are framed: those are never edited, whatever a rule matches.
    static let framing: Set<FieldName> = [.contentLength, .transferEncoding, .connection, .upgrade]

    /// Edits the fields; returns what was done in words, or `nil` where nothing was.
    func apply(to fields: inout FieldSection) throws(RegularExpression.Runaway) -> String? {
        switch action {
        case .add(let name, let value):
            fields.append(name, value)
            return "added \(name): \(value)"
        case .modify(let newName, let replacement):
            var changes: [String] = []
            for position in try positions(in: fields) {
                let before = fields[position]
                var after = before.value
                if let replacement { after = try replaced(before.value, replacement) }
                guard after != before.value || newName.map({ $0 != before.name }) == true else { continue }
                changes.append("changed \(before.name): \(before.value) to \(newName ?? before.name): \(after)")
                if let newName { fields.setName(newName, at: position) }
                if after != before.value { fields.setValue(after, at: position) }
            }
            return changes.isEmpty ? nil : changes.joined(separator: "; ")
        case .remove:
            var removed: [String] = []
            for position in try positions(in: fields).reversed() {
                removed.append("\(fields[position].name): \(fields[position].value)")
                fields.remove(at: position)
            }
            return removed.isEmpty ? nil : "removed \(removed.reversed().joined(separator: "; "))"
        }
    }

    private func positions(in fields: FieldSection) throws(RegularExpression.Runaway) -> [Int] {
        var positions: [Int] = []
        for position in fields.indices {
            let field = fields[position]
            let fieldName = FieldName(field.name)
            guard name == nil || name == fieldName, !HeaderRule.framing.contains(fieldName) else { continue }
            if let match, try !match.matches(field.value) { continue }
            positions.append(position)
        }
        return positions
    }

    private func replaced(_ value: String, _ replacement: Replacement) throws(RegularExpression.Runaway) -> String {
        guard let match else {
            // No pattern: the whole value gives way.
            var bytes: [UInt8] = []
            replacement.append(to: &bytes, groups: [], of: [])
            return String(decoding: bytes, as: UTF8.self)
        }
        return try match.replacing(in: value, with: replacement, onlyFirst: onlyFirst) ?? value
    }
}
