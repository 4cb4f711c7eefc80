import HTTPModel

extension FilterNode {
    /// A filter of columns that a database without our functions decides, and that matches whenever this one does; with
    /// `isNegated` never if this one does not. The exact filter decides afterwards.
    func necessary(isNegated: Bool = false) -> FilterNode {
        switch self {
        case .everything: return self
        case .not(let operand): return .not(operand.necessary(isNegated: !isNegated))
        case .and(let operands): return .and(operands.map { $0.necessary(isNegated: isNegated) })
        case .or(let operands): return .or(operands.map { $0.necessary(isNegated: isNegated) })
        case .term(let term):
            var decided = term
            decided.tests.removeAll { !$0.isDecided(isNegated: isNegated) }
            if decided.tests.count == term.tests.count { return self }
            guard isNegated else { return .everything }
            return decided.tests.isEmpty ? .not(.everything) : .term(decided)
        }
    }
}

extension FilterTest {
    /// Whether columns decide it; if it is not negated, a necessary condition on columns is enough.
    fileprivate func isDecided(isNegated: Bool) -> Bool {
        switch self {
        case .matches(.text(.comment), _), .matches(.text(.colour), _): false
        case .matches(.text, .glob(let glob)):
            switch (glob.shape, glob.ignoresCase) {
            case (.general, _), (.suffix, false): false
            default: true
            }
        case .matches(.url, .glob): !isNegated
        case .number(.id, _), .matches, .mediaTypePart, .address, .place: false
        case .number, .version, .recording: true
        case .property(let property):
            switch property.condition {
            case .commented: false
            default: true
            }
        }
    }
}
