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

        fileprivate var id: ObjectIdentifier {
            switch self {
            case .condition(let condition): ObjectIdentifier(condition)
            case .values(let values): ObjectIdentifier(values)
            }
        }
    }

    typealias Entry = (need: Need, rule: String, tool: String)

    fileprivate let entries: [Entry]
    fileprivate let indexes: [ObjectIdentifier: Int]
    /// Values whose counts are those of a dry run.
    fileprivate var copies: [ObjectIdentifier: RuleValues] = [:]

    /// `nil` if no rule that is enabled has a condition or values.
    init?(_ tools: [(tool: Tool, headings: [RuleHeading])], isDryRun: Bool) {
        entries = tools.flatMap { tool, headings in
            headings.filter(\.isEnabled).flatMap { heading in
                let needs = [heading.condition.map { Need.condition($0) }, heading.values.map { Need.values($0) }]
                return needs.compactMap { $0 }.map { ($0, heading.name, tool.key) }
            }
        }
        if entries.isEmpty { return nil }
        indexes = Dictionary(entries.enumerated().map { ($1.need.id, $0) }) { first, _ in first }
        guard isDryRun else { return }
        for case .values(let values) in entries.map(\.need) { copies[ObjectIdentifier(values)] = values.copy }
    }

    func begin(_ opening: ExchangeOpening) -> any ExchangeConditions { OpenConditions(self, opening) }
}

/// The conditions of one exchange. It waits for bodies only if a condition that was asked about needs them, and up to
/// ``ConditionFacts/longestBody``.
final class OpenConditions: ExchangeConditions, StageHandler {
    private let conditions: ProfileConditions
    private let opening: ExchangeOpening
    private(set) lazy var facts = ConditionFacts(opening)
    private var values: [ObjectIdentifier: ExchangeValues] = [:]
    private var states: [Int: ConditionState] = [:]
    /// The conditions that are undecided, by index.
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
    }

    var isOpen: Bool { !open.isEmpty }
    var gate: any StageHandler { self }

    /// The values of a rule that matches; the first call counts the match.
    func values(of rule: RuleValues) -> ExchangeValues {
        let id = ObjectIdentifier(rule)
        if let values = values[id] { return values }
        let made = ExchangeValues(conditions.copies[id] ?? rule, opening)
        values[id] = made
        return made
    }

    func state(of condition: ObjectIdentifier) -> ConditionState {
        guard let index = conditions.indexes[condition] else { return .fails }
        if let state = states[index] { return state }
        let state = decide(index)
        switch state {
        case .holds, .fails: break
        case .awaitsRequest:
            open.insert(index)
            waitingForRequest += 1
        case .awaitsResponse: open.insert(index)
        }
        states[index] = state
        return state
    }

    private func decide(_ index: Int) -> ConditionState {
        guard case .condition(let condition) = conditions.entries[index].need else {
            return facts.knows(.requestBody) || !awaits(.requestBody, index) ? .holds : .awaitsRequest
        }
        if let isTrue = facts.decides(condition.filter.root) { return isTrue ? .holds : .fails }
        let phases = condition.filter.root.tests.map(\.phase).filter { !facts.knows($0) }
        return phases.contains { $0 < .responseHead } ? .awaitsRequest : .awaitsResponse
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
        switch conditions.entries[index].need {
        case .values(let values): phase == .requestBody && values.bodyPlaces.contains(where: fits)
        case .condition(let condition):
            condition.filter.root.tests.contains { test in
                guard test.phase == phase else { return false }
                if case .place(let test) = test { return fits(test.place) }
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
            guard case .fails? = states[index], case .condition(let condition) = conditions.entries[index].need else {
                continue
            }
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
        let (need, rule, tool) = conditions.entries[index]
        // The tool notes why a value is missing.
        guard case .condition(let condition) = need else { return }
        exchange.note("\(rule): when \(condition.text): \(reason), so its terms that need this are false", by: tool)
    }
}
