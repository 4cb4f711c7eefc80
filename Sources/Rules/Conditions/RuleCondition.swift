package import HTTPModel

/// The filter in a rule's `when`: the exchanges that the rule acts on, among those that its locations match. It is
/// decided on messages as received, like locations.
package final class RuleCondition: Sendable {
    package let filter: Filter
    /// Among the needs of all rules of the profile.
    let number: Int
    let root: ConditionNode
    /// The last that it may have to wait for.
    let phase: ConditionPhase

    init(_ filter: Filter, _ numbers: inout NeedNumbers) {
        self.filter = filter
        number = numbers.nextNeed()
        root = ConditionNode(filter.root, &numbers)
        phase = root.allTests.map(\.phase).max() ?? .requestHead
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

/// A node of a condition's filter, ready to be decided for each exchange.
final class ConditionNode: Sendable {
    enum Kind: Sendable { case everything, term, not, and, or }

    let kind: Kind
    let operands: [ConditionNode]
    let tests: [ConditionTest]
    let term: FilterTerm?

    init(_ node: FilterNode, _ numbers: inout NeedNumbers) {
        func nodes(_ operands: [FilterNode], _ numbers: inout NeedNumbers) -> [ConditionNode] {
            var nodes: [ConditionNode] = []
            for operand in operands { nodes.append(ConditionNode(operand, &numbers)) }
            return nodes
        }
        var (operands, tests): ([ConditionNode], [ConditionTest]) = ([], [])
        var term: FilterTerm?
        switch node {
        case .everything: kind = .everything
        case .term(let only):
            (kind, term) = (.term, only)
            for test in only.tests { tests.append(ConditionTest(test, &numbers)) }
        case .not(let operand): (kind, operands) = (.not, nodes([operand], &numbers))
        case .and(let list): (kind, operands) = (.and, nodes(list, &numbers))
        case .or(let list): (kind, operands) = (.or, nodes(list, &numbers))
        }
        (self.operands, self.tests, self.term) = (operands, tests, term)
    }

    var allTests: [ConditionTest] { tests + operands.flatMap(\.allTests) }
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
