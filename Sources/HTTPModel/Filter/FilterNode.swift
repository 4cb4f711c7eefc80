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

    /// Cheap operands first; the order of equal ones stays.
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

    package var tests: [FilterTest] {
        switch self {
        case .everything: []
        case .term(let term): term.tests
        case .not(let operand): operand.tests
        case .and(let operands), .or(let operands): operands.flatMap(\.tests)
        }
    }
}

extension FilterNode {
    /// Kleene's three-valued logic; `nil` is unknown.
    func decides(_ record: ExchangeRecord) -> Bool? {
        switch self {
        case .everything: return true
        case .term(let term):
            var result: Bool? = false
            for test in term.tests {
                switch test.decides(record) {
                case true: return true
                case nil: result = nil
                case false: break
                }
            }
            return result
        case .not(let operand): return operand.decides(record).map { !$0 }
        case .and(let operands): return FilterNode.search(operands, record, for: false)
        case .or(let operands): return FilterNode.search(operands, record, for: true)
        }
    }

    private static func search(_ operands: [FilterNode], _ record: ExchangeRecord, for decisive: Bool) -> Bool? {
        var result: Bool? = !decisive
        for operand in operands {
            switch operand.decides(record) {
            case decisive: return decisive
            case nil: result = nil
            default: break
            }
        }
        return result
    }
}
