/// A compiled filter expression: which exchanges are meant.
///
/// One language for every place that selects exchanges. Terms are `key:value`, with `,` between alternatives; a word
/// without a key searches the URL. Terms side by side must all hold; `and`, `or`, `not` (also `!` and `-`) and
/// parentheses combine them, `and` before `or`. Outside quotation marks `*` and `?` are wildcards and `\` takes the next
/// character as such. ``reference`` lists the keys.
package struct Filter: Sendable, Hashable {
    /// In characters.
    package static let maximumLength = 10_000
    package static let maximumDepth = 100

    package let root: FilterNode

    package static let everything = Filter(root: .everything)

    init(root: FilterNode) { self.root = root }

    /// Compiles an expression; an empty one lets everything pass. `since:` and `before:` are read against `clock`.
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

    /// The data that is needed to decide about any exchange.
    package var needs: FilterTest.Needs { root.tests.map(\.needs).max { $0.rawValue < $1.rawValue } ?? .record }

    /// Whether it asks for the client's process, which may become known after an exchange has ended.
    package var asksForProcess: Bool {
        root.tests.contains { test in
            switch test {
            case .text(.process, _), .number(.process, _), .expression(.text(.process), _): true
            default: false
            }
        }
    }

    /// Whether an exchange passes, as far as its record alone can tell; `nil` if it cannot.
    package func decides(_ record: ExchangeRecord) -> Bool? { root.decides(record) }
}

// MARK: - Putting together

extension Filter {
    /// The terms that must all hold, as filters of their own; the filter itself where it is but one term.
    package var conjuncts: [Filter] {
        if case .and(let operands) = root { operands.map { Filter(root: $0) } } else { [self] }
    }

    /// The filter that an exchange passes if it passes this one and the other.
    package func and(_ other: Filter) -> Filter {
        if matchesEverything { return other }
        if other.matchesEverything { return self }
        return Filter(root: FilterNode.all([root, other.root]).ordered)
    }

    /// Matches exactly the other exchanges.
    package var negated: Filter { Filter(root: root.negated) }

    /// The filter that an exchange passes if it passes one of these; with none of them nothing passes.
    package static func any(of filters: [Filter]) -> Filter {
        guard !filters.isEmpty else { return everything.negated }
        guard !filters.contains(where: \.matchesEverything) else { return everything }
        return Filter(root: FilterNode.any(filters.map(\.root)).ordered)
    }

    /// Reads a size as `size:` takes it, in bytes: `512kb`, `1.5gb`, `64mib`; `nil` if the text is none.
    package static func bytes(of text: String) -> Int64? { Quantity.size.read(text) }

    /// The microseconds of a duration with its unit, such as `90s`, `1h` or `7d`; `nil` for anything else.
    package static func microseconds(of text: String) -> Int64? { Quantity.time.read(text, requiresUnit: true) }

    /// Matches exchanges with any of these hosts.
    package static func hosts(_ hosts: some Sequence<String>) -> Filter {
        let tests = hosts.sorted().map { FilterTest.text(.host, Glob(literal: $0, ignoringCase: true)) }
        return Filter(root: .term(FilterTerm(key: "host", tests: tests)))
    }

    /// The filter that exchanges pass of which a body has the text, in whatever case.
    package static func body(containing text: String) -> Filter {
        let test = FilterTest.body(.either, Glob(containing: text, ignoringCase: true))
        return Filter(root: .term(FilterTerm(key: "body", tests: [test])))
    }

    /// Matches exchanges with this method, host and path.
    package static func endpoint(method: String, host: String, path: String) -> Filter {
        let method = FilterTest.text(.method, Glob(literal: method, ignoringCase: true))
        let path = FilterTest.text(.path, Glob(literal: path))
        let methods = Filter(root: .term(FilterTerm(key: "method", tests: [method])))
        return hosts([host]).and(methods).and(Filter(root: .term(FilterTerm(key: "path", tests: [path]))))
    }
}

extension Filter: CustomStringConvertible {
    /// The expression in a canonical form, which compiles to an equal filter; empty where everything passes.
    package var description: String { root.description }
}
