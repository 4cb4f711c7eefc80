/// A compiled filter expression, the one language for choosing exchanges. Terms are `key:value`, with `,` between
/// alternatives; a word without a key searches the URL. Terms side by side must all hold; `and`, `or`, `not` (also `!`
/// and `-`) and parentheses combine them, `and` before `or`. Outside quotation marks `*` and `?` are wildcards and `\`
/// takes the next character literally. ``reference`` lists the keys.
package struct Filter: Sendable, Hashable {
    /// In characters.
    package static let maximumLength = 10_000
    package static let maximumDepth = 100

    package let root: FilterNode

    package static let everything = Filter(root: .everything)

    init(root: FilterNode) { self.root = root }

    /// An empty expression matches everything. `since:` and `before:` are relative to `clock`.
    package init(_ expression: String, clock: FilterClock = .current) throws(FilterError) {
        let scalars = expression.unicodeScalars
        if scalars.index(scalars.startIndex, offsetBy: Filter.maximumLength + 1, limitedBy: scalars.endIndex) != nil {
            let text = String(scalars.prefix(Filter.maximumLength))
            let message = "the expression is longer than \(Filter.maximumLength) characters"
            throw FilterError(expression: text, column: 1, message: message)
        }
        var parser = FilterParser(expression, clock: clock)
        root = try parser.parse().ordered
    }

    package var matchesEverything: Bool { root == .everything }

    package var needs: FilterTest.Needs { root.tests.map(\.needs).max { $0.rawValue < $1.rawValue } ?? .record }

    /// Whether the filter tests the client's process, which may become known only after an exchange has ended.
    package var asksForProcess: Bool {
        root.tests.contains { test in
            switch test {
            case .matches(.text(.process), _), .number(.process, _): true
            default: false
            }
        }
    }

    package var asksForRecording: Bool { root.tests.contains { if case .recording = $0 { true } else { false } } }

    /// The filter for exchanges of one recording, without tests of it.
    package func of(recording identifier: String, _ labels: [String: String]) -> Filter {
        Filter(root: root.replacing { $0.holds(for: identifier, labels) })
    }

    /// `nil` if the record alone does not decide.
    package func decides(_ record: ExchangeRecord) -> Bool? { root.decides(record) }
}

extension Filter {
    package var conjuncts: [Filter] {
        if case .and(let operands) = root { operands.map { Filter(root: $0) } } else { [self] }
    }

    package func and(_ other: Filter) -> Filter {
        if matchesEverything { return other }
        if other.matchesEverything { return self }
        return Filter(root: FilterNode.all([root, other.root]).ordered)
    }

    package var negated: Filter { Filter(root: root.negated) }

    package static func any(of filters: [Filter]) -> Filter {
        guard !filters.isEmpty else { return everything.negated }
        guard !filters.contains(where: \.matchesEverything) else { return everything }
        return Filter(root: FilterNode.any(filters.map(\.root)).ordered)
    }

    /// The name and the value of `k=v`; `nil` without a name or a `=`.
    package static func label(_ text: String) -> (name: String, value: String)? {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Reads a size in bytes: `512kb`, `1.5gb`, `64mib`.
    package static func bytes(of text: String) -> Int64? { Quantity.size.read(text) }

    /// Reads a duration with its unit: `90s`, `1h`, `7d`.
    package static func microseconds(of text: String) -> Int64? { Quantity.time.read(text, requiresUnit: true) }

    package static func hosts(_ hosts: some Sequence<String>) -> Filter {
        let tests = hosts.sorted().map { FilterTest.text(.host, Glob(literal: $0, ignoringCase: true)) }
        return Filter(root: .term(FilterTerm(key: "host", tests: tests)))
    }

    /// Ignores case.
    package static func body(containing text: String) -> Filter {
        let test = FilterTest.matches(.body(.either), .glob(Glob(containing: text, ignoringCase: true)))
        return Filter(root: .term(FilterTerm(key: "body", tests: [test])))
    }

    package static func endpoint(method: String, host: String, path: String) -> Filter {
        let method = FilterTest.text(.method, Glob(literal: method, ignoringCase: true))
        let path = FilterTest.text(.path, Glob(literal: path))
        let methods = Filter(root: .term(FilterTerm(key: "method", tests: [method])))
        return hosts([host]).and(methods).and(Filter(root: .term(FilterTerm(key: "path", tests: [path]))))
    }
}

extension Filter: CustomStringConvertible {
    /// A canonical expression that compiles to an equal filter.
    package var description: String { root.description }
}
