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

    var terms: [FilterTerm] {
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
    func decides(_ record: ExchangeRecord) -> Bool? {
        switch self {
        case .everything: true
        case .term(let term): FilterNode.search(term.tests, for: true) { $0.decides(record) }
        case .not(let operand): operand.decides(record).map { !$0 }
        case .and(let operands): FilterNode.search(operands, for: false) { $0.decides(record) }
        case .or(let operands): FilterNode.search(operands, for: true) { $0.decides(record) }
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
