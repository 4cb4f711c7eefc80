package import HTTPModel
package import NIOCore

/// What must hold of the traffic of a run, checked once it is over.
package struct Assertion: Sendable {
    /// What it is called: the name it was given, else its filter.
    package let name: String
    package let place: ProfilePlace
    /// Which exchanges it is about.
    package let filter: Filter
    /// The filter as it is written.
    package let filterText: String
    /// How many there must be.
    package let count: CountTest
    package let status: StatusTest?
    /// The longest that each may take.
    package let limit: TimeAmount?
}

/// What is expected of a number: `3`, `>=1`, `<10`.
package struct CountTest: Sendable, Hashable, CustomStringConvertible {
    private enum Relation: String, Sendable, CaseIterable {
        // Longer ones first, so that the first that fits is the one meant.
        case atLeast = ">="
        case atMost = "<="
        case more = ">"
        case fewer = "<"
        case equal = ""
    }

    private let relation: Relation
    private let number: Int

    package static let some = CountTest(relation: .atLeast, number: 1)

    private init(relation: Relation, number: Int) {
        self.relation = relation
        self.number = number
    }

    /// Reads `3`, `>=1`, `<= 5`, `>0` or `<10`; `nil` for anything else.
    package init?(_ text: String) {
        guard let relation = Relation.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return nil }
        let digits = text.dropFirst(relation.rawValue.count).drop { $0 == " " }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(digits) else { return nil }
        self.init(relation: relation, number: number)
    }

    package func passes(_ count: Int) -> Bool {
        switch relation {
        case .atLeast: count >= number
        case .atMost: count <= number
        case .more: count > number
        case .fewer: count < number
        case .equal: count == number
        }
    }

    package var description: String { relation.rawValue + String(number) }
}

extension Assertion {
    /// What stands under `assert`.
    package static let keys: [GrammarKey] = [
        GrammarKey("name", .text, "What the assertion is called.", example: "name: one login", fallback: "its filter"),
        GrammarKey(
            "filter",
            .text,
            "Which exchanges it is about, in the language of 'sluice list'.",
            example: "filter: host:api.example.com path:/login"
        ),
        GrammarKey(
            "count",
            .text,
            "How many there must be: a number, or one with >=, <=, > or < before it.",
            example: "count: \">=1\"",
            fallback: ">=1"
        ),
        GrammarKey("status", .text, "The status that each must have.", example: "status: 2xx", fallback: "any"),
        GrammarKey(
            "within",
            .duration,
            "The longest that each may take, from its first byte to its last.",
            example: "within: 500ms",
            fallback: "any time"
        ),
    ]

    /// Reads one entry; `nil` where it cannot be used.
    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "an assertion", keys: Assertion.keys) else { return nil }
        let filter = reader.required(fields, "filter", "an assertion").flatMap { Assertion.filter($0, &reader) }
        let written = fields["name"].flatMap { reader.text($0, "name") } ?? ""
        let status = fields["status"].flatMap { Expectation.status($0, "status", &reader) }
        let limit = fields["within"].flatMap { reader.duration($0, "within") }
        let count = if let node = fields["count"] { Assertion.count(node, &reader) } else { CountTest?.some(.some) }
        // By now all that is wrong with it was found.
        guard let filter, let count else { return nil }
        name = written.isEmpty ? filter.text : written
        place = reader.place(node)
        (self.filter, filterText) = (filter.filter, filter.text)
        self.status = status
        self.limit = limit
        self.count = count
    }

    private static func filter(_ node: Node, _ reader: inout ProfileReader) -> (filter: Filter, text: String)? {
        guard let text = reader.text(node, "filter") else { return nil }
        do {
            return (try Filter(text), text)
        } catch {
            let message = error.message + (error.suggestion.map { ", \($0)" } ?? "")
            reader.error(message, at: node, offset: error.column - 1 + node.quoteWidth)
            return nil
        }
    }

    private static func count(_ node: Node, _ reader: inout ProfileReader) -> CountTest? {
        guard let text = reader.text(node, "count") else { return nil }
        if let test = CountTest(text) { return test }
        reader.error(
            "count must be a number, or one with >=, <=, > or < before it, not '\(text.prefix(40))'",
            at: node
        )
        return nil
    }
}
