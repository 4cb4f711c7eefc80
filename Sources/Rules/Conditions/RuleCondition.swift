package import HTTPModel

/// The filter in a rule's `when`: the exchanges that the rule acts on, among those that its locations match. It is
/// decided on messages as received, like locations.
package final class RuleCondition: Sendable {
    package let filter: Filter
    let phase: ConditionPhase

    init(_ filter: Filter) {
        self.filter = filter
        phase = filter.root.tests.map(\.phase).max() ?? .requestHead
    }

    package var text: String { filter.description }

    /// The keys of filters that a condition can have besides places, in the order of the filter's reference.
    package static let keys = Filter.reference.map(\.name).filter { ProfileReader.conditionKeys.contains($0) }
}

/// What must have arrived before a test can be decided.
enum ConditionPhase: Int, Comparable {
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
            return RuleCondition(filter)
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
