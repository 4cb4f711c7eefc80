package import Foundation
import Text

/// A JSON value (RFC 8259) of a message to or from a client.
package enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    package subscript(key: String) -> JSON? { if case .object(let members) = self { members[key] } else { nil } }

    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// Also of a number such as `1.0`.
    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    package var array: [JSON]? { if case .array(let values) = self { values } else { nil } }

    /// Without members that are `nil`.
    static func members(_ members: [String: JSON?]) -> JSON { .object(members.compactMapValues(\.self)) }

    /// On one line; control and invisible characters are escaped.
    package var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "null" }
        return VisibleText.json(String(decoding: data, as: UTF8.self))
    }

    /// `nil` if the text is not JSON, or is nested more than 512 deep.
    package init?(_ text: Data) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: text) else { return nil }
        self = value
    }
}

extension JSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral values: JSON...) { self = .array(values) }
    package init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(Dictionary(members) { first, _ in first })
    }
}
