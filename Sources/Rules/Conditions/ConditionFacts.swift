import Content
package import ExchangeCore
package import HTTPModel
package import NIOCore

/// What is known of an exchange for the conditions of rules; each place is read once.
package final class ConditionFacts {
    private var shared: SharedRecord
    private var record: ExchangeRecord {
        get { shared.record }
        set { shared = SharedRecord(newValue) }
    }
    private let clientAddress: String
    private let requestFields: FieldSection
    private var responseFields = FieldSection()
    /// The bits of ``ConditionPhase``.
    private var known: UInt8 = 1 << ConditionPhase.requestHead.rawValue
    /// `nil` if it was not read.
    private var requestBody: ByteBuffer? = ByteBuffer()
    private var responseBody: ByteBuffer? = ByteBuffer()
    /// By the numbers of places; `nil` if a place was not read.
    private var values: [[PlaceValue]?] = []
    /// Why places had no values.
    private var problems: [Int: String] = [:]
    private var reasonNotToRead = "the body was not read"

    private lazy var request = MessagePlaces(isRequest: true, fields: requestFields, query: record.url.query) {
        [unowned self] in requestBody ?? ByteBuffer()
    }
    private lazy var response = MessagePlaces(isRequest: false, fields: responseFields) { [unowned self] in
        responseBody ?? ByteBuffer()
    }

    package init(_ opening: ExchangeOpening) {
        (clientAddress, requestFields) = (opening.clientAddress, opening.head.fields)
        var record = ExchangeRecord(
            id: opening.id,
            kind: opening.isTunnel ? .tunnel : .http,
            startedAt: 0,
            method: opening.head.method,
            url: opening.url,
            clientConnection: ConnectionID(0)
        )
        record.clientVersion = opening.head.version
        if opening.listeningMode != nil { record.extras.listeningMode = opening.listeningMode }
        if opening.process != nil { record.extras.process = opening.process }
        shared = SharedRecord(record)
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
    func decides(_ condition: RuleCondition, at start: Int = 0) -> Bool? {
        let step = condition.program.steps[start]
        switch step.kind {
        case .everything: return true
        case .test: return holds(condition.program.tests[step.index])
        case .not: return decides(condition, at: start + 1).map { !$0 }
        case .term, .and, .or:
            let decisive = step.kind != .and
            var result: Bool? = !decisive
            var next = start + 1
            while next < step.end {
                let holds = decides(condition, at: next)
                if holds == decisive { return decisive }
                if holds == nil { result = nil }
                next = condition.program.steps[next].end
            }
            return result
        }
    }

    private func holds(_ test: ConditionTest) -> Bool? {
        guard knows(test.phase) else { return nil }
        if test.placeNumber >= 0 {
            for value in values(at: test.place, test.placeNumber)
            where value.bytes.withUnsafeBufferPointer({ test.matches($0) }) { return true }
            return false
        }
        switch test.test {
        case .matches(.field(let side, let name), let pattern):
            return (side == .request ? requestFields : responseFields).contains { field in
                name.matches(field.nameBytes) && Array(field.valueBytes).withUnsafeBufferPointer { pattern.matches($0) }
            }
        case .address(_, let glob): return FilterTest.matchesAddress(clientAddress, glob)
        default: return test.test.decides(shared.record) ?? false
        }
    }

    /// Whether there is no value at a place, which is read if that is not known.
    func lacksValue(at place: @autoclosure () -> Place?, _ number: Int) -> Bool { values(at: place(), number).isEmpty }

    /// The first value at a place of the request; `name` is for the error.
    func value(at place: Place, _ number: Int, _ name: String) throws(ValueError) -> PlaceValue {
        if place.isInBody, !knows(.requestBody) { throw ValueError("\(name) has no value yet: the body is not read") }
        if let value = values(at: place, number).first { return value }
        throw ValueError("\(name) has no value: \(problems[number] ?? "it is not in the request")")
    }

    private func values(at place: @autoclosure () -> Place?, _ number: Int) -> [PlaceValue] {
        if number < values.count, let known = values[number] { return known }
        let (found, problem) = place().map { read($0) } ?? ([], nil)
        while values.count <= number { values.append(nil) }
        values[number] = found
        if let problem { problems[number] = problem }
        return found
    }

    private func read(_ place: Place) -> (values: [PlaceValue], problem: String?) {
        let isResponse = place.root == .response
        // Most requests lack a header that a rule asks for.
        if place.part == .header, case .member(let name)? = place.steps.first,
            !(isResponse ? responseFields : requestFields).contains(FieldName(name))
        {
            return ([], nil)
        }
        if place.part == .status { return ([PlaceValue(String(shared.record.status).utf8)], nil) }
        if let text = place.text(of: shared.record) { return ([PlaceValue(text.utf8)], nil) }
        if place.isInBody, (isResponse ? responseBody : requestBody) == nil {
            return ([], isResponse ? "the body was not read" : reasonNotToRead)
        }
        let message = isResponse ? response : request
        return ((try? message.values(place.part, place.steps)) ?? [], message.problem)
    }
}

/// An object, as tests then read the record without a copy of its fields.
private final class SharedRecord {
    let record: ExchangeRecord

    init(_ record: ExchangeRecord) { self.record = record }
}

extension ConditionFacts {
    /// Why a body that is declared as JSON or XML has none of the values that a condition asks for.
    func problem(of condition: RuleCondition) -> String? {
        for test in condition.program.tests {
            guard case .place(let placeTest) = test.test else { continue }
            let place = placeTest.place
            let fields = place.root == .response ? responseFields : requestFields
            guard let type = fields.value(of: .contentType).flatMap({ MediaType($0) }), type.isJSON || type.isXML
            else { continue }
            if let problem = problems[test.placeNumber] { return problem }
        }
        return nil
    }

    /// Why a condition does not hold: its first term that does not, and the value that was there; `nil` if it holds, or
    /// if it is not decided.
    package func mismatch(_ condition: RuleCondition) -> String? {
        guard decides(condition) == false else { return nil }
        return "when: \(mismatch(condition, at: 0, isNegated: false))"
    }

    private func mismatch(_ condition: RuleCondition, at start: Int, isNegated: Bool) -> String {
        let (program, operands) = (condition.program, condition.program.operands(of: start))
        let step = program.steps[start]
        if step.kind == .term {
            let test = operands.first.map { program.tests[program.steps[$0].index] }
            let value = test.flatMap { shown($0) }.map { ": \($0)" } ?? ""
            return "\(isNegated ? "not " : "")\(program.terms[step.index]) does not hold\(value)"
        }
        if step.kind == .not { return mismatch(condition, at: start + 1, isNegated: !isNegated) }
        // Of an `and` one operand fails, of an `or` all do; negated it is the other way.
        let failing =
            (step.kind == .and) == isNegated
            ? operands.first : operands.first { decides(condition, at: $0) == isNegated }
        return failing.map { mismatch(condition, at: $0, isNegated: isNegated) } ?? "nothing matches"
    }

    /// The value that a test looked at.
    private func shown(_ test: ConditionTest) -> String? {
        func quoted(_ values: [String]) -> String {
            let texts = values.prefix(3).map { "\"\($0.prefix(60))\"" }
            return texts.isEmpty ? "it is missing" : "it is " + texts.joined(separator: ", ")
        }
        switch test.test {
        case .place(let placeTest):
            let found = values(at: placeTest.place, test.placeNumber).map(\.text)
            return found.isEmpty ? problems[test.placeNumber] ?? "it is missing" : quoted(found)
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
