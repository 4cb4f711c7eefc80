/// A mapping's values by key, and the keys that the grammar has for it.
struct ProfileFields {
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

    func grammar(_ key: String) -> GrammarKey? { keys.first { $0.name == key } }
}
