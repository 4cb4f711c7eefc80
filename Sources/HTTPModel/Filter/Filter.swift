package import NIOCore

/// A compiled filter expression: which exchanges are meant.
///
/// One language for every place that selects exchanges. Terms are `key:value`, with `,` between alternatives; a word
/// without a key searches the URL. Terms side by side must all hold; `and`, `or`, `not` (also `!` and `-`) and
/// parentheses combine them, `and` before `or`. Outside quotation marks `*` and `?` are wildcards and `\` takes the next
/// character as such. ``reference`` lists the keys.
package struct Filter: Sendable, Hashable {
    /// The longest expression that is taken, in characters.
    package static let maximumLength = 10_000
    /// How deep parentheses may be nested.
    package static let maximumDepth = 100

    let root: FilterNode

    /// The filter that every exchange passes.
    package static let everything = Filter(root: .everything)

    init(root: FilterNode) {
        self.root = root
    }

    /// Compiles an expression; an empty one lets everything pass. `since:` and `before:` are read against `clock`.
    package init(_ expression: String, clock: FilterClock = .current) throws(FilterError) {
        let scalars = expression.unicodeScalars
        if scalars.index(scalars.startIndex, offsetBy: Filter.maximumLength + 1, limitedBy: scalars.endIndex) != nil {
            throw FilterError(
                expression: String(scalars.prefix(Filter.maximumLength)),
                column: 1,
                message: "the expression is longer than \(Filter.maximumLength) characters"
            )
        }
        var parser = FilterParser(expression, clock: clock)
        root = try parser.parse().ordered
    }

    /// Whether every exchange passes.
    package var matchesEverything: Bool { root == .everything }

    /// Whether heads, trailers or addresses may have to be looked at.
    package var needsMessages: Bool { root.tests.contains { $0.needs == .messages } }

    /// Whether bodies may have to be looked at.
    package var needsBodies: Bool { root.tests.contains { $0.needs == .bodies } }

    /// Whether an exchange passes, with heads and bodies fetched as they are needed.
    ///
    /// What the record itself answers is tried first; the closures are called only where it does not decide.
    ///
    /// - Parameters:
    ///   - record: the exchange's row.
    ///   - details: fetches heads and connections, at most once; `nil` where there are none, which no term then matches.
    ///   - body: fetches a body, its content codings removed; `nil` where there is none.
    /// - Returns: whether it passes.
    package func matches(
        _ record: ExchangeRecord,
        details: () throws -> RecordedExchange?,
        body: (BodySide) throws -> ByteBuffer?
    ) rethrows -> Bool {
        var fetched: RecordedExchange??
        return try root.matches(record, &fetched, details: details, body: body)
    }

    /// Whether an exchange that was read whole passes.
    package func matches(_ exchange: RecordedExchange, body: (BodySide) throws -> ByteBuffer?) rethrows -> Bool {
        try matches(exchange.record, details: { exchange }, body: body)
    }

    /// Whether an exchange passes, as far as its record alone can tell; `nil` where it cannot.
    package func decides(_ record: ExchangeRecord) -> Bool? {
        root.decides(record)
    }

    /// Whether an exchange passes, as far as its row alone can tell; `nil` where it cannot.
    ///
    /// Just ``columns`` are asked for.
    package func decides(_ row: some FilterSubject) -> Bool? {
        root.decides(row)
    }

    /// The columns of a row that ``decides(_:)`` looks at.
    package var columns: Set<FilterColumn> { Set(root.tests.flatMap(\.columns)) }
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

    /// The filter that exchanges with any of these hosts pass.
    package static func hosts(_ hosts: some Sequence<String>) -> Filter {
        let tests = hosts.sorted().map { FilterTest.text(.host, Glob(literal: $0, ignoringCase: true)) }
        return Filter(root: .term(FilterTerm(key: "host", tests: tests)))
    }

    /// The filter that exchanges with this method, host and path pass.
    package static func endpoint(method: String, host: String, path: String) -> Filter {
        let method = FilterTest.text(.method, Glob(literal: method, ignoringCase: true))
        let path = FilterTest.text(.path, Glob(literal: path))
        return hosts([host])
            .and(Filter(root: .term(FilterTerm(key: "method", tests: [method]))))
            .and(Filter(root: .term(FilterTerm(key: "path", tests: [path]))))
    }
}

extension Filter: CustomStringConvertible {
    /// The expression in a canonical form, which compiles to an equal filter; empty where everything passes.
    package var description: String { root.description }
}
