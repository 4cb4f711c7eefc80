import Content
package import ExchangeCore
package import HTTPModel
package import NIOCore

/// What is known of an exchange for the conditions of rules; each place is read once.
package final class ConditionFacts {
    private var record: ExchangeRecord
    private let clientAddress: String
    private let requestFields: FieldSection
    private var responseFields = FieldSection()
    /// The bits of ``ConditionPhase``.
    private var known: UInt8 = 1 << ConditionPhase.requestHead.rawValue
    /// `nil` if it was not read.
    private var requestBody: ByteBuffer? = ByteBuffer()
    private var responseBody: ByteBuffer? = ByteBuffer()
    /// By the numbers of places; `nil` if a place was not read.
    private var places: [PlaceFacts?] = []
    private var reasonNotToRead = "the body was not read"

    private struct PlaceFacts {
        var values: [PlaceValue] = []
        /// Why there are no values.
        var problem: String?
    }

    private lazy var request = MessagePlaces(isRequest: true, fields: requestFields, query: record.url.query) {
        [unowned self] in requestBody ?? ByteBuffer()
    }
    private lazy var response = MessagePlaces(isRequest: false, fields: responseFields) { [unowned self] in
        responseBody ?? ByteBuffer()
    }

    package init(_ opening: ExchangeOpening) {
        (clientAddress, requestFields) = (opening.clientAddress, opening.head.fields)
        record = ExchangeRecord(
            id: opening.id,
            kind: opening.isTunnel ? .tunnel : .http,
            startedAt: 0,
            method: opening.head.method,
            url: opening.url,
            clientConnection: ConnectionID(0)
        )
        record.clientVersion = opening.head.version
        record.extras.listeningMode = opening.listeningMode
        record.extras.process = opening.process
        if opening.process != nil { note(.process) }
    }

    func knows(_ phase: ConditionPhase) -> Bool { known >> phase.rawValue & 1 != 0 }

    private func note(_ phase: ConditionPhase) { known |= 1 << phase.rawValue }

    func setProcess(_ process: ClientProcess?) {
        record.extras.process = process
        note(.process)
    }

    /// In bytes; longer bodies are not read.
    package static let longestBody = 1 << 20

    /// `nil` if the body is not known; tests of it then fail.
    package func setRequestBody(_ body: ByteBuffer?, because reason: String? = nil) {
        requestBody = body
        if body == nil, let reason { reasonNotToRead = reason }
        note(.process)
        note(.requestBody)
    }

    package func setResponse(_ head: ResponseHead) {
        (record.status, responseFields) = (head.status, head.fields)
        note(.responseHead)
    }

    package func setResponseBody(_ body: ByteBuffer?) {
        responseBody = body
        note(.responseBody)
    }

    /// Kleene's three-valued logic; `nil` is unknown.
    func decides(_ node: ConditionNode) -> Bool? {
        switch node.kind {
        case .everything: true
        case .term: FilterNode.search(node.tests, for: true) { holds($0) }
        case .not: decides(node.operands[0]).map { !$0 }
        case .and: FilterNode.search(node.operands, for: false) { decides($0) }
        case .or: FilterNode.search(node.operands, for: true) { decides($0) }
        }
    }

    private func holds(_ test: ConditionTest) -> Bool? {
        guard knows(test.phase) else { return nil }
        if let place = test.place {
            return facts(at: place, test.placeNumber).values.contains { value in
                value.bytes.withUnsafeBufferPointer { test.matches($0) }
            }
        }
        switch test.test {
        case .matches(.field(let side, let name), let pattern):
            return (side == .request ? requestFields : responseFields).contains { field in
                name.matches(field.nameBytes) && Array(field.valueBytes).withUnsafeBufferPointer { pattern.matches($0) }
            }
        case .address(_, let glob): return FilterTest.matchesAddress(clientAddress, glob)
        default: return test.test.decides(record) ?? false
        }
    }

    /// The first value at a place of the request; `name` is for the error.
    func value(at place: Place, _ number: Int, _ name: String) throws(ValueError) -> PlaceValue {
        if place.isInBody, !knows(.requestBody) { throw ValueError("\(name) has no value yet: the body is not read") }
        let facts = facts(at: place, number)
        if let value = facts.values.first { return value }
        throw ValueError("\(name) has no value: \(facts.problem ?? "it is not in the request")")
    }

    private func facts(at place: Place, _ number: Int) -> PlaceFacts {
        if number < places.count, let known = places[number] { return known }
        let read = read(place)
        while places.count <= number { places.append(nil) }
        places[number] = read
        return read
    }

    private func read(_ place: Place) -> PlaceFacts {
        if place.part == .status { return PlaceFacts(values: [PlaceValue(String(record.status).utf8)]) }
        if let text = place.text(of: record) { return PlaceFacts(values: [PlaceValue(text.utf8)]) }
        let isResponse = place.root == .response
        if place.isInBody, (isResponse ? responseBody : requestBody) == nil {
            return PlaceFacts(problem: isResponse ? "the body was not read" : reasonNotToRead)
        }
        let message = isResponse ? response : request
        let values = (try? message.values(place.part, place.steps)) ?? []
        return PlaceFacts(values: values, problem: message.problem)
    }
}

extension ConditionFacts {
    /// Why a body that is declared as JSON or XML has none of the values that a condition asks for.
    func problem(of condition: RuleCondition) -> String? {
        for test in condition.root.allTests {
            guard case .place(let placeTest) = test.test else { continue }
            let place = placeTest.place
            let fields = place.root == .response ? responseFields : requestFields
            guard let type = fields.value(of: .contentType).flatMap({ MediaType($0) }), type.isJSON || type.isXML
            else { continue }
            if let problem = facts(at: place, test.placeNumber).problem { return problem }
        }
        return nil
    }

    /// Why a condition does not hold: its first term that does not, and the value that was there; `nil` if it holds, or
    /// if it is not decided.
    package func mismatch(_ condition: RuleCondition) -> String? {
        guard decides(condition.root) == false else { return nil }
        return "when: \(mismatch(condition.root, isNegated: false))"
    }

    private func mismatch(_ node: ConditionNode, isNegated: Bool) -> String {
        if let term = node.term {
            let value = node.tests.first.flatMap { shown($0) }.map { ": \($0)" } ?? ""
            return "\(isNegated ? "not " : "")\(term) does not hold\(value)"
        }
        if node.kind == .not { return mismatch(node.operands[0], isNegated: !isNegated) }
        // Of an `and` one operand fails, of an `or` all do; negated it is the other way.
        let failing =
            (node.kind == .and) == isNegated
            ? node.operands.first : node.operands.first { decides($0) == isNegated }
        return failing.map { mismatch($0, isNegated: isNegated) } ?? "nothing matches"
    }

    /// The value that a test looked at.
    private func shown(_ test: ConditionTest) -> String? {
        func quoted(_ values: [String]) -> String {
            let texts = values.prefix(3).map { "\"\($0.prefix(60))\"" }
            return texts.isEmpty ? "it is missing" : "it is " + texts.joined(separator: ", ")
        }
        switch test.test {
        case .place(let placeTest):
            let facts = facts(at: placeTest.place, test.placeNumber)
            return facts.values.isEmpty ? facts.problem ?? "it is missing" : quoted(facts.values.map(\.text))
        case .matches(.field(let side, let name), _):
            let fields = side == .request ? requestFields : responseFields
            return quoted(fields.filter { name.matches($0.nameBytes) }.map(\.value))
        case .number(.status, _): return "it is \(record.status)"
        case .number(.port, _): return "it is \(record.url.port)"
        case .matches(.text(.process), _), .number(.process, _):
            return record.extras.process.map { "it is \($0.name) (\($0.id))" } ?? "not known"
        case .matches(.text(.method), _): return "it is \(record.method)"
        case .matches(.text(.mode), _): return "it is \(record.mode ?? "regular")"
        case .address: return "it is \(clientAddress)"
        case .version: return "it is \(record.clientVersion)"
        default: return nil
        }
    }
}
