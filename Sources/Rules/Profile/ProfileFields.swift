/// A mapping's values by key, and the keys that the grammar has for it.
package struct ProfileFields {
    package let node: Node
    /// The keys that may stand in it.
    package let keys: [GrammarKey]
    package var values: [String: Node] = [:]

    package init(node: Node, keys: [GrammarKey]) {
        self.node = node
        self.keys = keys
    }

    /// The value of a key; `nil` where it is not there.
    package subscript(key: String) -> Node? { values[key] }

    func grammar(_ key: String) -> GrammarKey? { keys.first { $0.name == key } }
}
