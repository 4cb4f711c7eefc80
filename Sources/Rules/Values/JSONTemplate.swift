/// A value of a profile as JSON, with the types of YAML 1.2, whose texts may have values in them.
package struct JSONTemplate: Sendable {
    private let text: ValueTemplate

    package init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        guard let text = ValueTemplate(node, what, &reader) else { return nil }
        self.text = text
    }

    /// As JSON, on one line.
    package func filled(_ context: ValueContext) throws(ValueError) -> FilledText { try text.filled(context) }
}
