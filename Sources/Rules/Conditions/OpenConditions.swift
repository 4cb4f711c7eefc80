import Content
import ExchangeCore
import HTTPModel
import NIOCore

/// The conditions of all rules of a profile.
struct ProfileConditions: Sendable {
    enum Need: Sendable {
        case condition(RuleCondition)
        /// Places in the request's body, for values.
        case values(RuleValues)

        fileprivate var number: Int {
            switch self {
            case .condition(let condition): condition.number
            case .values(let values): values.number
            }
        }
    }

    /// By the numbers of needs; `nil` for rules and tools that are not in force.
    fileprivate let needs: [Need?]
    /// By the numbers of needs; apart from them, as only notes name rules.
    fileprivate let names: [(rule: String, tool: String)]

    /// `nil` if no rule that is enabled has a condition or values. In a dry run values have counts of their own.
    init?(_ tools: [(tool: Tool, headings: [RuleHeading])], isDryRun: Bool) {
        let found: [(need: Need, rule: String, tool: String)] = tools.flatMap { tool, headings in
            headings.filter(\.isEnabled).flatMap { heading in
                let values = heading.values.map { isDryRun ? $0.copy : $0 }
                let needs = [heading.condition.map { Need.condition($0) }, values.map { Need.values($0) }]
                return needs.compactMap { $0 }.map { ($0, heading.name, tool.key) }
            }
        }
        guard let last = found.map(\.need.number).max() else { return nil }
        var needs = [Need?](repeating: nil, count: last + 1)
        var names = [(rule: String, tool: String)](repeating: ("", ""), count: last + 1)
        for (need, rule, tool) in found { (needs[need.number], names[need.number]) = (need, (rule, tool)) }
        (self.needs, self.names) = (needs, names)
    }

    func begin(_ opening: ExchangeOpening) -> any ExchangeConditions { OpenConditions(self, opening) }
}

/// The conditions of one exchange. It waits for bodies only if a condition that was asked about needs them, and up to
/// ``ConditionFacts/longestBody``.
final class OpenConditions: ExchangeConditions, StageHandler {
    private let conditions: ProfileConditions
    private let opening: ExchangeOpening
    private(set) lazy var facts = ConditionFacts(opening)
    private var values: [Int: ExchangeValues] = [:]
    /// By the numbers of needs; `nil` if nobody asked.
    private var states: [ConditionState?]
    /// The needs that are undecided, by number.
    private var open: Set<Int> = []
    private(set) var waitingForRequest = 0
    private(set) var requestDemand = BodyDemand.none
    private(set) var responseDemand = BodyDemand.none
    /// When waiting for the client's program ends.
    private var deadline: NIODeadline?

    /// How long the client's program is waited for, and how often it is asked for.
    private static let (patience, step) = (TimeAmount.milliseconds(50), TimeAmount.milliseconds(5))

    init(_ conditions: ProfileConditions, _ opening: ExchangeOpening) {
        (self.conditions, self.opening) = (conditions, opening)
        states = [ConditionState?](repeating: nil, count: conditions.needs.count)
    }

    var isOpen: Bool { !open.isEmpty }
    var gate: any StageHandler { self }

    /// The values of a rule that matches; the first call counts the match.
    func values(of rule: RuleValues) -> ExchangeValues? {
        if let values = values[rule.number] { return values }
        guard case .values(let inForce)? = conditions.needs[rule.number] else { return nil }
        let made = ExchangeValues(inForce, opening)
        values[rule.number] = made
        return made
    }

    func state(of need: Int) -> ConditionState {
        guard need < states.count else { return .fails }
        if let state = states[need] { return state }
        let state = decide(need)
        switch state {
        case .holds, .fails: break
        case .awaitsRequest:
            open.insert(need)
            waitingForRequest += 1
        case .awaitsResponse: open.insert(need)
        }
        states[need] = state
        return state
    }

    private func decide(_ number: Int) -> ConditionState {
        switch conditions.needs[number] {
        case nil: return .fails
        case .values?: return facts.knows(.requestBody) || !awaits(.requestBody, number) ? .holds : .awaitsRequest
        case .condition(let condition)?:
            if let isTrue = facts.decides(condition) { return isTrue ? .holds : .fails }
            let phases = condition.program.tests.map(\.phase).filter { !facts.knows($0) }
            return phases.contains { $0 < .responseHead } ? .awaitsRequest : .awaitsResponse
        }
    }

    /// Decides what is open, as far as it is known now.
    private func decideOpen() {
        for index in open {
            let state = decide(index)
            states[index] = state
            switch state {
            case .holds, .fails: open.remove(index)
            case .awaitsRequest, .awaitsResponse: break
            }
        }
    }

    /// Whether an open condition waits for this, and perhaps for more.
    private func awaits(_ phase: ConditionPhase) -> Bool { open.contains { awaits(phase, $0) } }

    /// Whether a need of this phase fits; `nil` as a place is a test of something else than a place.
    private func awaits(_ phase: ConditionPhase, _ index: Int, where fits: (Place?) -> Bool = { _ in true }) -> Bool {
        switch conditions.needs[index] {
        case nil: false
        case .values(let values)?: phase == .requestBody && values.bodyPlaces.contains(where: fits)
        case .condition(let condition)?:
            condition.program.tests.contains { test in
                guard test.phase == phase else { return false }
                if case .place(let test) = test.test { return fits(test.place) }
                return fits(nil)
            }
        }
    }

    // MARK: - As the gate

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        if !facts.knows(.process), awaits(.process) {
            let end = deadline ?? exchange.now + Self.patience
            deadline = end
            if exchange.process == nil, exchange.awaitsProcess, exchange.now < end {
                return .pause(.again(at: exchange.now + Self.step))
            }
            if exchange.process == nil { note(.process, "the client's program was not known in time", &exchange) }
            facts.setProcess(exchange.process)
            decideOpen()
        }
        guard awaits(.requestBody) else {
            decided(.request, nil, &exchange)
            return .forward
        }
        if let reason = reasonNotToWait(for: .request, head.fields) {
            note(.requestBody, reason, &exchange)
            decided(.request, nil, because: reason, &exchange)
        } else {
            requestDemand = .whole(limit: ConditionFacts.longestBody, decoded: false)
        }
        return .forward
    }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        facts.setResponse(head)
        decideOpen()
        guard awaits(.responseBody) else { return .forward }
        let reason: String? =
            switch head.status {
            case 101: "another protocol follows"
            case 206: "the body is a part (206)"
            case _ where opening.head.method == "HEAD": "the answer to HEAD has no body"
            default: reasonNotToWait(for: .response, head.fields)
            }
        if let reason {
            note(.responseBody, reason, &exchange)
            decided(.response, nil, &exchange)
        } else {
            responseDemand = .whole(limit: ConditionFacts.longestBody, decoded: false)
        }
        return .forward
    }

    func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict {
        decided(direction, body, &exchange)
        return .forward
    }

    func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict {
        if direction == .request { requestDemand = .none } else { responseDemand = .none }
        let reason = exchange.lacksRoom ? "the memory for bodies is full" : "the body is longer than 1 MiB"
        note(direction == .request ? .requestBody : .responseBody, reason, &exchange)
        decided(direction, nil, because: reason, &exchange)
        return .forward
    }

    private func decided(
        _ direction: FlowDirection,
        _ body: ByteBuffer?,
        because reason: String? = nil,
        _ exchange: inout StageExchange
    ) {
        if direction == .request { facts.setRequestBody(body, because: reason) } else { facts.setResponseBody(body) }
        let waiting = open
        decideOpen()
        guard body != nil else { return }
        for index in waiting.sorted() {
            guard case .fails? = states[index], case .condition(let condition)? = conditions.needs[index]
            else { continue }
            facts.problem(of: condition).map { note(index, $0, &exchange) }
        }
    }

    private func reasonNotToWait(for direction: FlowDirection, _ fields: FieldSection) -> String? {
        if opening.isTunnel { return "the bytes of a tunnel are not read" }
        if direction == .request, fields.contains(.upgrade) { return "another protocol is asked for" }
        if let kind = LiveStream.kind(fields, direction) { return "the body is a stream (\(kind))" }
        if fields.contains("content-range") { return "the body is a part (Content-Range)" }
        if let length = fields.value(of: .contentLength).flatMap({ Int64($0) }), length > ConditionFacts.longestBody {
            return "the body is longer than 1 MiB"
        }
        let phase = direction == .request ? ConditionPhase.requestBody : .responseBody
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        let isPossible = open.contains { index in
            awaits(phase, index) { place in place.map { MessagePlaces.canHave($0.part, in: type) } ?? true }
        }
        let what = type.map { "of the type \($0.essence)" } ?? "without a media type"
        return isPossible ? nil : "a body \(what) cannot have it"
    }

    /// Notes for each open condition with tests of this kind why they fail.
    private func note(_ phase: ConditionPhase, _ reason: String, _ exchange: inout StageExchange) {
        for index in open.sorted() where awaits(phase, index) { note(index, reason, &exchange) }
    }

    private func note(_ index: Int, _ reason: String, _ exchange: inout StageExchange) {
        // The tool notes why a value is missing.
        guard case .condition(let condition)? = conditions.needs[index] else { return }
        let (rule, tool) = conditions.names[index]
        exchange.note("\(rule): when \(condition.text): \(reason), so its terms that need this are false", by: tool)
    }
}
