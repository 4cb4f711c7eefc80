import ExchangeCore

/// A text of a rule with values in it: `${NAME}`.
package struct ValueTemplate: Sendable {
    /// The whole text; `nil` if it has values.
    package let constant: String?

    /// Reads the text of a scalar; `what` is for errors.
    package init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, what) else { return nil }
        constant = text
    }

    package func filled(_ context: ValueContext) throws(ValueError) -> FilledText {
        let text = constant ?? ""
        return FilledText(text: text, shown: text)
    }
}

/// A text of a rule after its values were put in.
package struct FilledText: Sendable {
    package let text: String
    /// For traces and messages: secret values stand as `${NAME}`.
    package let shown: String
}

/// Why a rule's text cannot be made: a sentence without a full stop.
package struct ValueError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
