import Content
import Foundation
import HTTPModel

/// The types of values at a place, and the places below; no value is kept. `[*]` is any element of an array or a map.
final class SeenValues {
    enum Kind: CaseIterable { case object, array, string, number, integer, boolean, null }

    private(set) var kinds: Set<Kind> = []
    /// Whether the message has the values as text, whatever their type: parameters and form fields.
    private var isText = true
    private var hasLongIntegers = false
    private var formats: Set<TextFormat?> = []
    private var steps: [Place.Step] = []
    private var below: [Place.Step: SeenValues] = [:]
    private var objects = 0
    /// How often the place had a value, how many objects above had the place, and the number of the last such object.
    private var (count, holders, lastHolder) = (0, 0, 0)

    /// Adds the named values of one message; the text of a file is `nil`.
    func add(_ fields: [(name: String, text: String?)]) {
        add(.object, "")
        for field in fields where below[.member(field.name)] != nil || steps.count < 256 {
            let values = values(at: .member(field.name))
            // The content of a file has no type (OpenAPI 3.1.1 §4.8.14.3).
            if let text = field.text { values.add(TextFormat.kind(of: text), text) }
        }
    }

    /// Adds a JSON value and the values in it, each at its place. `JSONTree` limits the depth of the recursion.
    func add(_ node: Int, of tree: JSONTree) {
        isText = false
        let (kind, children) = (tree.nodes[node].kind, tree.nodes[node].children)
        let text = children.isEmpty ? tree.string(of: node) ?? tree.text(of: node) : ""
        switch kind {
        case .objectBegin: add(.object, text)
        case .arrayBegin: add(.array, text)
        case .literal: add(text == "null" ? .null : .boolean, text)
        case .number: add(text.utf8.contains { $0 == 0x2E || $0 | 0x20 == 0x65 } ? .number : .integer, text)
        default: add(.string, text)
        }
        for child in children {
            values(at: tree.name(of: child).map { step(to: $0) } ?? .any).add(child, of: tree)
        }
    }

    /// The step to a member; a name like an identifier or a text is the key of a map.
    private func step(to name: String) -> Place.Step {
        if below[.member(name)] != nil { return .member(name) }
        let isKey = name.utf8.count > 128 || PathShape.isIdentifier(name) || name.contains { $0.isNewline }
        return isKey || below[.any] != nil || steps.count >= 256 ? .any : .member(name)
    }

    private func values(at step: Place.Step) -> SeenValues {
        let values = below[step] ?? SeenValues()
        if below.updateValue(values, forKey: step) == nil { steps.append(step) }
        if values.lastHolder != objects { values.holders += 1 }
        (values.count, values.lastHolder) = (values.count + 1, objects)
        return values
    }

    private func add(_ kind: Kind, _ text: String) {
        kinds.insert(kind)
        if kind == .object { objects += 1 }
        if kind == .integer, Int32(text) == nil { hasLongIntegers = true }
        if kind == .string || isText, formats.count < 2 { formats.insert(TextFormat(text)) }
    }

    var members: [(name: String, isRequired: Bool, values: SeenValues)] {
        steps.compactMap { step in
            guard case .member(let name) = step, let values = below[step] else { return nil }
            return (name, values.holders == objects, values)
        }
    }

    /// A schema that fits all values that were seen (JSON Schema 2020-12, which OpenAPI 3.1 uses).
    var schema: OpenAPIValue {
        var kinds = Kind.allCases.filter { self.kinds.contains($0) }
        if kinds.contains(.number) { kinds.removeAll { $0 == .integer } }
        if isText, kinds.count > 1 { kinds = [.string] }
        let types = kinds.map { OpenAPIValue.text("\($0)") }
        let isNumber = kinds.contains(.integer) || kinds.contains(.number)
        let integers = isText || !kinds.contains(.integer) ? nil : hasLongIntegers ? "int64" : "int32"
        let texts = isNumber || formats.count > 1 ? nil : formats.first??.rawValue
        let required = members.filter(\.isRequired).map { OpenAPIValue.text($0.name) }
        let one: OpenAPIValue = [
            "type": types.count < 2 ? types.first : .list(types),
            "format": (kinds.contains(.string) ? texts : integers).map { .text($0) },
            "properties": members.isEmpty ? nil : .object(members.map { ($0.name, $0.values.schema) }),
            "required": required.isEmpty ? nil : .list(required),
            "additionalProperties": kinds.contains(.object) ? below[.any]?.schema : nil,
            "items": kinds.contains(.array) ? below[.any]?.schema ?? [:] : nil,
        ]
        return isText && count > holders ? ["type": "array", "items": one] : one
    }
}

/// A format of texts that JSON Schema and OpenAPI name.
enum TextFormat: String {
    case uuid
    case dateTime = "date-time"
    case date, email, uri

    init?(_ text: String) {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        // RFC 3339 §5.6
        let date = /\d{4}-\d\d-\d\d([Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))?/
        if text.utf8.count == 36, UUID(uuidString: text) != nil {
            self = .uuid
        } else if text.utf8.dropFirst(4).first == UInt8(ascii: "-"), let match = text.wholeMatch(of: date) {
            self = match.output.1 == nil ? .date : .dateTime
        } else if text.hasPrefix("https://") || text.hasPrefix("http://") {
            self = .uri
        } else if text.contains("@"), text.wholeMatch(of: /[^@\/]+@[^@\/]+\.[^@\/]+/) != nil {
            self = .email
        } else {
            return nil
        }
    }

    /// The type that a text can be read as. A number with a leading zero or more than 18 digits is a string.
    static func kind(of text: String) -> SeenValues.Kind {
        if text == "true" || text == "false" { return .boolean }
        let match = text.utf8.count <= 64 ? text.wholeMatch(of: /-?(?:0|[1-9][0-9]{0,17})(\.[0-9]+)?/) : nil
        return match.map { $0.output.1 == nil ? .integer : .number } ?? .string
    }
}
