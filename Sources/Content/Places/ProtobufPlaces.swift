package import HTTPModel

extension ProtobufContent {
    /// The values at the end of the steps, by the fields' JSON names; empty if the message's type is unknown.
    package func values(at steps: [Place.Step]) -> [PlaceValue] {
        guard isTyped else { return [] }
        var nodes = [root]
        for step in steps {
            nodes = nodes.flatMap { node -> [ProtobufNode] in
                switch (node.value, step) {
                case (.message(let fields), .member(let name)): fields.filter { $0.label == .name(name) }
                case (.message(let children), .any), (.list(let children), .any): children
                case (.list(let elements), .element(let number)):
                    elements.index(counted: number).map { [elements[$0]] } ?? []
                default: []
                }
            }
        }
        return nodes.map { node in
            guard case .scalar(let text) = node.value else {
                let lines = ProtobufContent(root: node, isTyped: true, isCut: false).lines
                return PlaceValue(lines.joined(separator: "\n"), .jsonContainer)
            }
            return text.first == "\""
                ? PlaceValue(JSONTree.unescaped(Array(text.utf8)[...]), .jsonString) : PlaceValue(text, .jsonScalar)
        }
    }
}
