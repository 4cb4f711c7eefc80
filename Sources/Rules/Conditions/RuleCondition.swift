package import HTTPModel

/// The filter in a rule's `when`: the exchanges that the rule acts on, among those that its locations match. It is
/// decided on messages as received, like locations.
package final class RuleCondition: Sendable {
    package let filter: Filter
    /// Among the needs of all rules of the profile.
    let number: Int
    let program: ConditionProgram
    /// A test of a place in the request's fields or query: without a value there the condition fails.
    let needed: ConditionTest?
    /// The last that it may have to wait for.
    let phase: ConditionPhase

    init(_ filter: Filter, _ numbers: inout NeedNumbers) {
        self.filter = filter
        number = numbers.nextNeed()
        var program = ConditionProgram()
        needed = program.append(filter.root, &numbers)
        self.program = program
        phase = program.tests.map(\.phase).max() ?? .requestHead
    }

    package var text: String { filter.description }

    /// The keys of filters that a condition can have besides places, in the order of the filter's reference.
    package static let keys = Filter.reference.map(\.name).filter { ProfileReader.conditionKeys.contains($0) }
}

/// Numbers the conditions and values of a profile's rules, and the places that they read, so that what is known of an
/// exchange is found by its number.
struct NeedNumbers {
    private var needs = 0
    private var places: [Place: Int] = [:]

    mutating func nextNeed() -> Int {
        needs += 1
        return needs - 1
    }

    mutating func number(of place: Place) -> Int {
        if let number = places[place] { return number }
        places[place] = places.count
        return places.count - 1
    }
}

/// A condition's filter as a list, in which a node's operands follow the node. Deciding it for an exchange copies no
/// references to nodes.
struct ConditionProgram: Sendable {
    struct Step: Sendable {
        enum Kind: Sendable { case everything, term, test, not, and, or }

        let kind: Kind
        /// The index of a term in `terms`, and of a test in `tests`.
        let index: Int
        /// The index of the first step after the node and its operands.
        var end = 0
    }

    private(set) var steps: [Step] = []
    private(set) var tests: [ConditionTest] = []
    private(set) var terms: [FilterTerm] = []

    /// Appends a node. Returns a test of the request's fields or query without whose place the node is false.
    mutating func append(_ node: FilterNode, _ numbers: inout NeedNumbers) -> ConditionTest? {
        let (kind, operands): (Step.Kind, [FilterNode]) =
            switch node {
            case .everything: (.everything, [])
            case .term: (.term, [])
            case .not(let operand): (.not, [operand])
            case .and(let list): (.and, list)
            case .or(let list): (.or, list)
            }
        let start = steps.count
        steps.append(Step(kind: kind, index: terms.count))
        var needed: [ConditionTest?] = []
        for operand in operands { needed.append(append(operand, &numbers)) }
        if case .term(let term) = node {
            terms.append(term)
            for test in term.tests { needed.append(append(ConditionTest(test, &numbers))) }
        }
        steps[start].end = steps.count
        if kind == .not { return nil }
        if kind == .and { return needed.compactMap { $0 }.first }
        return Set(needed.map { $0?.placeNumber }).count == 1 ? needed[0] : nil
    }

    private mutating func append(_ test: ConditionTest) -> ConditionTest? {
        steps.append(Step(kind: .test, index: tests.count, end: steps.count + 1))
        tests.append(test)
        return test.phase == .requestHead && test.place?.needs == .messages ? test : nil
    }

    /// The indexes of a node's operands.
    func operands(of start: Int) -> [Int] {
        var operands: [Int] = []
        var next = start + 1
        while next < steps[start].end {
            operands.append(next)
            next = steps[next].end
        }
        return operands
    }
}

final class ConditionTest: Sendable {
    let test: FilterTest
    let phase: ConditionPhase
    /// What a body test or a place test reads, and its number.
    let place: Place?
    let placeNumber: Int

    init(_ test: FilterTest, _ numbers: inout NeedNumbers) {
        (self.test, phase) = (test, test.phase)
        let place: Place? =
            switch test {
            case .place(let test): test.place
            case .matches(.body(let side), _): Place(side == .response ? .response : .request, .body)
            default: nil
            }
        self.place = place
        placeNumber = place.map { numbers.number(of: $0) } ?? -1
    }

    /// Whether a value at the place passes.
    func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        switch test {
        case .place(let test): test.matches(value)
        case .matches(_, let pattern): pattern.matches(value)
        default: false
        }
    }
}

/// What must have arrived before a test can be decided.
enum ConditionPhase: UInt8, Comparable {
    case requestHead, process, requestBody, responseHead, responseBody

    static func < (left: ConditionPhase, right: ConditionPhase) -> Bool { left.rawValue < right.rawValue }
}

/// What the rules of a tool may wait for, besides the head of the request.
package struct ConditionReach: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let bodies = ConditionReach(rawValue: 1)
    /// Only for rules that act on responses alone.
    package static let response = ConditionReach(rawValue: 2)
}

extension FilterTest {
    var phase: ConditionPhase {
        switch self {
        case .matches(.text(.process), _), .number(.process, _): .process
        case .matches(.body(.response), _): .responseBody
        case .matches(.body, _): .requestBody
        case .matches(.field(.response, _), _), .number(.status, _): .responseHead
        case .place(let test): test.place.phase
        default: .requestHead
        }
    }
}

extension Place {
    fileprivate var phase: ConditionPhase {
        if root == .response { return isInBody ? .responseBody : .responseHead }
        return isInBody ? .requestBody : .requestHead
    }

    /// Of a GraphQL place the body counts, though a query string may have it.
    var isInBody: Bool {
        switch part {
        case .method, .url, .host, .path, .status, .header, .cookie, .query: false
        default: true
        }
    }
}

extension ProfileReader {
    fileprivate static let conditionKeys: Set<String> = [
        "", "host", "path", "query", "url", "scheme", "port", "method", "version", "client", "process", "mode",
        "status",
        "reqheader", "resheader", "reqbody", "resbody", "trace-id", "graphql",
    ]

    /// Reads a rule's `when`.
    mutating func condition(_ node: Node, of tool: ToolDescriptor) -> RuleCondition? {
        guard let text = text(node, "when") else { return nil }
        do throws(FilterError) {
            let filter = try Filter(text)
            if filter.matchesEverything { error("'when' is empty; without it the rule acts on everything", at: node) }
            for term in filter.root.terms {
                guard let problem = ProfileReader.problem(term, tool) else { continue }
                let before = text.firstRange(of: "\(term.key):").map { text[..<$0.lowerBound].count } ?? 0
                error(problem, at: node, offset: before + node.quoteWidth)
            }
            return RuleCondition(filter, &numbers)
        } catch {
            let hint = error.suggestion.map { "; \($0)" } ?? ""
            self.error("when: \(error.message)\(hint)", at: node, offset: error.column - 1 + node.quoteWidth)
            return nil
        }
    }

    /// Why a rule of a tool cannot have a term in its condition.
    private static func problem(_ term: FilterTerm, _ tool: ToolDescriptor) -> String? {
        let key = term.key
        if case .place(let test)? = term.tests.first, key != "graphql" {
            let place = test.place
            switch (place.root, place.part) {
            case (.request, .trailer), (.response, .trailer): return "when: \(key) comes only after the message"
            case (.request, _), (.response, _), (.graphql, _): break
            case (.sentRequest, _), (.sentResponse, _):
                return "when: conditions are decided on messages as received: write req. or res., not '\(key)'"
            default: return "when: '\(key)' is not known before a rule acts"
            }
        } else if !conditionKeys.contains(key) {
            let advice = [
                "header": "reqheader or resheader", "body": "reqbody or resbody", "type": "res.header.content-type",
            ]
            let hint = advice[key].map { ": write \($0)" } ?? ""
            return "when: '\(key):' is not known before a rule acts\(hint)"
        }
        let phase = term.tests.map(\.phase).max() ?? .requestHead
        if phase >= .responseHead, !tool.conditions.contains(.response) {
            return "when: '\(key)' needs the response, and \(tool.noun) acts before there is one"
        }
        if phase == .requestBody || phase == .responseBody, !tool.conditions.contains(.bodies) {
            return "when: '\(key)' needs a body, and \(tool.noun) does not wait for bodies"
        }
        return nil
    }
}
