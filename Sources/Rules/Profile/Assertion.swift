package import HTTPModel
package import NIOCore

/// A condition on the traffic of a run, checked at its end.
package struct Assertion: Sendable {
    /// The name in the profile; by default the filter.
    package let name: String
    package let place: ProfilePlace
    package let filter: Filter
    package let count: CountTest
    package let status: StatusTest?
    package let limit: TimeAmount?
}

/// A condition on a number: `3`, `>=1`, `<10`.
package struct CountTest: Sendable, Hashable, CustomStringConvertible {
    private enum Relation: String, Sendable, CaseIterable {
        // Longer signs first, because the first sign that fits is used.
        case atLeast = ">="
        case atMost = "<="
        case more = ">"
        case fewer = "<"
        case equal = ""
    }

    private let relation: Relation
    private let number: Int

    package static let some = CountTest(relation: .atLeast, number: 1)

    private init(relation: Relation, number: Int) { (self.relation, self.number) = (relation, number) }

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

    var isImpossible: Bool { relation == .fewer && number == 0 }

    package var description: String { relation.rawValue + String(number) }
}

extension Assertion {
    static let keys: [GrammarKey] = [
        GrammarKey("name", .text, example: "one login", fallback: "its filter").means("The assertion's name."),
        GrammarKey("filter", .text, example: "path:/login res.json.error.code:42")
            .means("The exchanges to check: a filter, as in 'sluice list', also with places."),
        GrammarKey("count", .text, example: "\">=1\"", fallback: ">=1")
            .means("The required number of exchanges, optionally with >=, <=, > or <."),
        GrammarKey("status", .text, example: "2xx", fallback: "any").means("The required status of each."),
        GrammarKey("within", .duration, example: "500ms", fallback: "any time")
            .means("The longest duration of each, from the first byte to the last."),
    ]

    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "an assertion", keys: Assertion.keys) else { return nil }
        let filter = reader.required(fields, "filter", "an assertion").flatMap { Assertion.filter($0, &reader) }
        let written = reader.text(fields, "name") ?? ""
        let status = fields["status"].flatMap { Expectation.status($0, "status", &reader) }
        let limit = fields["within"].flatMap { reader.duration($0, "within") }
        let count = if let node = fields["count"] { Assertion.count(node, &reader) } else { CountTest?.some(.some) }
        // Returned only now, so that all errors in the assertion are found.
        guard let filter, let count else { return nil }
        name = [written, filter.text].first { !$0.isEmpty } ?? "all exchanges"
        place = reader.place(node)
        self.filter = filter.filter
        (self.status, self.limit, self.count) = (status, limit, count)
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
        let form = "a number, or one with >=, <=, > or < before it"
        let test = reader.parsed(node, "count", as: form) { CountTest($0) }
        if let test, test.isImpossible { reader.error("count: no count is \(test)", at: node) }
        return test
    }
}
