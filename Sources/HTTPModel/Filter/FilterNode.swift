package struct FilterTerm: Sendable, Hashable {
    /// Empty for a word that searches the URL.
    package var key: String
    package var tests: [FilterTest]
}

package enum FilterNode: Sendable, Hashable {
    case everything
    case term(FilterTerm)
    indirect case not(FilterNode)
    case and([FilterNode])
    case or([FilterNode])
}

extension FilterNode {
    static func all(_ operands: [FilterNode]) -> FilterNode {
        let flat = operands.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    static func any(_ operands: [FilterNode]) -> FilterNode {
        let flat = operands.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .or(flat)
    }

    var negated: FilterNode {
        if case .not(let inner) = self { inner } else { .not(self) }
    }

    /// Cheap operands first; operands of equal cost keep their order.
    var ordered: FilterNode {
        switch self {
        case .everything, .term: self
        case .not(let operand): .not(operand.ordered)
        case .and(let operands): .and(FilterNode.ordered(operands))
        case .or(let operands): .or(FilterNode.ordered(operands))
        }
    }

    private static func ordered(_ operands: [FilterNode]) -> [FilterNode] {
        let costs = operands.enumerated().map { (cost: $1.cost, offset: $0, operand: $1.ordered) }
        return costs.sorted { ($0.cost, $0.offset) < ($1.cost, $1.offset) }.map(\.operand)
    }

    private var cost: Int { tests.map(\.cost).max() ?? 0 }

    package var tests: [FilterTest] { terms.flatMap(\.tests) }

    /// Replaces tests of the recording by what they are.
    func replacing(_ holds: (FilterTest.Recording) -> Bool) -> FilterNode {
        switch self {
        case .everything: return self
        case .not(let operand): return .not(operand.replacing(holds))
        case .and(let operands): return .and(operands.map { $0.replacing(holds) })
        case .or(let operands): return .or(operands.map { $0.replacing(holds) })
        case .term(let term):
            guard case .recording? = term.tests.first else { return self }
            let isTrue = term.tests.contains { if case .recording(let test) = $0 { holds(test) } else { false } }
            return isTrue ? .everything : .not(.everything)
        }
    }

    /// A range that contains the numbers of all exchanges that can match; `all` if nothing limits them.
    package func range(of field: FilterTest.NumberField, in all: ClosedRange<Int64>) -> ClosedRange<Int64> {
        func hull(_ ranges: [ClosedRange<Int64>]) -> ClosedRange<Int64> {
            let (least, most) = (ranges.map(\.lowerBound).min(), ranges.map(\.upperBound).max())
            return (least ?? all.lowerBound)...(most ?? all.upperBound)
        }
        switch self {
        case .everything, .not: return all
        case .term(let term):
            return hull(
                term.tests.map { if case .number(field, let range) = $0 { range.clamped(to: all) } else { all } }
            )
        case .or(let operands): return hull(operands.map { $0.range(of: field, in: all) })
        case .and(let operands):
            // If two ranges exclude each other, either will do, because the condition itself then matches nothing.
            return operands.map { $0.range(of: field, in: all) }.reduce(all) {
                $0.overlaps($1) ? $0.clamped(to: $1) : $0
            }
        }
    }

    package var terms: [FilterTerm] {
        switch self {
        case .everything: []
        case .term(let term): [term]
        case .not(let operand): operand.terms
        case .and(let operands), .or(let operands): operands.flatMap(\.terms)
        }
    }
}

extension FilterNode {
    /// Kleene's three-valued logic; `nil` is unknown.
    func decides(_ record: ExchangeRecord) -> Bool? { decides { $0.decides(record) } }

    /// Kleene's three-valued logic; `nil` is unknown.
    package func decides(_ holds: (FilterTest) -> Bool?) -> Bool? {
        switch self {
        case .everything: true
        case .term(let term): FilterNode.search(term.tests, for: true, holds)
        case .not(let operand): operand.decides(holds).map { !$0 }
        case .and(let operands): FilterNode.search(operands, for: false) { $0.decides(holds) }
        case .or(let operands): FilterNode.search(operands, for: true) { $0.decides(holds) }
        }
    }

    private static func search<Operand>(
        _ operands: [Operand],
        for decisive: Bool,
        _ decides: (Operand) -> Bool?
    ) -> Bool? {
        var result: Bool? = !decisive
        for operand in operands {
            switch decides(operand) {
            case decisive: return decisive
            case nil: result = nil
            default: break
            }
        }
        return result
    }
}
