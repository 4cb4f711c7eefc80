import Yams

/// A mapping's values by key, and the keys that the grammar has for it.
struct ProfileFields {
    /// The mapping.
    let node: Node
    /// The keys that may stand in it.
    let keys: [GrammarKey]
    var values: [String: Node] = [:]
    var name: String?

    init(node: Node, keys: [GrammarKey]) {
        self.node = node
        self.keys = keys
    }

    /// The value of a key; `nil` where it is not there.
    subscript(key: String) -> Node? { values[key] }

    /// What the grammar says about a key.
    func grammar(_ key: String) -> GrammarKey? { keys.first { $0.name == key } }
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

    /// How many characters of the file come before the text's own: the quote.
    var quoteWidth: Int {
        scalar?.style == .singleQuoted || scalar?.style == .doubleQuoted ? 1 : 0
    }

    /// What the node says as one text, the same for the same content; without one key of a mapping at its top.
    ///
    /// No rule is nested as deep as `depth` levels.
    func text(without key: String? = nil, depth: Int = 16) -> String {
        guard depth > 0 else { return "" }
        switch self {
        case .scalar(let scalar): return "\"\(scalar.string)\""
        case .sequence(let list): return "[\(list.map { $0.text(depth: depth - 1) }.joined(separator: ","))]"
        case .alias: return ""
        case .mapping(let mapping):
            let pairs = mapping.filter { key == nil || $0.key.scalar?.string != key }
                .map { "\($0.key.text(depth: depth - 1)):\($0.value.text(depth: depth - 1))" }
            return "{\(pairs.sorted().joined(separator: ","))}"
        }
    }
}
