import ExchangeCore
import HTTPModel

/// A profile as it is written: the rules of each tool, key by key.
struct ProfileDocument {
    /// One rule; `nil` for its node where it is just `true`.
    struct Rule {
        let tool: Tool
        /// From 1, over all files.
        let number: Int
        /// The directory of its file.
        let directory: String
        let node: Node?

        subscript(key: String) -> Node? { node?.mapping?[key] }

        /// The text of a key; `nil` where it is not there.
        func text(_ key: String) -> String? { self[key].flatMap(ProfileDocument.text) }

        /// A flag; the fallback where it is not there.
        func flag(_ key: String, default fallback: Bool) -> Bool { text(key).map { $0 == "true" } ?? fallback }

        func number(_ key: String) -> Double? { text(key).flatMap(Double.init) }

        /// One text or a list of them.
        func texts(_ key: String) -> [String] { self[key].map(ProfileDocument.texts) ?? [] }

        /// One location or a list of them.
        func locations(_ key: String) -> [LocationPattern] {
            (self[key].map(ProfileDocument.members) ?? []).compactMap(ProfileDocument.location)
        }

        var isEnabled: Bool { flag("enabled", default: true) }

        /// What the report calls it: its tool, its number or name, and what it is for.
        var words: String {
            let scope = ["at", "from", "only", "host"].lazy.compactMap { key in
                self[key] == nil ? nil : locations(key).map(\.description).joined(separator: ", ")
            }.first
            return "\(tool.key) \(text("name") ?? "\(number)")" + (scope.map { ": \($0)" } ?? "")
        }
    }

    private(set) var rules: [Tool: [Rule]] = [:]
    /// What the top level has beside tools, with the number of its members.
    private(set) var others: [(key: String, count: Int)] = []
    /// The user's throttle presets by name in lower case.
    private(set) var presets: [String: Rule] = [:]

    /// Reads the files of a profile that is known to be good.
    ///
    /// - Throws: ``ProfileError`` where a text is no YAML.
    init(_ sources: [ProfileSource]) throws(ProfileError) {
        for source in sources {
            guard let mapping = try ProfileText.tree(source.text, file: source.file)?.mapping else { continue }
            let directory = ProfileText.directory(of: source.file)
            for member in mapping {
                let (name, value) = (member.key.scalar?.string ?? "", member.value)
                if let tool = ToolRegistry.standard[key: name] {
                    add(value, tool, directory)
                } else if name == "presets" {
                    for preset in value.mapping ?? [] {
                        let rule = Rule(
                            tool: .throttle,
                            number: presets.count + 1,
                            directory: directory,
                            node: preset.value
                        )
                        presets[preset.key.scalar?.string.lowercased() ?? ""] = rule
                    }
                } else if !["version", "name", "include", "off"].contains(name) {
                    others.append((name, ProfileDocument.members(value).count))
                }
            }
        }
    }

    private mutating func add(_ value: Node, _ tool: Tool, _ directory: String) {
        for node in ProfileDocument.members(value) {
            if node.scalar?.string == "false" { continue }
            let number = (rules[tool]?.count ?? 0) + 1
            let isFlag = node.mapping == nil
            rules[tool, default: []].append(
                Rule(tool: tool, number: number, directory: directory, node: isFlag ? nil : node)
            )
        }
    }

    // MARK: - Nodes

    static func members(_ node: Node) -> [Node] { node.members }

    static func texts(_ node: Node) -> [String] { members(node).compactMap(text) }

    /// The text of a scalar, nothing written as blank; `nil` where it is none.
    static func text(_ node: Node) -> String? {
        node.string
    }

    static func location(_ node: Node) -> LocationPattern? {
        guard let mapping = node.mapping else { return text(node).flatMap { try? LocationPattern($0) } }
        var pattern = LocationPattern()
        for field in LocationPattern.Field.allCases {
            if let value = mapping[field.rawValue].flatMap(text) { pattern[field] = value }
        }
        return pattern
    }
}
