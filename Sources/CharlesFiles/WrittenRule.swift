import ExchangeCore
import HTTPModel
import Rules

/// One rule of a profile as it is written, key by key.
struct WrittenRule {
    let tool: Tool
    /// From 1, over all files.
    let number: Int
    /// The directory of its file.
    let directory: String
    /// A mapping, or just `true`.
    let node: Node

    subscript(key: String) -> Node? { node[key] }

    func text(_ key: String) -> String? { node[key]?.string }

    /// A flag; the fallback where it is not there.
    func flag(_ key: String, default fallback: Bool = false) -> Bool { text(key).map { $0 == "true" } ?? fallback }

    /// One text or a list of them.
    func texts(_ key: String) -> [String] { node[key]?.members.compactMap(\.string) ?? [] }

    /// One location or a list of them.
    func locations(_ key: String) -> [LocationPattern] {
        (node[key]?.members ?? []).compactMap { node in
            guard node.mapping != nil else { return node.string.flatMap { try? LocationPattern($0) } }
            var pattern = LocationPattern()
            for field in LocationPattern.Field.allCases {
                if let value = node[field.rawValue]?.string { pattern[field] = value }
            }
            return pattern
        }
    }

    var isEnabled: Bool { flag("enabled", default: true) }

    /// Its name in the report: its tool, its number or name, and its locations.
    var words: String {
        let scope = ["at", "from", "only", "host"].first { node[$0] != nil }
        let places = scope.map { ": " + locations($0).map(\.description).joined(separator: ", ") }
        return "\(tool.key) \(text("name") ?? "\(number)")\(places ?? "")"
    }
}
