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
    private var known: Set<ConditionPhase> = [.requestHead]
    /// `nil` if it was not read.
    private var requestBody: ByteBuffer? = ByteBuffer()
    private var responseBody: ByteBuffer? = ByteBuffer()
    private var values: [Place: [PlaceValue]] = [:]
    /// Why places had no values.
    private var problems: [Place: String] = [:]
    private var reasonNotToRead = "the body was not read"

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
        if opening.process != nil { known.insert(.process) }
    }

    func knows(_ phase: ConditionPhase) -> Bool { known.contains(phase) }

    func setProcess(_ process: ClientProcess?) {
        record.extras.process = process
        known.insert(.process)
    }

    /// In bytes; longer bodies are not read.
    package static let longestBody = 1 << 20

    /// `nil` if the body is not known; tests of it then fail.
    package func setRequestBody(_ body: ByteBuffer?, because reason: String? = nil) {
        requestBody = body
        if body == nil, let reason { reasonNotToRead = reason }
        known.formUnion([.process, .requestBody])
    }

    package func setResponse(_ head: ResponseHead) {
        (record.status, responseFields) = (head.status, head.fields)
        known.insert(.responseHead)
    }

    package func setResponseBody(_ body: ByteBuffer?) {
        responseBody = body
        known.insert(.responseBody)
    }

    /// Kleene's three-valued logic; `nil` is unknown.
    func decides(_ node: FilterNode) -> Bool? { node.decides { holds($0) } }

    private func holds(_ test: FilterTest) -> Bool? {
        guard known.contains(test.phase) else { return nil }
        switch test {
        case .place(let test):
            return values(at: test.place).contains { value in value.bytes.withUnsafeBufferPointer { test.matches($0) } }
        case .matches(.field(let side, let name), let pattern):
            return (side == .request ? requestFields : responseFields).contains { field in
                name.matches(field.nameBytes) && Array(field.valueBytes).withUnsafeBufferPointer { pattern.matches($0) }
            }
        case .matches(.body(let side), let pattern):
            let place = Place(side == .request ? .request : .response, .body)
            return values(at: place).contains { value in value.bytes.withUnsafeBufferPointer { pattern.matches($0) } }
        case .address(_, let glob): return FilterTest.matchesAddress(clientAddress, glob)
        default: return test.decides(record) ?? false
        }
    }

    /// The first value at a place of the request; `name` is for the error.
    func value(at place: Place, _ name: String) throws(ValueError) -> PlaceValue {
        if place.isInBody, !knows(.requestBody) { throw ValueError("\(name) has no value yet: the body is not read") }
        if let value = values(at: place).first { return value }
        throw ValueError("\(name) has no value: \(problems[place] ?? "it is not in the request")")
    }

    private func values(at place: Place) -> [PlaceValue] {
        if let known = values[place] { return known }
        var found: [PlaceValue] = []
        if place.part == .status {
            found = [PlaceValue(String(record.status).utf8)]
        } else if let text = place.text(of: record) {
            found = [PlaceValue(text.utf8)]
        } else if !place.isInBody || (place.root == .response ? responseBody : requestBody) != nil {
            let message = place.root == .response ? response : request
            found = (try? message.values(place.part, place.steps)) ?? []
            problems[place] = message.problem
        } else {
            problems[place] = place.root == .response ? "the body was not read" : reasonNotToRead
        }
        values[place] = found
        return found
    }
}

extension ConditionFacts {
    /// Why a body that is declared as JSON or XML has none of the values that a condition asks for.
    func problem(of condition: RuleCondition) -> String? {
        for case .place(let test) in condition.filter.root.tests {
            let fields = test.place.root == .response ? responseFields : requestFields
            guard let type = fields.value(of: .contentType).flatMap({ MediaType($0) }), type.isJSON || type.isXML
            else { continue }
            if let problem = problems[test.place] { return problem }
        }
        return nil
    }

    /// Why a condition does not hold: its first term that does not, and the value that was there; `nil` if it holds, or
    /// if it is not decided.
    package func mismatch(_ condition: RuleCondition) -> String? {
        guard decides(condition.filter.root) == false else { return nil }
        return "when: \(mismatch(condition.filter.root, isNegated: false))"
    }

    private func mismatch(_ node: FilterNode, isNegated: Bool) -> String {
        switch node {
        case .everything: return "nothing matches"
        case .not(let operand): return mismatch(operand, isNegated: !isNegated)
        case .and(let operands), .or(let operands):
            let isAnd = if case .and = node { true } else { false }
            // Of an `and` one operand fails, of an `or` all do; negated it is the other way.
            let failing = isAnd == isNegated ? operands.first : operands.first { decides($0) == isNegated }
            return failing.map { mismatch($0, isNegated: isNegated) } ?? "nothing matches"
        case .term(let term):
            return "\(isNegated ? "not " : "")\(term) does not hold\(shown(term).map { ": \($0)" } ?? "")"
        }
    }

    /// The value that a term looked at.
    private func shown(_ term: FilterTerm) -> String? {
        guard let test = term.tests.first else { return nil }
        func quoted(_ values: [String]) -> String {
            let texts = values.prefix(3).map { "\"\($0.prefix(60))\"" }
            return texts.isEmpty ? "it is missing" : "it is " + texts.joined(separator: ", ")
        }
        switch test {
        case .place(let test):
            let found = values(at: test.place).map(\.text)
            return found.isEmpty ? problems[test.place] ?? "it is missing" : quoted(found)
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
