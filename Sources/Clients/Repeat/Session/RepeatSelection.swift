import Formats
package import HTTPModel
package import Jobs
import Recording

/// The exchanges that can be sent again, in their recorded order, and the others.
package struct RepeatSelection: Sendable {
    package struct LeftOut: Sendable, Hashable {
        package var record: ExchangeRecord
        /// A phrase that follows a colon.
        package var reason: String
    }

    package private(set) var records: [ExchangeRecord] = []
    package private(set) var leftOut: [LeftOut] = []
    package private(set) var changedCount = 0

    /// `asSent` as in ``OutgoingRequest``.
    package init(_ query: SessionQuery, asSent: Bool, work: LongWork? = nil) throws {
        let bounds = try query.reader.bounds() ?? 1...1
        work?.begin("choosing", .things("exchange"))
        try query.forEachMatch { record in
            try work?.report(Int64(records.count), part: bounds.part(upTo: record.id.number))
            guard let exchange = try query.reader.exchange(record.id) else { return }
            let size = try query.reader.bodySize(of: record.id, side: .requestReceived) ?? 0
            if let reason = RepeatSelection.reason(against: exchange, bodySize: size, asSent: asSent) {
                leftOut.append(LeftOut(record: record, reason: reason))
            } else {
                records.append(record)
                if record.flags.contains(.requestChanged) { changedCount += 1 }
            }
        }
    }

    /// Why an exchange cannot be sent again. `bodySize` is the size of the recorded request body.
    static func reason(against exchange: RecordedExchange, bodySize: Int64, asSent: Bool) -> String? {
        let record = exchange.record
        switch record.kind {
        case .tunnel, .decryptedTunnel: return "a tunnel, of which no request is known"
        case .failedHandshake: return "a TLS handshake that failed before any request"
        case .malformed: return "the client's bytes were not a request"
        case .upgraded: return "an upgrade to another protocol"
        case .webSocket: return "a WebSocket"
        case .http: break
        }
        if record.method == "CONNECT" { return "a tunnel, of which no request is known" }
        guard exchange.messages.requestHead.flatMap({ StoredHead.request($0) }) != nil, !record.url.host.isEmpty,
            ["http", "https"].contains(record.url.scheme)
        else { return "its request is not in the session" }
        if record.state == .inFlight { return "it is still in flight" }
        if record.flags.contains(.requestBodyIncomplete) { return "its request's body was not recorded completely" }
        if exchange.isRequestCut(bodySize: bodySize) { return "its request is incomplete" }
        let wasAnsweredHere = record.flags.contains(.answeredLocally) || record.state == .blocked
        if asSent, wasAnsweredHere, record.failure == nil, record.upstreamVersion == nil {
            return "a rule answered it, so it was not sent to a server"
        }
        return nil
    }
}

extension SessionQuery {
    /// Reads numbers such as `12` or `3-7,9`, or a filter. Throws for wrong numbers such as `0` or `5-2`.
    package static func exchanges(_ words: [String]) throws -> Filter {
        let text = words.joined(separator: " ")
        guard let numbers = ExchangeNumbers(text) else {
            if let refusal = numberRefusal(text) { throw refusal }
            return try filter(text)
        }
        let terms = numbers.ranges.map { "id:\($0.lowerBound)..\($0.upperBound)" }
        return try filter(terms.joined(separator: " or "))
    }

    /// The error for words of digits and dashes that are not numbers of exchanges.
    private static func numberRefusal(_ text: String) -> StartError? {
        let parts = text.split { $0 == "," || $0 == " " }
        func isNumeric(_ part: Substring) -> Bool {
            part.contains { "0"..."9" ~= $0 } && part.allSatisfy { "0"..."9" ~= $0 || $0 == "-" || $0 == "#" }
        }
        guard parts.allSatisfy(isNumeric), let wrong = parts.first(where: { ExchangeNumbers($0) == nil }) else {
            return nil
        }
        let ends = wrong.split(separator: "-", omittingEmptySubsequences: false).map { $0.drop { $0 == "#" } }
        let (first, last) = (ends.first ?? "", ends.last ?? "")
        func isNumber(_ end: Substring) -> Bool { ExchangeNumbers(end) != nil }
        let hint =
            switch ends.count {
            case 2 where isNumber(first) && isNumber(last): "Write \(last)-\(first)."
            case 2 where isNumber(first) && last.isEmpty: "Write id:\(first).. for \(first) and later."
            case 2 where first.isEmpty && isNumber(last): "Write 1-\(last)."
            default: "Exchanges are counted from 1; write 12, or 3-7,9."
            }
        return StartError(
            "'\(wrong)' is not a number or a range of exchanges.",
            hint: "\(hint) To search it in URLs, write url:\(wrong)",
            isUsage: true
        )
    }
}
